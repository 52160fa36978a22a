// Streams of a device: how many tokens each has, whose prefix it shares, and the runs that a batch of them takes.
//
// Every rule is checked here before anything is written. Knows neither registers nor XRT.
#pragma once
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "meshkv_driver.hpp"
#include "meshkv_pages.hpp"

namespace meshkv {

// What a batch does.
enum class Call { ATTEND, APPEND, PARTIALS };

// A window that is the layer's own.
constexpr uint32_t LAYER_WINDOW = ~0u;

// Tokens that a call looks back in a layer; 0: all.
inline uint32_t window_of(uint32_t layer, uint32_t window) {
    static constexpr uint32_t OF_LAYERS[] = {MESHKV_LAYER_WINDOWS};
    return window == LAYER_WINDOW ? OF_LAYERS[layer] : window;
}

// A run of the device, the streams whose outputs it gives, and the number under which the device has each.
struct Run {
    std::vector<Descriptor> descriptors;
    std::vector<uint32_t> streams, places;
};

// Refuses a mapping that is none, and layers that the design has not.
inline void may_map(uint32_t mapping, uint32_t layers) {
    if (mapping > 2 && mapping != MAPPING_AUTO) throw Refused("mapping " + std::to_string(mapping) + ": 0 to 2 are possible");
    if (layers == 0 || layers > MESHKV_LAYERS) throw Refused(std::to_string(layers) + " layers: the design has room for 1 to " + std::to_string(MESHKV_LAYERS));
}

class Streams {
public:
    // A mapping for all descriptors, or MAPPING_AUTO. `layers` of the model: a step ends with the last of them.
    Streams(uint32_t mapping, uint32_t layers) : mapping_(mapping), layers_(layers) { may_map(mapping, layers); }

    // An empty stream.
    void begin(uint32_t stream) { fresh(stream) = Stream{true, NONE, zeros(), zeros()}; }

    // A stream that begins with all tokens that another has now, without a copy of them.
    void begin(uint32_t stream, uint32_t prefix) {
        Stream &made = fresh(stream);
        const Stream &shared = live(prefix);
        if (shared.prefix != NONE)
            throw Refused(name(prefix) + " shares the prefix of " + name(shared.prefix) + " and cannot be one itself: a copy of it is needed, or share " + name(shared.prefix));
        made = Stream{true, prefix, shared.own, zeros()};
    }

    // A stream that begins within another needs pages.
    void fork(uint32_t, uint32_t, uint32_t) { throw Refused("this design has no pages, so a stream begins with all tokens of another or with none: generate it with kv.pages = true"); }

    // The number under which the memory has a segment of a stream; pages that are to be taken before tokens are appended.
    uint32_t place(uint32_t, uint32_t segment) const { return segment; }
    const uint32_t *places(uint32_t) const { return nullptr; }
    std::vector<Pages::Change> reserve(uint32_t, uint32_t, uint32_t) { return {}; }

    void end(uint32_t stream) {
        live(stream);
        if (const uint32_t by = sharer(stream); by != NONE) throw Refused(name(stream) + " is the prefix of " + name(by) + ": end that first");
        all_[stream] = Stream{};
    }

    // A stream has tokens in a layer.
    bool holds(uint32_t stream, uint32_t layer) const { return all_[stream].live && all_[stream].shared[layer] + all_[stream].own[layer] > 0; }

    // Tokens of a stream in a layer, with those of its prefix.
    uint32_t length(uint32_t stream, uint32_t layer) const {
        const Stream &of = live(stream);
        return of.shared[of_layer(layer)] + of.own[layer];
    }

    // Tokens in its own cache.
    uint32_t own(uint32_t stream, uint32_t layer) const { return live(stream).own[of_layer(layer)]; }

    // Whose cache has the tokens before its own; itself without a prefix.
    uint32_t prefix(uint32_t stream) const {
        const uint32_t prefix = live(stream).prefix;
        return prefix == NONE ? stream : prefix;
    }

    // Refuses to append so many tokens.
    void may_grow(uint32_t stream, uint32_t layer, uint64_t tokens) const {
        const uint64_t now = length(stream, layer);
        if (const uint32_t by = sharer(stream); by != NONE)
            throw Refused(name(stream) + " is the prefix of " + name(by) + ", so nothing can be appended to it: a copy is needed, which is a stream of its own");
        if (now + tokens > MESHKV_MAX_TOKENS)
            throw Refused(name(stream) + " has " + std::to_string(now) + " tokens in layer " + std::to_string(layer) + ", and with " + std::to_string(tokens) +
                          " more is beyond max_tokens of the design, " + std::to_string(MESHKV_MAX_TOKENS));
    }

    // They are there.
    void grow(uint32_t stream, uint32_t layer, uint32_t tokens) { all_[stream].own[layer] += tokens; }

    // Refuses what a batch cannot do.
    void may_run(uint32_t layer, const std::vector<uint32_t> &batch, Call call, uint32_t = LAYER_WINDOW) const {
        of_layer(layer);
        if (batch.empty()) throw Refused("the batch has no stream");
        std::vector<bool> seen(MESHKV_MAX_STREAMS);
        for (const uint32_t stream : batch) {
            if (length(stream, layer) == 0 && call != Call::APPEND)
                throw Refused(name(stream) + " has no token in layer " + std::to_string(layer) + " to attend to: append one");
            if (seen[stream]) throw Refused(name(stream) + " is twice in the batch");
            seen[stream] = true;
            if (call == Call::APPEND) may_grow(stream, layer, 1);
        }
    }

    // The runs of a batch that may run. No run names a slice twice: streams that follow each other and attend to the same
    // tokens name their slices together, others in a run of their own.
    std::vector<Run> plan(uint32_t layer, std::vector<uint32_t> batch, Call call, uint32_t window = LAYER_WINDOW) const {
        std::sort(batch.begin(), batch.end());
        std::vector<Group> groups;
        for (const uint32_t stream : batch) {
            const Group made = group_of(stream, layer, call, window_of(layer, window));
            if (!groups.empty() && groups.back().continues(made)) ++groups.back().streams;
            else groups.push_back(made);
        }
        std::vector<Run> runs;
        std::vector<std::vector<bool>> named;  // Caches of each run.
        for (const Group &group : groups) {
            const auto descriptors = describe(group, layer, call);
            size_t at = 0;
            const auto clashes = [&] {
                return runs[at].descriptors.size() + descriptors.size() > QUEUE ||
                       std::any_of(descriptors.begin(), descriptors.end(), [&](const Descriptor &d) { return named[at][d.prefix]; });
            };
            while (at < runs.size() && clashes()) ++at;
            if (at == runs.size()) {
                runs.emplace_back();
                named.emplace_back(MESHKV_MAX_STREAMS);
            }
            runs[at].descriptors.insert(runs[at].descriptors.end(), descriptors.begin(), descriptors.end());
            for (uint32_t stream = 0; stream < group.streams; ++stream) runs[at].streams.push_back(group.first + stream);
            runs[at].places = runs[at].streams;
            for (const auto &d : descriptors) named[at][d.prefix] = true;
        }
        runs.back().descriptors.back().step = layer + 1 == layers_;
        return runs;
    }

private:
    static constexpr uint32_t NONE = ~0u;
    static constexpr size_t QUEUE = MESHKV_SIZES_VALUE >> MESHKV_SIZES_DESC_QUEUE_SHIFT;

    struct Stream {
        bool live = false;
        uint32_t prefix = NONE;
        std::vector<uint32_t> shared, own;  // Tokens by layer.
    };

    // Streams that follow each other and attend to the same tokens of a cache, from one up to another, and then each to
    // all of its own or to none.
    struct Group {
        uint32_t first, streams, cache, from, tokens;
        bool own;
        bool continues(const Group &next) const {
            // Its descriptors, one for all and one a stream, fit the queue.
            return streams + 2 <= QUEUE && next.cache == cache && next.from == from && next.tokens == tokens && next.own == own && next.first == first + streams;
        }
    };

    std::vector<Stream> all_ = std::vector<Stream>(MESHKV_MAX_STREAMS);
    uint32_t mapping_, layers_;

    static std::vector<uint32_t> zeros() { return std::vector<uint32_t>(MESHKV_LAYERS, 0); }
    static std::string name(uint32_t stream) { return "stream " + std::to_string(stream); }

    static uint32_t of_layer(uint32_t layer) {
        if (layer >= MESHKV_LAYERS) throw Refused("layer " + std::to_string(layer) + ": 0 to " + std::to_string(MESHKV_LAYERS - 1) + " are possible");
        return layer;
    }

    static uint32_t of_stream(uint32_t stream) {
        if (stream >= MESHKV_MAX_STREAMS) throw Refused(name(stream) + ": 0 to " + std::to_string(MESHKV_MAX_STREAMS - 1) + " are possible");
        return stream;
    }

    const Stream &live(uint32_t stream) const {
        const Stream &of = all_[of_stream(stream)];
        if (!of.live) throw Refused(name(stream) + " has not begun");
        return of;
    }

    Stream &fresh(uint32_t stream) {
        Stream &of = all_[of_stream(stream)];
        if (of.live) throw Refused(name(stream) + " has begun already: end it first");
        return of;
    }

    // A stream that shares the cache of another.
    uint32_t sharer(uint32_t prefix) const {
        for (uint32_t stream = 0; stream < MESHKV_MAX_STREAMS; ++stream)
            if (all_[stream].live && all_[stream].prefix == prefix) return stream;
        return NONE;
    }

    // What a stream attends to: the last tokens of prefix and own ones, as many as the window has, all of them without one.
    Group group_of(uint32_t stream, uint32_t layer, Call call, uint32_t window) const {
        const Stream &of = all_[stream];
        const uint32_t shared = of.shared[layer], own = of.own[layer] + (call == Call::APPEND), all = shared + own;
        const uint32_t from = window != 0 && all > window ? all - window : 0;
        // Streams with windows leave a prefix at tokens of their own: their descriptors differ.
        if (from < shared) return {stream, 1, of.prefix, from, shared, own > 0};
        return {stream, 1, stream, from - shared, own, false};
    }

    // Tokens of a cache, from one up to another, for these streams.
    Descriptor of_cache(uint32_t layer, uint32_t cache, uint32_t from, uint32_t tokens, uint32_t stream, uint32_t streams) const {
        const uint32_t per = MESHKV_SEGMENT_TOKENS, first = from / per;
        return {layer, cache, first, 1, (tokens - 1) / per + 1 - first, from % per, (tokens - 1) % per, stream, streams, mapping_, false, false, false};
    }

    std::vector<Descriptor> describe(const Group &group, uint32_t layer, Call call) const {
        std::vector<Descriptor> all{of_cache(layer, group.cache, group.from, group.tokens, group.first, group.streams)};
        for (uint32_t stream = group.first; group.own && stream < group.first + group.streams; ++stream)
            all.push_back(of_cache(layer, stream, 0, all_[stream].own[layer] + (call == Call::APPEND), stream, 1));
        for (auto &d : all) {
            d.close = !group.own || &d != &all.front();
            d.partials = d.close && call == Call::PARTIALS;
            d.append = DEVICE_APPENDS && d.close && call == Call::APPEND;
        }
        return all;
    }
};

}  // namespace meshkv
