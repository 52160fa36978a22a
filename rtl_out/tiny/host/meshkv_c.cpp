// The library in C: exceptions become statuses, and a message for each thread.
#include "meshkv_c.h"

#include <algorithm>

#include "meshkv.hpp"

struct meshkv_device {
    meshkv::Device device;
};

namespace {

thread_local std::string message;

template <typename Act>
int status_of(const Act &act) {
    message.clear();
    try {
        act();
        return MESHKV_STATUS_DONE;
    } catch (const meshkv::Void &error) {
        message = error.what();
        return MESHKV_STATUS_VOID;
    } catch (const meshkv::Refused &error) {
        message = error.what();
        return MESHKV_STATUS_REFUSED;
    } catch (const std::exception &error) {
        message = error.what();
        return MESHKV_STATUS_FAILED;
    }
}

// The device behind a handle, which may be none.
meshkv::Device &of(meshkv_device *device) {
    if (!device) throw meshkv::Refused("no device is open");
    return device->device;
}

std::vector<uint32_t> batch_of(const uint32_t *streams, size_t batch) {
    if (!streams && batch) throw meshkv::Refused("streams are missing");
    return std::vector<uint32_t>(streams, streams + batch);
}

// How a call attends.
meshkv::Attention as(const struct meshkv_attention *how) {
    if (!how) return {};
    return {how->sm_scale, how->window, how->sinks};
}

}  // namespace

extern "C" {

const char *meshkv_message(void) { return message.c_str(); }

struct meshkv_shape meshkv_shape_of_design(void) {
    return {MESHKV_LAYERS, MESHKV_QUERY_HEADS, MESHKV_KV_HEADS, MESHKV_HEAD_DIM, meshkv::PAGED ? MESHKV_CACHES : MESHKV_MAX_STREAMS, MESHKV_MAX_TOKENS, meshkv::DEVICE_APPENDS, MESHKV_WINDOW, MESHKV_ELEMENT_BYTES, MESHKV_SCALED, MESHKV_PACKED, MESHKV_PAGES, MESHKV_SEGMENT_TOKENS, MESHKV_SINKS};
}

struct meshkv_layer meshkv_layer_of_design(uint32_t layer) {
    static constexpr uint32_t SINKS[] = {MESHKV_LAYER_SINKS};
    if (layer >= MESHKV_LAYERS) return {0, 0};
    return {meshkv::window_of(layer, meshkv::LAYER_WINDOW), SINKS[layer]};
}

int meshkv_open(const char *xclbin, uint32_t card, uint32_t limit_ms, int interrupt, uint32_t layers, meshkv_device **device) {
    return status_of([&] {
        if (!xclbin || !device) throw meshkv::Refused("the path of the bitstream or the place of the device is missing");
        meshkv::Options options;
        options.device = card;
        options.limit = std::chrono::milliseconds(limit_ms);
        options.interrupt = interrupt != 0;
        if (layers) options.layers = layers;
        *device = nullptr;
        *device = new meshkv_device{meshkv::Device(xclbin, options)};
    });
}

void meshkv_close(meshkv_device *device) { delete device; }

int meshkv_begin(meshkv_device *device, uint32_t stream) {
    return status_of([&] { of(device).begin(stream); });
}

int meshkv_share(meshkv_device *device, uint32_t stream, uint32_t prefix) {
    return status_of([&] { of(device).begin(stream, prefix); });
}

int meshkv_copy(meshkv_device *device, uint32_t stream, uint32_t from) {
    return status_of([&] { of(device).copy(stream, from); });
}

int meshkv_fork(meshkv_device *device, uint32_t stream, uint32_t from, uint32_t tokens) {
    return status_of([&] { of(device).fork(stream, from, tokens); });
}

int meshkv_free_pages(meshkv_device *device, uint32_t *pages) {
    return status_of([&] { *pages = of(device).pages().free(); });
}

int meshkv_tables(meshkv_device *device, uint32_t layer, const uint32_t *streams, size_t batch, uint32_t *indptr, uint32_t *indices, size_t room, uint32_t *last_page_len) {
    return status_of([&] {
        if (!indptr || !indices || !last_page_len) throw meshkv::Refused("an array of the tables is missing");
        const auto all = batch_of(streams, batch);
        std::vector<uint32_t> tokens;
        for (const uint32_t stream : all) tokens.push_back(of(device).length(stream, layer));
        const auto tables = of(device).pages().tables(all, tokens);
        if (tables.indices.size() > room)
            throw meshkv::Refused("the tables have " + std::to_string(tables.indices.size()) + " pages, and there is room for " + std::to_string(room));
        std::copy(tables.indptr.begin(), tables.indptr.end(), indptr);
        std::copy(tables.indices.begin(), tables.indices.end(), indices);
        std::copy(tables.last_page_len.begin(), tables.last_page_len.end(), last_page_len);
    });
}

int meshkv_end(meshkv_device *device, uint32_t stream) {
    return status_of([&] { of(device).end(stream); });
}

int meshkv_length(meshkv_device *device, uint32_t stream, uint32_t layer, uint32_t *tokens) {
    return status_of([&] { *tokens = of(device).length(stream, layer); });
}

int meshkv_factors(meshkv_device *device, uint32_t layer, const float *keys, const float *values) {
    return status_of([&] {
        if (!keys || !values) throw meshkv::Refused("factors are missing");
        of(device).factors(layer, keys, values);
    });
}

int meshkv_sm_scale(meshkv_device *device, float scale) {
    return status_of([&] { of(device).sm_scale(scale); });
}

int meshkv_sinks(meshkv_device *device, uint32_t layer, const float *logits) {
    return status_of([&] { of(device).sinks(layer, logits); });
}

int meshkv_narrow(meshkv_device *device, int keys, int values) {
    return status_of([&] { of(device).narrow({keys != 0, values != 0}); });
}

int meshkv_append(meshkv_device *device, uint32_t layer, uint32_t stream, uint32_t tokens, const uint16_t *keys, const uint16_t *values) {
    return status_of([&] { of(device).append(layer, stream, tokens, keys, values); });
}

int meshkv_step(meshkv_device *device, const uint32_t *streams, size_t batch, int appends) {
    return status_of([&] { of(device).step(batch_of(streams, batch), appends != 0); });
}

int meshkv_attend(meshkv_device *device, uint32_t layer, const uint32_t *streams, size_t batch, const uint16_t *queries, uint16_t *outputs,
                  const struct meshkv_attention *how) {
    return status_of([&] { of(device).attend(layer, batch_of(streams, batch), queries, outputs, as(how)); });
}

int meshkv_append_and_attend(meshkv_device *device, uint32_t layer, const uint32_t *streams, size_t batch, const uint16_t *queries,
                             const uint16_t *keys, const uint16_t *values, uint16_t *outputs, const struct meshkv_attention *how) {
    return status_of([&] { of(device).append_and_attend(layer, batch_of(streams, batch), queries, keys, values, outputs, as(how)); });
}

int meshkv_partials(meshkv_device *device, uint32_t layer, const uint32_t *streams, size_t batch, const uint16_t *queries, float *l, float *m, float *o,
                    const struct meshkv_attention *how) {
    return status_of([&] {
        if (!l || !m || !o) throw meshkv::Refused("l, m or o are missing");
        for (const meshkv::State &state : of(device).partials(layer, batch_of(streams, batch), queries, as(how))) {
            *l++ = state.l;
            *m++ = state.max;
            o = std::copy(state.o.begin(), state.o.end(), o);
        }
    });
}

uint64_t meshkv_cycles(const meshkv_device *device) { return device ? device->device.cycles() : 0; }

}  // extern "C"
