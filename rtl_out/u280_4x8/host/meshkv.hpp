// Attention on the card, for programs that decode: streams of any length, tokens appended, a start for a batch.
//
//   meshkv::Device device("meshkv.xclbin");        // With MESHKV_XDMA: device("/dev/xdma0").
//   device.begin(0);
//   for each token, for each layer:
//       device.append_and_attend(layer, {0}, queries, keys, values, outputs);
//   device.end(0);
//
// All numbers are FP16 in arrays without gaps: queries and outputs [stream of the batch][head][dim], keys and values of a
// batch [stream of the batch][KV head][dim]. A layer may be called again while another has fewer tokens: each counts its
// own. A call that throws leaves all lengths as they were, and may be repeated. Threads may share a device: their calls are
// done one after the other, in the order in which they came.
#pragma once
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "meshkv_exchange.hpp"
#include "meshkv_partials.hpp"
#include "meshkv_scaling.hpp"
#include "meshkv_turns.hpp"

namespace meshkv {

struct Options {
    unsigned device = 0;                       // Number of the card; 0 where a path names it.
    std::chrono::milliseconds limit{10000};    // A run that takes longer is cut off; a reset that does is an error.
    bool interrupt = false;                    // Wait for the interrupt instead of polling.
    uint32_t mapping = MAPPING_AUTO;
    uint32_t layers = MESHKV_LAYERS;           // Of the model: its last layer ends a step.
};

// What a call has instead of what its layer and the device have.
struct Attention {
    float sm_scale = 0;               // The scale of q.k before the softmax; 0: that of the device.
    uint32_t window = LAYER_WINDOW;   // Tokens that it looks back; 0: all.
    const float *sinks = nullptr;     // A logit a query head; none: those of the layer.
};

class Device {
public:
    // Loads a bitstream, or opens the card of which it has the path. Refuses one of another design, and allocates all buffers.
    explicit Device(const std::string &xclbin, const Options &options = {})
        : options_(options), streams_(options.mapping, options.layers), card_(xclbin, options.device), driver_(card_, options.limit),
          cache_(card_, [this](uint32_t stream, uint32_t segment) { return streams_.place(stream, segment); }),
          exchange_(card_, MESHKV_LAYERS, query_bytes()) {
        driver_.argument(MESHKV_ARG_QUERIES, exchange_.queries_address());
        driver_.argument(MESHKV_ARG_OUTPUTS, exchange_.outputs_address());
        driver_.argument(MESHKV_ARG_LIST, exchange_.list_address());
        for (uint32_t port = 0; port < MESHKV_PORTS; ++port) driver_.argument(MESHKV_ARG_HBM(port), cache_.base(port));
    }

    // Buffers go to others when the device can no longer write them. If it still could after the limit, they are kept for
    // the rest of the process: to lose memory is better than to lose what others have in it.
    ~Device() {
        if (driver_.quiet()) return;
        card_.keep();
        std::fprintf(stderr, "meshkv: the device has not come to rest within %lld ms and may write its buffers yet, so they are kept: reset the device\n",
                     static_cast<long long>(options_.limit.count()));
    }

    // Its driver refers to its card.
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;

    // An empty stream; or one that begins with the tokens that another has now and only reads them.
    void begin(uint32_t stream) {
        const Change change(*this);
        streams_.begin(stream);
    }
    void begin(uint32_t stream, uint32_t prefix) {
        const Change change(*this);
        streams_.begin(stream, prefix);
    }
    void end(uint32_t stream) {
        const Change change(*this);
        streams_.end(stream);
    }

    // A stream that begins with the first tokens of another and shares their pages: kv.pages. Either may grow.
    void fork(uint32_t stream, uint32_t from, uint32_t tokens) {
        const Change change(*this);
        streams_.fork(stream, from, tokens);
    }

    // The pages of all streams: tables, free ones, who shares what. They are not to be read while another thread calls.
    const Pages &pages() const {
#if MESHKV_PAGES
        return streams_.pages();
#else
        throw Refused("this design has no pages: generate it with kv.pages = true");
#endif
    }

    // A stream with a copy of all tokens of another. With pages it is made page by page, when either grows.
    void copy(uint32_t stream, uint32_t from) {
        const Change change(*this);
        streams_.length(from, 0);
        if (PAGED) return streams_.begin(stream, from);
        streams_.begin(stream);
        try {
            copy_tokens(stream, from);
        } catch (...) {
            streams_.end(stream);
            throw;
        }
    }

    // Factors of the keys and of the values of a layer, by KV head; 1 before the first call. They are those of the numbers
    // that are appended from now on, and of all in the cache: change them only while the layer has no token.
    void factors(uint32_t layer, const float *keys, const float *values) {
        const auto turn = turns_.take();
        auto given = scaling_.may_have(layer, keys, values);
        for (uint32_t stream = 0; stream < STREAMS; ++stream)
            if (streams_.holds(stream, layer)) throw Refused("layer " + std::to_string(layer) + " has tokens with other factors: end its streams before");
        scaling_.factors(layer, std::move(given));
    }

    // The scale of q.k before the softmax, of all layers from now on; 1 / sqrt(d_h) before the first call.
    void sm_scale(float scale) {
        const auto turn = turns_.take();
        scaling_.sm_scale(scale);
    }

    // Attention sinks of a layer, a logit a query head, from now on: each takes its share of the softmax beside the tokens, and
    // has no value. -infinity: none. Partial results are without them (of_sink of meshkv_partials.hpp).
    void sinks(uint32_t layer, const float *logits) {
        const auto turn = turns_.take();
        scaling_.sinks(layer, logits);
    }

    // Widths of numbers that meet the keys and the values, of all layers from now on; those of the design before the first
    // call. Narrow ones let two heads pass where one does, with a greater error.
    void narrow(Narrow widths) {
        const auto turn = turns_.take();
        scaling_.narrow(widths);
    }

    // Tokens of a stream in a layer.
    uint32_t length(uint32_t stream, uint32_t layer) const {
        const auto turn = turns_.take();
        return streams_.length(stream, layer);
    }

    // Appends tokens of one stream, a prompt say: keys and values [KV head][token][dim].
    void append(uint32_t layer, uint32_t stream, uint32_t tokens, const uint16_t *keys, const uint16_t *values) {
        const Change change(*this);
        streams_.may_grow(stream, layer, tokens);
        const uint64_t bytes = uint64_t{MESHKV_KV_HEADS} * tokens * HEAD * sizeof(uint16_t);
        apart({{"keys", keys, bytes}, {"values", values, bytes}}, {});
        reserve(stream, layer, tokens);
        for (uint32_t head = 0; head < MESHKV_KV_HEADS; ++head) cache_.refresh(stream, layer, head, streams_.own(stream, layer), tokens);
        // KV heads lie in slices of their own, which all cores fill. Those that share homes go to the card together, a home in one
        // transfer or a few, while the next ones are filled.
        const auto convert = [&](uint32_t head) {
            const size_t at = size_t{head} * tokens * HEAD;
            return put(stream, layer, head, keys + at, values + at, tokens);
        };
        const bool alone = bytes < SMALL;
        const uint32_t most = alone ? 1 : std::max(std::thread::hardware_concurrency(), 1u) + 1;
        std::deque<std::future<Cache::Changes>> working;
        Cache::Changes together;
        for (uint32_t head = 0, next = 0; head < MESHKV_KV_HEADS; ++head) {
            for (; next < MESHKV_KV_HEADS && working.size() < most; ++next)
                working.push_back(std::async(alone ? std::launch::deferred : std::launch::async, convert, next));
            const Cache::Changes some = working.front().get();
            working.pop_front();
            together.insert(together.end(), some.begin(), some.end());
            if ((head + 1) % MESHKV_BLOCK_SLICES && head + 1 < MESHKV_KV_HEADS) continue;
            cache_.flush(std::move(together));
            together = {};
        }
        streams_.grow(stream, layer, tokens);
    }

    // Plans the next call of every layer for a batch, before it is due: lists of descriptors and pages are ready then, and
    // the call is a doorbell. `append` says which of the calls it will be. Calls for other batches, and streams that begin, end
    // or grow otherwise, are possible all the same: they plan anew.
    void step(const std::vector<uint32_t> &batch, bool append) {
        const Change change(*this);
        const Call call = append ? Call::APPEND : Call::ATTEND;
        for (uint32_t layer = 0; layer < options_.layers; ++layer) streams_.may_run(layer, batch, call, LAYER_WINDOW);
        for (uint32_t layer = 0; layer < options_.layers; ++layer) plan(layer, batch, call, LAYER_WINDOW);
        exchange_.send();
    }

    // Attention of each stream to its tokens.
    void attend(uint32_t layer, const std::vector<uint32_t> &batch, const uint16_t *queries, uint16_t *outputs, const Attention &how = {}) {
        const auto turn = turns_.take();
        streams_.may_run(layer, batch, Call::ATTEND, how.window);
        apart({{"queries", queries, batch.size() * OUT * sizeof(uint16_t)}}, {{"outputs", outputs, batch.size() * OUT * sizeof(uint16_t)}});
        run(layer, batch, {Call::ATTEND, how}, queries, nullptr, nullptr, [&](size_t row, uint32_t place) { take(outputs, row, place); });
    }

    // The same, after a new token of each stream.
    void append_and_attend(uint32_t layer, const std::vector<uint32_t> &batch, const uint16_t *queries, const uint16_t *keys, const uint16_t *values,
                           uint16_t *outputs, const Attention &how = {}) {
        const auto turn = turns_.take();
        streams_.may_run(layer, batch, Call::APPEND, how.window);
        const uint64_t of_queries = batch.size() * OUT * sizeof(uint16_t), of_tokens = batch.size() * TOKEN * sizeof(uint16_t);
        apart({{"queries", queries, of_queries}, {"keys", keys, of_tokens}, {"values", values, of_tokens}}, {{"outputs", outputs, of_queries}});
        std::optional<Void> void_outputs;
        try {
            run(layer, batch, {Call::APPEND, how}, queries, keys, values, [&](size_t row, uint32_t place) { take(outputs, row, place); });
        } catch (const Void &error) {
            void_outputs.emplace(error);  // The tokens are there all the same.
        }
        for (const uint32_t stream : batch) streams_.grow(stream, layer, 1);
        if (void_outputs) throw *void_outputs;
    }

    // l, m and o of each stream and head instead of outputs, to merge with those of tokens elsewhere: [stream of the
    // batch][head].
    std::vector<State> partials(uint32_t layer, const std::vector<uint32_t> &batch, const uint16_t *queries, const Attention &how = {}) {
        const auto turn = turns_.take();
        streams_.may_run(layer, batch, Call::PARTIALS, how.window);
        apart({{"queries", queries, batch.size() * OUT * sizeof(uint16_t)}}, {});
        std::vector<State> states(batch.size() * MESHKV_QUERY_HEADS);
        run(layer, batch, {Call::PARTIALS, how}, queries, nullptr, nullptr, [&](size_t row, uint32_t place) {
            for (uint32_t head = 0; head < MESHKV_QUERY_HEADS; ++head) {
                State &one = states[row * MESHKV_QUERY_HEADS + head] = state(exchange_.outputs(), place, head);
                // The card scales outputs alone.
                for (float &o : one.o) o *= scaling_.factors(layer, head / GROUP).value;
            }
        });
        return states;
    }

    // Cycles of all runs of the last call. This and the next are not to be read while another thread calls.
    uint64_t cycles() const { return cycles_; }

    // Time of the last call that the processor spent in the library: without the card, from each doorbell to its answer.
    std::chrono::nanoseconds own_time() const { return own_time_; }

private:
    // Elements of a head; of a stream's queries, and of its outputs; of its new token's keys, and of its values.
    static constexpr size_t HEAD = MESHKV_HEAD_DIM, OUT = HEAD * MESHKV_QUERY_HEADS, TOKEN = HEAD * MESHKV_KV_HEADS;
    // Bytes of the same on the card.
    static constexpr size_t ROW_BYTES = MESHKV_ROW_ELEMENTS * sizeof(uint16_t), OUT_BYTES = ROW_BYTES * MESHKV_QUERY_HEADS, TOKEN_BYTES = 2 * ROW_BYTES * MESHKV_KV_HEADS;
    static_assert(TOKEN_BYTES == MESHKV_TOKEN_BYTES, "new tokens have another layout");

    // Bytes of a prompt's keys for which threads are not worth their start.
    static constexpr uint64_t SMALL = 1 << 16;

    // Query heads of a KV head.
    static constexpr uint32_t GROUP = MESHKV_QUERY_HEADS / MESHKV_KV_HEADS;

    // A buffer of the caller.
    struct Given {
        const char *name;
        const void *data;
        uint64_t bytes;
        uintptr_t first() const { return reinterpret_cast<uintptr_t>(data); }
    };

    // What a batch does, and how.
    struct Doing {
        Call call;
        const Attention &how;
    };

    // Runs of a call. The list of the first is in the slot of the layer.
    struct Plan {
        std::vector<uint32_t> batch;
        Call call;
        uint32_t window;
        std::vector<Run> runs;
        uint32_t listed;  // Descriptors of the first.
        bool is(const std::vector<uint32_t> &other, Call does, uint32_t looks) const { return batch == other && call == does && window == looks; }
    };

    // A turn in which streams change: what was planned for them is void.
    class Change {
    public:
        explicit Change(Device &of) : turn_(of.turns_.take()) {
            for (auto &plan : of.plans_) plan.reset();
        }

    private:
        Turns::Turn turn_;
    };

    // Streams that can be live at once.
    static constexpr uint32_t STREAMS = PAGED ? MESHKV_CACHES : MESHKV_MAX_STREAMS;

    Options options_;
    AnyStreams streams_;
    Card card_;
    Driver<Card> driver_;
    Cache cache_;
    Exchange exchange_;
    uint64_t cycles_ = 0;
    std::chrono::nanoseconds own_time_{}, away_{};
    bool rests_ = true;  // The device is at rest, and has no error that stands.
    mutable Turns turns_;
    // What each layer will do next, if it has been planned.
    std::vector<std::optional<Plan>> plans_ = std::vector<std::optional<Plan>>(MESHKV_LAYERS);
    Scaling scaling_;
    // The page of each segment of each cache, as the device has it.
    std::vector<uint32_t> told_ = std::vector<uint32_t>(PAGED ? size_t{STREAMS} * MESHKV_MAX_SEGMENTS : 0, Pages::NONE);

    // The plan of a call: the one that is there, or a new one.
    Plan &plan(uint32_t layer, const std::vector<uint32_t> &batch, Call call, uint32_t window) {
        std::optional<Plan> &plan = plans_[layer];
        if (plan && plan->is(batch, call, window)) return *plan;
        plan.reset();
        if (call == Call::APPEND)
            for (const uint32_t stream : batch) reserve(stream, layer, 1);
        Plan made{batch, call, window, streams_.plan(layer, batch, call, window), 0};
        for (const Run &run : made.runs) tell(run.descriptors);
        made.listed = list(layer, made.runs.front());
        plan = std::move(made);
        return *plan;
    }

    // Puts the list of a run into the slot of its layer.
    uint32_t list(uint32_t layer, const Run &run) {
        const auto words = driver_.list(run.descriptors);
        exchange_.put_list(layer, words);
        return static_cast<uint32_t>(words.size());
    }

    // Takes the pages of tokens that are appended, and copies those that are shared.
    void reserve(uint32_t stream, uint32_t layer, uint32_t tokens) {
        for (const Pages::Change &change : streams_.reserve(stream, layer, tokens)) {
            if (change.from == Pages::NONE) continue;
            for (uint32_t of = 0; of < options_.layers; ++of)
                if (streams_.length(stream, of) > change.segment * MESHKV_SEGMENT_TOKENS) cache_.copy(of, change.from, change.page);
        }
    }

    // Tells the device the pages that these descriptors read, as far as it does not know them.
    void tell(const std::vector<Descriptor> &descriptors) {
        if (!PAGED) return;
        for (const Descriptor &d : descriptors) {
            const uint32_t *has = streams_.places(d.prefix);
            uint32_t *told = &told_[size_t{d.prefix} * MESHKV_MAX_SEGMENTS];
            for (uint32_t segment = d.first; segment < d.first + d.count; ++segment) {
                if (told[segment] == has[segment]) continue;
                driver_.page(d.prefix, segment, has[segment]);
                told[segment] = has[segment];
            }
        }
    }

    // Puts tokens of a KV head into the host's copy of the cache, as its elements: by factors of the layer, or by scales of
    // their own. Returns what is to go to the card.
    Cache::Changes put(uint32_t stream, uint32_t layer, uint32_t head, const uint16_t *keys, const uint16_t *values, uint32_t tokens) const {
        const Factors &of = scaling_.factors(layer, head);
        const uint32_t first = streams_.own(stream, layer);
        // FP16 without factors are the elements.
        if (sizeof(Element) == sizeof(uint16_t) && !MESHKV_TOKEN_SCALES && of.key == 1 && of.value == 1)
            return cache_.put(stream, layer, head, first, reinterpret_cast<const Element *>(keys), reinterpret_cast<const Element *>(values), nullptr, tokens);
        // A segment at a time, which stays near the core.
        const Conversion to_keys(1 / of.key, size_t{tokens} * HEAD), to_values(1 / of.value, size_t{tokens} * HEAD);
        std::vector<Element> of_keys(size_t{MESHKV_SEGMENT_TOKENS} * HEAD), of_values(of_keys.size());
        std::vector<TokenScales> scales(MESHKV_SEGMENT_TOKENS);
        Cache::Changes changes;
        for (uint32_t done = 0, here; done < tokens; done += here) {
            here = std::min(tokens - done, MESHKV_SEGMENT_TOKENS - (first + done) % MESHKV_SEGMENT_TOKENS);
            for (uint32_t token = 0; token < here; ++token) {
                const size_t from = size_t{done + token} * HEAD, to = size_t{token} * HEAD;
                if (MESHKV_TOKEN_SCALES) {
                    scales[token] = {to_own_scale(&of_keys[to], keys + from, HEAD), to_own_scale(&of_values[to], values + from, HEAD)};
                } else {
                    to_keys(&of_keys[to], keys + from, HEAD);
                    to_values(&of_values[to], values + from, HEAD);
                }
            }
            const auto some = cache_.put(stream, layer, head, first + done, of_keys.data(), of_values.data(), scales.data(), here);
            changes.insert(changes.end(), some.begin(), some.end());
        }
        return changes;
    }

    // Puts what goes beside the queries of a call there.
    void give(uint32_t layer, const Scaling::Words &all) {
        const auto words = [&](uint64_t at, const std::vector<uint64_t> &of) {
            if (of.empty()) return;
            std::memcpy(exchange_.to_queries(at, of.size() * sizeof(uint64_t)), of.data(), of.size() * sizeof(uint64_t));
        };
        words(SCALES_AT, all.scales);
        words(MESHKV_SINKS_AT, all.sinks);
        if (!MESHKV_QUANTISES) return;
        for (uint32_t head = 0; head < MESHKV_KV_HEADS; ++head) {
            const Factors &of = scaling_.factors(layer, head);
            const float inverse[2] = {1 / of.key, 1 / of.value};
            std::memcpy(exchange_.to_queries(MESHKV_FACTORS_AT + head * sizeof(inverse), sizeof(inverse)), inverse, sizeof(inverse));
        }
    }

    // Bytes of queries, and of new tokens where the device takes them.
    static constexpr uint64_t query_bytes() {
        return DEVICE_APPENDS  ? TOKENS_AT + MESHKV_MAX_STREAMS * TOKEN_BYTES
               : MESHKV_SINKS  ? MESHKV_SINKS_AT + MESHKV_QUERY_HEADS * sizeof(uint64_t)
               : MESHKV_SCALED ? SCALES_AT + MESHKV_QUERY_HEADS * sizeof(uint64_t)
                               : MESHKV_MAX_STREAMS * OUT_BYTES;
    }

    // Refuses a buffer that is none or not aligned, and one to write that overlaps another.
    static void apart(const std::vector<Given> &read, const std::vector<Given> &written) {
        for (const auto *all : {&read, &written})
            for (const Given &one : *all) {
                if (!one.data && one.bytes) throw Refused(std::string(one.name) + " are missing");
                if (one.first() % alignof(uint16_t)) throw Refused(std::string(one.name) + " are not aligned: numbers of FP16 begin at even addresses");
            }
        for (const Given &to : written)
            for (const Given &from : read)
                if (to.first() < from.first() + from.bytes && from.first() < to.first() + to.bytes)
                    throw Refused(std::string(to.name) + " overlap " + from.name + ": give them a buffer of their own");
    }

    void copy_tokens(uint32_t stream, uint32_t from) {
        std::vector<Element> keys, values;
        std::vector<TokenScales> scales;
        for (uint32_t layer = 0; layer < MESHKV_LAYERS; ++layer) {
            const uint32_t own = streams_.own(from, layer), shared = streams_.length(from, layer) - own;
            keys.resize(std::max(own, shared) * HEAD);
            values.resize(keys.size());
            scales.resize(std::max(own, shared));
            for (uint32_t head = 0; head < MESHKV_KV_HEADS; ++head) {
                cache_.get(streams_.prefix(from), layer, head, 0, keys.data(), values.data(), scales.data(), shared);
                cache_.flush(cache_.put(stream, layer, head, 0, keys.data(), values.data(), scales.data(), shared));
                cache_.get(from, layer, head, 0, keys.data(), values.data(), scales.data(), own);
                cache_.flush(cache_.put(stream, layer, head, shared, keys.data(), values.data(), scales.data(), own));
            }
            streams_.grow(stream, layer, shared + own);
        }
    }

    // The outputs of a stream, by its row in the batch and its number in the run.
    void take(uint16_t *outputs, size_t row, uint32_t place) {
        take_rows(outputs + row * OUT, exchange_.outputs() + place * OUT_BYTES, MESHKV_QUERY_HEADS);
    }

    template <typename Take>
    void run(uint32_t layer, const std::vector<uint32_t> &batch, const Doing &doing, const uint16_t *queries, const uint16_t *keys, const uint16_t *values, const Take &take) {
        const Call call = doing.call;
        const auto begun = std::chrono::steady_clock::now();
        away_ = {};
        const Scaling::Words &words = scaling_.words(layer, doing.how.sm_scale, doing.how.sinks);
        const Plan planned = std::move(plan(layer, batch, call, doing.how.window));
        plans_[layer].reset();
        give(layer, words);
        cycles_ = 0;
        std::optional<Void> void_outputs;
        for (const Run &one : planned.runs) {
            const auto of_batch = [&](uint32_t stream) { return static_cast<size_t>(std::find(batch.begin(), batch.end(), stream) - batch.begin()); };
            uint32_t end = 0;
            for (size_t at = 0; at < one.streams.size(); ++at) {
                const uint32_t stream = one.streams[at], place = one.places[at];
                const size_t row = of_batch(stream);
                end = std::max(end, place + 1);
                fill_rows(exchange_.to_queries(place * OUT_BYTES, OUT_BYTES), queries + row * OUT, MESHKV_QUERY_HEADS);
                if (call == Call::APPEND) new_token(layer, stream, place, keys + row * TOKEN, values + row * TOKEN);
            }
            const uint32_t listed = &one == &planned.runs.front() ? planned.listed : list(layer, one);
            ready();
            driver_.forget(exchange_.record());
            exchange_.send();
            const auto away = std::chrono::steady_clock::now();
            try {
                finish(layer, listed, end, DEVICE_APPENDS && call == Call::APPEND);
            } catch (const Void &error) {
                void_outputs.emplace(error);  // Outputs are there all the same.
            }
            away_ += std::chrono::steady_clock::now() - away;
            exchange_.fetch(call == Call::PARTIALS ? MESHKV_PARTIAL_BYTES : end * OUT_BYTES);
            for (size_t at = 0; at < one.streams.size(); ++at) take(of_batch(one.streams[at]), one.places[at]);
        }
        own_time_ = std::chrono::steady_clock::now() - begun - away_;
        if (void_outputs) throw *void_outputs;
    }

    // Puts a new token where the device takes it, or into the cache.
    void new_token(uint32_t layer, uint32_t stream, uint32_t place, const uint16_t *keys, const uint16_t *values) {
        for (uint32_t head = 0; head < MESHKV_KV_HEADS; ++head) {
            const uint16_t *key = keys + head * HEAD, *value = values + head * HEAD;
            if (DEVICE_APPENDS) {
                uint8_t *at = exchange_.to_queries(TOKENS_AT + place * TOKEN_BYTES + head * 2 * ROW_BYTES, 2 * ROW_BYTES);
                fill_rows(at, key, 1);
                fill_rows(at + ROW_BYTES, value, 1);
            } else {
                cache_.refresh(stream, layer, head, streams_.own(stream, layer), 1);
                cache_.flush(put(stream, layer, head, key, value, 1));
            }
        }
    }

    static void nap() { std::this_thread::sleep_for(std::chrono::microseconds(50)); }

    // Waits until the device is at rest and no error stands, where that is not known.
    void ready() {
        if (!rests_ || !exchange_.shared()) driver_.rest(options_.limit, nap);
    }

    // A run by the list of a layer, to its end.
    void finish(uint32_t layer, uint32_t listed, uint32_t streams, bool tokens) {
        rests_ = false;
        if (exchange_.shared() && !options_.interrupt) {
            // A run takes some microseconds or some thousand: the first are spent here, the others asleep.
            const auto begun = std::chrono::steady_clock::now();
            driver_.ring(layer, listed, streams, tokens);
            const auto over = [&] { cycles_ += driver_.recorded_cycles(); };
            try {
                driver_.answer(exchange_.record(), options_.limit, [&] {
                    if (std::chrono::steady_clock::now() - begun > SPIN) nap();
                });
            } catch (const Void &) {
                over();
                throw;
            }
            over();
            rests_ = true;
            return;
        }
        const auto wait = [&](const std::function<void()> &pause) {
            try {
                driver_.wait(options_.limit, pause);
            } catch (const Void &) {
                cycles_ += driver_.cycles();
                throw;
            }
            cycles_ += driver_.cycles();
        };
        if (options_.interrupt) {
            Listening line(card_, driver_);
            driver_.ring(layer, listed, streams, tokens);
            wait([&] { line.wait(); });
        } else {
            driver_.ring(layer, listed, streams, tokens);
            wait(nap);
        }
    }

    // The interrupt, until it goes out of scope.
    class Listening {
    public:
        Listening(Card &card, Driver<Card> &driver) : line_(card.interrupt()), driver_(driver) {
            line_.enable();
            driver_.listen(true);
        }
        Listening(const Listening &) = delete;
        Listening &operator=(const Listening &) = delete;
        ~Listening() {
            try {
                driver_.listen(false);
                line_.disable();
            } catch (const std::exception &) {
                // The card does not answer, which its caller is told.
            }
        }
        void wait() { line_.wait(std::chrono::milliseconds(100)); }

    private:
        decltype(std::declval<Card &>().interrupt()) line_;
        Driver<Card> &driver_;
    };

    // How long a record is polled without a rest.
    static constexpr std::chrono::microseconds SPIN{200};
};

}  // namespace meshkv
