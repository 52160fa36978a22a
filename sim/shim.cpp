// The C surface: every function catches exceptions and calls the harness.
#include "shim.h"

#include <exception>
#include <new>

#include "harness.h"

struct meshkv_dut {
    explicit meshkv_dut(std::unique_ptr<meshkv::Model> model) : harness(std::move(model)) {}
    meshkv::Harness harness;
    std::string error;  // Set instead of the harness's message by a caught exception.
};

namespace {

// Runs `body` and converts an exception to a status, since none may reach Rust.
template <class F>
int32_t guarded(meshkv_dut* dut, F&& body) {
    dut->error.clear();
    try {
        return body(dut->harness);
    } catch (const std::exception& e) {
        dut->error = e.what();
    } catch (...) {
        dut->error = "unknown C++ exception";
    }
    return MESHKV_STOPPED;
}

}  // namespace

void meshkv_describe(meshkv_geometry* geometry) { *geometry = meshkv::model_geometry(); }

meshkv_dut* meshkv_create(uint64_t seed) {
    try {
        return new meshkv_dut(meshkv::make_model(seed));
    } catch (...) {
        return nullptr;
    }
}

void meshkv_destroy(meshkv_dut* dut) {
    try {
        delete dut;
    } catch (...) {
        // $stop in a final block: there is no caller left for a message.
    }
}

int32_t meshkv_reset(meshkv_dut* dut) {
    return guarded(dut, [](meshkv::Harness& h) { return h.reset(); });
}

const char* meshkv_message(const meshkv_dut* dut) {
    return dut->error.empty() ? dut->harness.message.c_str() : dut->error.c_str();
}

bool meshkv_inject(meshkv_dut* dut, const meshkv_flit* flit) {
    try {
        dut->harness.inject(*flit);
        return true;
    } catch (const std::bad_alloc&) {
        return false;
    }
}

int32_t meshkv_step(meshkv_dut* dut, uint64_t cycles) {
    return guarded(dut, [cycles](meshkv::Harness& h) { return h.step(cycles); });
}

uint64_t meshkv_cycle(const meshkv_dut* dut) { return dut->harness.cycle(); }

const uint32_t* meshkv_take_ejections(meshkv_dut* dut, size_t* count) {
    return dut->harness.take_ejections(count);
}

const meshkv_entry* meshkv_take_entries(meshkv_dut* dut, size_t* count) {
    return dut->harness.take_entries(count);
}

void meshkv_record(meshkv_dut* dut, bool ejections, bool entries) {
    dut->harness.record(ejections, entries);
}

void meshkv_stall(meshkv_dut* dut, uint32_t tile, uint64_t probability, uint64_t seed) {
    dut->harness.stall(tile, probability, seed);
}

void meshkv_watchdog(meshkv_dut* dut, uint64_t cycles) { dut->harness.watchdog(cycles); }

void meshkv_totals_now(const meshkv_dut* dut, meshkv_totals* totals) {
    *totals = dut->harness.totals();
}

const uint32_t* meshkv_counters(const meshkv_dut* dut) { return dut->harness.counters(); }

const uint32_t* meshkv_vc_busy(const meshkv_dut* dut) { return dut->harness.vc_busy(); }

bool meshkv_links(const meshkv_dut* dut, uint32_t* words) {
    return dut->harness.model().show_links(words);
}

uint32_t meshkv_credit(const meshkv_dut* dut, uint32_t tile, uint32_t vc) {
    return dut->harness.credit(tile, vc);
}

bool meshkv_credits_home(const meshkv_dut* dut) { return dut->harness.credits_home(); }

bool meshkv_drained(const meshkv_dut* dut) { return dut->harness.drained(); }

int32_t meshkv_wave_start(meshkv_dut* dut, const char* path) {
    return guarded(dut, [path](meshkv::Harness& h) {
        h.message = h.model().wave_start(path);
        return h.message.empty() ? MESHKV_OK : MESHKV_STOPPED;
    });
}

int32_t meshkv_wave_stop(meshkv_dut* dut) {
    return guarded(dut, [](meshkv::Harness& h) {
        h.model().wave_stop();
        return MESHKV_OK;
    });
}
