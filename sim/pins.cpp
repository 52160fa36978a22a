// The bare C surface: a clock, and the ports of the model by name. The caller sets the inputs
// and interprets the outputs.
#include <exception>
#include <memory>
#include <string>

#include "model.h"
#include "shim.h"

struct meshkv_pins {
    std::unique_ptr<meshkv::Model> model;
    std::string message;
};

meshkv_pins* meshkv_pins_create(uint64_t seed) {
    try {
        return new meshkv_pins{meshkv::make_model(seed), {}};
    } catch (...) {
        return nullptr;
    }
}

void meshkv_pins_destroy(meshkv_pins* pins) {
    try {
        delete pins;
    } catch (...) {
        // $stop in a final block: there is no caller left for a message.
    }
}

uint32_t* meshkv_pins_port(meshkv_pins* pins, const char* name) {
    try {
        return pins->model->port(name);
    } catch (...) {
        return nullptr;
    }
}

int32_t meshkv_pins_tick(meshkv_pins* pins, bool rst) {
    try {
        if (!pins->model->stopped()) pins->model->tick(rst);
        if (!pins->model->stopped()) return MESHKV_OK;
        pins->message = pins->model->message();
    } catch (const std::exception& e) {
        pins->message = e.what();
    } catch (...) {
        pins->message = "unknown C++ exception";
    }
    return MESHKV_STOPPED;
}

bool meshkv_pins_clocks(meshkv_pins* pins, const meshkv_clocks* clocks) {
    return pins->model->set_clocks(*clocks);
}

bool meshkv_pins_flip(meshkv_pins* pins, uint32_t tile, uint32_t side, uint64_t number, uint32_t bit) {
    return pins->model->flip(tile, side, number, bit);
}

bool meshkv_pins_flipped(const meshkv_pins* pins) { return pins->model->flipped(); }

int32_t meshkv_pins_wave_start(meshkv_pins* pins, const char* path) {
    try {
        pins->message = pins->model->wave_start(path);
    } catch (const std::exception& e) {
        pins->message = e.what();
    } catch (...) {
        pins->message = "unknown C++ exception";
    }
    return pins->message.empty() ? MESHKV_OK : MESHKV_STOPPED;
}

void meshkv_pins_wave_stop(meshkv_pins* pins) {
    try {
        pins->model->wave_stop();
    } catch (...) {
        // There is no status to report for the file.
    }
}

const char* meshkv_pins_message(const meshkv_pins* pins) { return pins->message.c_str(); }
