// Driver of the registers of meshkv_top: one run at a time. Knows nothing of XRT: `Io` reads and writes registers.
//
// A run begins in one of two ways. `ring` is one write, and `answer` waits for the record that the device writes into memory:
// no register is read. `start` and `wait` go by registers alone, as XRT does it, and run pushed descriptors, too.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "meshkv_registers.h"
#include "meshkv_shape.h"

static_assert(MESHKV_SHAPE_LAYOUT == MESHKV_LAYOUT_VALUE, "meshkv_shape.h and meshkv_registers.h are of different designs: take both from one `meshkv generate`");
static_assert(sizeof(meshkv_descriptor) == MESHKV_LIST_DESCRIPTOR_BYTES, "the list has descriptors of another format");

namespace meshkv {

// Whether the device writes new tokens itself: kv.append of the configuration. If not, the host writes them.
#if defined(MESHKV_APPEND) && MESHKV_APPEND
constexpr bool DEVICE_APPENDS = true;
constexpr uint32_t APPEND_SHIFT = MESHKV_DESC_PUSH_APPEND_SHIFT, TOKEN_STREAMS = MESHKV_TOKEN_STREAMS;
constexpr uint64_t TOKENS_AT = MESHKV_TOKENS_AT;  // Bytes before new tokens in the buffer of queries.
#else
constexpr bool DEVICE_APPENDS = false;
constexpr uint32_t APPEND_SHIFT = 0, TOKEN_STREAMS = 0;
constexpr uint64_t TOKENS_AT = 0;
#endif

#if MESHKV_PAGES
constexpr uint32_t PAGE_REGISTER = MESHKV_PAGE;
#else
constexpr uint32_t PAGE_REGISTER = 0;
#endif

#if MESHKV_SCALED
constexpr uint64_t SCALES_AT = MESHKV_SCALES_AT;  // Bytes before scales in the buffer of queries.
#else
constexpr uint64_t SCALES_AT = 0;
#endif

// As the mapping of a descriptor: that of the least expected cycles.
constexpr uint32_t MAPPING_AUTO = ~0u;

// The mapping for streams that attend to the same segments, as `meshkv generate` has forecast it.
inline uint32_t mapping_for(uint32_t segments, uint32_t streams) {
    // The last step that is not above the number, where each step is so many bits.
    const auto step = [](uint32_t number, uint32_t bits, uint32_t steps) {
        uint32_t at = 0;
        while (at + 1 < steps && number >> bits * (at + 1)) ++at;
        return at;
    };
    return meshkv_mappings[step(streams, 1, MESHKV_STREAM_STEPS)][step(segments, 2, MESHKV_SEGMENT_STEPS)];
}

// A descriptor: the streams that attend, and the segments of a layer.
struct Descriptor {
    uint32_t layer, prefix;              // The cache.
    uint32_t first, stride, count;       // Segments.
    uint32_t first_row, last_row;        // First token of the first segment, last token of the last.
    uint32_t stream, streams;            // Attending streams: first, number.
    uint32_t mapping;                    // 0: a tile a head, 1: the row of the home, 2: striped over the rows, MAPPING_AUTO.
    bool share, close, step;             // All heads get all slices; outputs are due; the decode step ends.
    bool partials = false;               // With `close`: the streams return l, m and o instead of outputs.
    bool append = false;                 // The last token is new: the device takes it from the buffer of queries.
};

// The words of a descriptor, as registers and lists have them.
inline meshkv_descriptor words(const Descriptor &d) {
    const uint32_t mapping = d.mapping == MAPPING_AUTO ? mapping_for(d.count, d.streams) : d.mapping;
    meshkv_descriptor w{};
    w.cache = d.layer << MESHKV_DESC_CACHE_LAYER_SHIFT | d.prefix << MESHKV_DESC_CACHE_PREFIX_SHIFT;
    w.first = d.first;
    w.stride = d.stride;
    w.count = d.count;
    w.rows = d.first_row << MESHKV_DESC_ROWS_FIRST_SHIFT | d.last_row << MESHKV_DESC_ROWS_LAST_SHIFT;
    w.streams = d.stream << MESHKV_DESC_STREAMS_FIRST_SHIFT | d.streams << MESHKV_DESC_STREAMS_COUNT_SHIFT;
    w.push = mapping << MESHKV_DESC_PUSH_MAPPING_SHIFT | uint32_t{d.share} << MESHKV_DESC_PUSH_SHARE_SHIFT |
             uint32_t{d.close} << MESHKV_DESC_PUSH_CLOSE_SHIFT | uint32_t{d.step} << MESHKV_DESC_PUSH_STEP_SHIFT |
             uint32_t{d.partials} << MESHKV_DESC_PUSH_PARTIALS_SHIFT | (DEVICE_APPENDS ? uint32_t{d.append} << APPEND_SHIFT : 0);
    return w;
}

// Errors in the registers, each cause by its name.
class Error : public std::runtime_error {
public:
    Error(uint32_t error, uint32_t info) : std::runtime_error(text(error, info)), causes(error) {}
    const uint32_t causes;

private:
    static std::string text(uint32_t error, uint32_t info) {
        const uint32_t first = (info & MESHKV_ERROR_INFO_CAUSE_MASK) >> MESHKV_ERROR_INFO_CAUSE_SHIFT;
        const uint32_t where = (info & MESHKV_ERROR_INFO_WHERE_MASK) >> MESHKV_ERROR_INFO_WHERE_SHIFT;
        std::ostringstream out;
        out << "the device reports";
        for (uint32_t bit = 0; bit < MESHKV_ERRORS; ++bit) {
            if (!(error >> bit & 1)) continue;
            out << ' ' << meshkv_errors[bit].name << " (" << meshkv_errors[bit].doc;
            if (bit == first) out << "; " << meshkv_errors[bit].place << ": " << where;
            out << ')';
        }
        return out.str();
    }
};

// The end of a run that has written all outputs, some of which are void: a logit was beyond the range.
class Void : public Error {
public:
    using Error::Error;
};

template <typename Io>
class Driver {
public:
    // `io.read(offset)`, `io.write(offset, value)`. Refuses a device of another design. Whatever another host left is
    // dropped: a run, its end that nobody read, descriptors, queries, errors, settings. A reset takes `limit` at most, and so
    // do answers that memory owes to that host: a write among them would land in this one's buffers.
    explicit Driver(Io &io, std::chrono::milliseconds limit = std::chrono::seconds(1)) : io_(io), limit_(limit) {
        expect("MAGIC", MESHKV_MAGIC, MESHKV_MAGIC_VALUE, "this is no meshkv");
        expect("MAP_VERSION", MESHKV_MAP_VERSION, MESHKV_MAP_VERSION_VALUE, "its registers are those of another release");
        expect_design();
        io_.write(MESHKV_WATCHDOG, MESHKV_WATCHDOG_RESET);
        reset();
        if (!quiet())
            throw std::runtime_error("memory owes answers to the host before, " + std::to_string(limit_.count()) + " ms after a soft reset: reset the device with its shell");
    }

    // Lets the end of a run and its errors raise the interrupt, or nothing.
    void listen(bool interrupt) {
        io_.write(MESHKV_IER, interrupt ? MESHKV_IER_DONE_MASK | MESHKV_IER_ERROR_MASK : 0);
        io_.write(MESHKV_GIE, interrupt ? MESHKV_GIE_ENABLE_MASK : 0);
    }

    // Begins a run by one write: it takes `count` descriptors from a slot of the list, loads the queries of streams 0 to
    // `streams` - 1 and, if `tokens`, their new tokens. All of that is in memory. Descriptors that were pushed belong to it, too.
    void ring(uint32_t slot, uint32_t count, uint32_t streams, bool tokens) {
        settle();
        io_.write(MESHKV_DOORBELL, slot << MESHKV_DOORBELL_SLOT_SHIFT | count << MESHKV_DOORBELL_COUNT_SHIFT | streams << MESHKV_DOORBELL_STREAMS_SHIFT |
                                       uint32_t{tokens} << MESHKV_DOORBELL_TOKENS_SHIFT);
        ++run_;
        begun_ = std::move(next_);
        next_ = {};
    }

    // Makes a record in memory one of no run that will be rung.
    void forget(volatile meshkv_record &record) const { record.run = run_; }

    // Waits for the record of the run that was rung last, in memory that the device writes by itself. `pause` rests a while.
    // After `Void` all outputs are in memory. After any error the device needs a `rest` before the next run.
    void answer(volatile meshkv_record &record, std::chrono::milliseconds limit, const std::function<void()> &pause) {
        const auto end = std::chrono::steady_clock::now() + limit;
        while (record.run != run_) {
            if (std::chrono::steady_clock::now() > end) {
                check();
                reset();
                throw std::runtime_error("the run took longer than " + std::to_string(limit.count()) + " ms and was cut off");
            }
            pause();
        }
        std::atomic_thread_fence(std::memory_order_acquire);
        const uint32_t error = record.error, info = record.error_info;
        cycles_ = record.cycles_low | uint64_t{record.cycles_high} << 32;
        if (error & ~MESHKV_ERROR_VOIDS_MASK) throw Error(error, info);
        if (error) throw Void(error, info);
    }

    // Clears old errors and interrupts.
    void clear() {
        io_.write(MESHKV_ERROR, ~0u);
        io_.write(MESHKV_ISR, io_.read(MESHKV_ISR));
    }

    // Waits until a run that has failed is over, and forgets its end and its errors. `pause` as for `wait`.
    void rest(std::chrono::milliseconds limit, const std::function<void()> &pause) {
        const auto end = std::chrono::steady_clock::now() + limit;
        while (runs()) {
            if (std::chrono::steady_clock::now() > end) {
                reset();
                break;
            }
            pause();
        }
        io_.read(MESHKV_CTRL);  // AP_DONE, which a read clears.
        clear();
        run_ = io_.read(MESHKV_RUNS);
    }

    // Stops the run and empties the queue. Waits until that is done and no run is due, and forgets the end of the last one.
    void reset() {
        io_.write(MESHKV_GIE, 0);
        io_.write(MESHKV_CTRL, 0);  // A run that would follow by AUTO_RESTART does not.
        io_.write(MESHKV_SOFT_RESET, MESHKV_SOFT_RESET_GO_MASK);
        next_ = begun_ = {};
        const auto end = std::chrono::steady_clock::now() + limit_;
        // The read that finds the device idle clears AP_DONE, which is set before.
        while (!(io_.read(MESHKV_CTRL) & MESHKV_CTRL_AP_IDLE_MASK))
            if (std::chrono::steady_clock::now() > end)
                throw std::runtime_error("the device did not come out of a soft reset within " + std::to_string(limit_.count()) + " ms: reset it with its shell");
        clear();
        run_ = io_.read(MESHKV_RUNS);
    }

    // Stops a run that is under way, and waits until nothing is owed: from then on the device neither reads nor writes
    // memory. False if that takes longer than the limit, or if registers cannot be reached. For destructors: it never throws.
    bool quiet() noexcept {
        constexpr uint32_t BUSY = MESHKV_STATUS_RUN_MASK | MESHKV_STATUS_OWED_MASK | MESHKV_STATUS_WRITING_MASK;
        try {
            const auto end = std::chrono::steady_clock::now() + limit_;
            if (runs()) reset();
            while (io_.read(MESHKV_STATUS) & BUSY) {
                if (std::chrono::steady_clock::now() > end) return false;
                std::this_thread::sleep_for(std::chrono::microseconds(50));
            }
            return true;
        } catch (...) {
            return false;
        }
    }

    void argument(uint32_t offset, uint64_t value) {
        io_.write(offset, static_cast<uint32_t>(value));
        io_.write(offset + 4, static_cast<uint32_t>(value >> 32));
    }

    // Tells the device in which page a segment of a cache lies.
    void page(uint32_t cache, uint32_t segment, uint32_t number) {
        io_.write(PAGE_REGISTER, cache << MESHKV_PAGE_CACHE_SHIFT | segment << MESHKV_PAGE_SEGMENT_SHIFT | number);
    }

    // Descriptors of one run must not name a slice twice. The device does not check that, so this does.
    void push(const Descriptor &d) {
        settle();
        const Named named(d);
        named.apart(next_.named);
        if (io_.read(MESHKV_DESC_FREE) == 0) throw std::runtime_error("the device's queue of descriptors is full");
        const meshkv_descriptor w = words(d);
        io_.write(MESHKV_DESC_CACHE, w.cache);
        io_.write(MESHKV_DESC_FIRST, w.first);
        io_.write(MESHKV_DESC_STRIDE, w.stride);
        io_.write(MESHKV_DESC_COUNT, w.count);
        io_.write(MESHKV_DESC_ROWS, w.rows);
        io_.write(MESHKV_DESC_STREAMS, w.streams);
        io_.write(MESHKV_DESC_PUSH, w.push);
        check();
        next_.named.push_back(named);
        ++next_.pushed;
    }

    // Descriptors of a run as a list for memory, little-endian as the host is. Refuses two that name a slice.
    static std::vector<meshkv_descriptor> list(const std::vector<Descriptor> &descriptors) {
        std::vector<Named> named;
        std::vector<meshkv_descriptor> all;
        named.reserve(descriptors.size());
        all.reserve(descriptors.size());
        for (const auto &d : descriptors) {
            const Named one(d);
            one.apart(named);
            named.push_back(one);
            all.push_back(words(d));
        }
        return all;
    }

    // Starts a run that first loads the queries of streams 0 to `streams` - 1, takes `listed` descriptors from the list
    // in memory, and loads the new tokens of streams 0 to `tokens` - 1. The device refuses the run if a stream attends
    // whose queries it has not loaded since its last reset.
    void start(uint32_t streams, bool interrupt, uint32_t listed = 0, uint32_t tokens = 0) {
        settle();
        io_.write(MESHKV_QUERY_STREAMS, streams);
        io_.write(MESHKV_LIST_COUNT, listed);
        if (DEVICE_APPENDS) io_.write(TOKEN_STREAMS, tokens);
        listen(interrupt);
        io_.write(MESHKV_CTRL, MESHKV_CTRL_AP_START_MASK);
        ++run_;
        // Descriptors pushed from now on are for the next run.
        begun_ = std::move(next_);
        next_ = {};
    }

    // Waits until the run is over, with or without an error; `pause` sleeps for a while, or until an interrupt. After
    // `Void` all outputs are in memory.
    void wait(std::chrono::milliseconds limit, const std::function<void()> &pause) {
        const auto end = std::chrono::steady_clock::now() + limit;
        while (!(io_.read(MESHKV_CTRL) & MESHKV_CTRL_AP_DONE_MASK)) {
            // A failure is thrown as soon as it appears, even before the end of the run.
            check();
            if (std::chrono::steady_clock::now() > end) {
                reset();
                throw std::runtime_error("the run took longer than " + std::to_string(limit.count()) + " ms and was cut off");
            }
            pause();
        }
        check();
        io_.write(MESHKV_ISR, io_.read(MESHKV_ISR));
        const uint32_t error = io_.read(MESHKV_ERROR);
        if (error & MESHKV_ERROR_VOIDS_MASK) throw Void(error, io_.read(MESHKV_ERROR_INFO));
    }

    // Throws the error that the device reports, if there is one that refuses or ends something.
    void check() {
        const uint32_t error = io_.read(MESHKV_ERROR);
        if (error & ~MESHKV_ERROR_VOIDS_MASK) throw Error(error, io_.read(MESHKV_ERROR_INFO));
    }

    // Cycles of the last run.
    uint64_t cycles() {
        const uint64_t low = io_.read(MESHKV_CYCLES_LOW);
        return low | uint64_t{io_.read(MESHKV_CYCLES_HIGH)} << 32;
    }

    // The same by the record of the last answer, without a read.
    uint64_t recorded_cycles() const { return cycles_; }

private:
    // The segments of a cache that a descriptor names. None for one beyond the longest context: the device refuses it.
    struct Named {
        uint32_t cache, first, stride, count;

        explicit Named(const Descriptor &d) : cache(d.prefix), first(d.first), stride(d.stride), count(d.count) {
            if (stride == 0) count = std::min(count, 1u);
            if (!count || d.first + (d.count - uint64_t{1}) * d.stride >= MESHKV_MAX_SEGMENTS) count = 0;
        }

        bool has(uint32_t segment) const {
            if (!count || segment < first) return false;
            return stride ? (segment - first) % stride == 0 && (segment - first) / stride < count : segment == first;
        }

        // Refuses a slice that one of the others names, too.
        void apart(const std::vector<Named> &others) const {
            uint32_t least = ~0u;
            for (const Named &other : others) {
                if (other.cache != cache) continue;
                // The first common segment of steps of one is the later begin; others are looked for one by one.
                const uint32_t from = std::max(first, other.first);
                if (stride <= 1 && other.stride <= 1) {
                    if (has(from) && other.has(from)) least = std::min(least, from);
                    continue;
                }
                for (uint32_t at = 0; at < count; ++at)
                    if (other.has(first + at * stride)) least = std::min(least, first + at * stride);
            }
            if (least != ~0u) throw std::invalid_argument(twice(least));
        }

        std::string twice(uint32_t segment) const {
            return "segment " + std::to_string(segment) + " of cache " + std::to_string(cache) + " is named by two descriptors of one run";
        }
    };

    // Descriptors of a run.
    struct Set {
        std::vector<Named> named;
        uint32_t pushed = 0;
    };

    // True while a run or a reset is under way.
    bool runs() { return io_.read(MESHKV_STATUS) & MESHKV_STATUS_RUN_MASK; }

    // Descriptors that wait in the device.
    uint32_t queued() { return (io_.read(MESHKV_SIZES) >> MESHKV_SIZES_DESC_QUEUE_SHIFT) - io_.read(MESHKV_DESC_FREE); }

    // A run that is over has taken its descriptors, unless it was refused: then they belong to the next. A run that
    // was stopped has emptied the queue.
    void settle() {
        if (!begun_.pushed || runs()) return;
        const uint32_t left = queued();
        if (left == 0) next_ = {};
        if (left > next_.pushed) {
            for (const Named &named : begun_.named) {
                try {
                    named.apart(next_.named);
                } catch (const std::invalid_argument &why) {
                    throw std::invalid_argument(std::string(why.what()) + ", for the run before was refused and its descriptors wait still: reset the device");
                }
            }
            next_.named.insert(next_.named.end(), begun_.named.begin(), begun_.named.end());
            next_.pushed += begun_.pushed;
        }
        begun_ = {};
    }

    void expect(const char *name, uint32_t offset, uint32_t wanted, const char *means) {
        const uint32_t found = io_.read(offset);
        if (found == wanted) return;
        std::ostringstream out;
        out << std::hex << "register " << name << " is 0x" << found << ", not 0x" << wanted << ": " << means;
        throw std::runtime_error(out.str());
    }

    // Refuses another design by all that differs. Nothing is written before.
    void expect_design() {
        std::ostringstream out;
        for (const auto &one : meshkv_identity) {
            const uint32_t found = (io_.read(one.offset) & one.mask) >> one.shift;
            if (found == one.value) continue;
            out << (out.tellp() ? ", " : "") << one.name << " is ";
            if (one.mask == ~0u) out << std::hex << "0x" << found << ", not 0x" << one.value << std::dec;
            else out << found << ", not " << one.value;
            out << " (" << one.doc << ')';
        }
        if (!out.tellp()) return;
        const bool same = io_.read(MESHKV_DESIGN) == MESHKV_DESIGN_VALUE;
        throw std::runtime_error(std::string(same ? "the bitstream was generated by another release, whose bytes lie elsewhere"
                                                  : "the bitstream was generated from another configuration than this library") +
                                 ": " + out.str() + "; generate both again, or load the bitstream that belongs to this library");
    }

    Io &io_;
    std::chrono::milliseconds limit_;  // Of a reset.
    Set next_, begun_;  // Of the next run; of the last run, until its end is known.
    uint32_t run_ = 0;  // Number of the last run that was begun, as RUNS counts it.
    uint64_t cycles_ = 0;
};

}  // namespace meshkv
