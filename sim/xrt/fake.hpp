// A card for the host's library to talk to: XRT's classes as far as it uses them, and one of two cards behind them.
//
// With MESHKV_CARD_SOCKET, a Unix socket, the card is a co-simulated device in another process (remote.hpp): `meshkv card`
// sets it. Without it, and for tests alone, a front takes registers in their order, answers as the hardware does, and keeps
// what it was told for the test to look at:
//
// MESHKV_FAKE_DIR: where it writes `log` (a line a register written) and `memory` (every buffer: address, bytes). Without it
// there is no such card.
// MESHKV_FAKE_QUIET: if set, it writes neither, and transfers move nothing, so that the library can be timed.
// MESHKV_FAKE_FAULT: `magic`, `design`, `layout`, `heads`, `desc`, `hang`, `memory`, `logit` or `aligned`, for a card that is or does wrong.
// Its outputs are the queries.
// MESHKV_CARD_HOST_MEMORY: if set, queries, outputs and lists are in host memory.
#pragma once
#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "meshkv_registers.h"
#include "meshkv_shape.h"
#include "remote.hpp"

// What a program opens.
#define FAKE_CARD "card.xclbin"

namespace fake {

inline std::string fault() {
    const char *value = std::getenv("MESHKV_FAKE_FAULT");
    return value ? value : "";
}

struct Buffer {
    uint64_t address;
    std::vector<uint8_t> host, card;
    bool shared = false;  // In host memory: `host` is all there is.
    std::vector<uint8_t> &there() { return shared ? host : card; }
};

inline bool is_quiet() { return std::getenv("MESHKV_FAKE_QUIET") != nullptr; }

inline bool has_host_memory() { return std::getenv("MESHKV_CARD_HOST_MEMORY") != nullptr; }

// The front in this process.
struct Card {
    std::map<uint64_t, std::shared_ptr<Buffer>> buffers;
    std::map<uint32_t, uint32_t> registers;
    std::map<uint32_t, uint64_t> next;  // By memory: bytes taken.
    uint32_t error = 0, info = 0, descriptors = 0;
    bool done = false, hangs = false;
    uint64_t touched = 0, reads = 0;  // Registers and buffers written; registers read.
    bool quiet = is_quiet();
    std::string dir = std::getenv("MESHKV_FAKE_DIR") ? std::getenv("MESHKV_FAKE_DIR") : ".";
    std::ofstream log{dir + "/log"};

    static Card &one() {
        static Card card;
        return card;
    }

    std::shared_ptr<Buffer> allocate(size_t bytes, uint32_t memory) {
        auto buffer = std::make_shared<Buffer>();
        // A channel of HBM, or DDR behind all of them.
        const uint64_t begin = uint64_t{std::min<uint32_t>(memory, MESHKV_CHANNELS)} * MESHKV_CHANNEL_BYTES + (memory < MESHKV_CHANNELS ? 0 : uint64_t{memory} << 24);
        buffer->address = begin + next[memory] + (fault() == "aligned" ? 64 : 0) + (fault() == "astray" ? MESHKV_CHANNEL_BYTES : 0);
        buffer->host.resize(bytes);
        buffer->card.resize(bytes);
        buffers[buffer->address] = buffer;
        next[memory] += (bytes + 4095) / 4096 * 4096 + 4096;
        return buffer;
    }

    uint64_t argument(uint32_t offset) { return registers[offset] | uint64_t{registers[offset + 4]} << 32; }

    // The bytes from an address on, and how many there are.
    std::pair<uint8_t *, size_t> at(uint64_t address) {
        auto found = buffers.upper_bound(address);
        if (found == buffers.begin() || address - (--found)->first >= found->second->there().size()) throw std::logic_error("an argument is in no buffer");
        const uint64_t first = address - found->first;
        return {found->second->there().data() + first, found->second->there().size() - first};
    }

    void fail(uint32_t cause, uint32_t where) {
        if (!error) info = where << MESHKV_ERROR_INFO_WHERE_SHIFT | static_cast<uint32_t>(__builtin_ctz(cause));
        error |= cause;
    }

    void dump() {
        std::ofstream memory(dir + "/memory", std::ios::binary);
        for (auto &one : buffers) {
            const uint64_t head[2] = {one.first, one.second->there().size()};
            memory.write(reinterpret_cast<const char *>(head), sizeof head);
            memory.write(reinterpret_cast<const char *>(one.second->there().data()), static_cast<std::streamsize>(head[1]));
        }
    }

    void run() {
        if (registers[MESHKV_LIST_COUNT] && fault() == "desc") {
            fail(MESHKV_ERROR_START_LIST, 0);
            error |= MESHKV_ERROR_DESC_LAYER;
            return;
        }
        if (!descriptors && !registers[MESHKV_LIST_COUNT]) return fail(MESHKV_ERROR_START_EMPTY, 0);
        hangs = fault() == "hang";
        if (hangs) return;
        if (!quiet) dump();
        std::memmove(at(argument(MESHKV_ARG_OUTPUTS)).first, at(argument(MESHKV_ARG_QUERIES)).first, MESHKV_PARTIAL_SUMS);
        if (fault() == "memory") fail(MESHKV_ERROR_MEMORY, 3);
        if (fault() == "logit") fail(MESHKV_ERROR_SATURATED, 7);
        descriptors = 0;
        done = true;
    }

    // A run by a doorbell, and its record.
    void ring(uint32_t value) {
        registers[MESHKV_LIST_COUNT] = (value & MESHKV_DOORBELL_COUNT_MASK) >> MESHKV_DOORBELL_COUNT_SHIFT;
        registers[MESHKV_QUERY_STREAMS] = (value & MESHKV_DOORBELL_STREAMS_MASK) >> MESHKV_DOORBELL_STREAMS_SHIFT;
        registers[MESHKV_TOKEN_STREAMS] = value & MESHKV_DOORBELL_TOKENS_MASK ? registers[MESHKV_QUERY_STREAMS] : 0;
        run();
        if (hangs) return;
        meshkv_record record{};
        record.cycles_low = 1234;
        record.error = error;
        record.error_info = info;
        record.run = ++registers[MESHKV_RUNS];
        std::memcpy(at(argument(MESHKV_ARG_OUTPUTS) + MESHKV_RECORD_AT).first, &record, sizeof record);
    }

    void write(uint32_t offset, uint32_t value) {
        ++touched;
        if (!quiet) log << std::hex << offset << ' ' << value << std::endl;
        switch (offset) {
        case MESHKV_ERROR: error &= ~value; break;
        case MESHKV_ISR: break;
        case MESHKV_SOFT_RESET:
            descriptors = 0;
            hangs = false;
            break;
        case MESHKV_DESC_PUSH:
            if (fault() == "desc") fail(MESHKV_ERROR_DESC_LAYER, registers[MESHKV_DESC_CACHE] & 0xffff);
            else ++descriptors;
            break;
        case MESHKV_DOORBELL: ring(value); break;
        case MESHKV_CTRL:
            if (value & MESHKV_CTRL_AP_START_MASK) run();
            break;
        default: registers[offset] = value;
        }
    }

    uint32_t read(uint32_t offset) {
        ++reads;
        switch (offset) {
        case MESHKV_MAGIC: return fault() == "magic" ? 0xdeadbeef : MESHKV_MAGIC_VALUE;
        case MESHKV_DESIGN: return fault() == "design" ? ~MESHKV_DESIGN_VALUE : MESHKV_DESIGN_VALUE;
        case MESHKV_LAYOUT: return fault() == "layout" ? ~MESHKV_LAYOUT_VALUE : MESHKV_LAYOUT_VALUE;
        case MESHKV_HEADS: return fault() == "heads" ? MESHKV_HEADS_VALUE + 1 : MESHKV_HEADS_VALUE;
        case MESHKV_DESC_FREE: return (MESHKV_SIZES_VALUE >> MESHKV_SIZES_DESC_QUEUE_SHIFT) - descriptors;
        case MESHKV_ERROR: return error;
        case MESHKV_ERROR_INFO: return info;
        case MESHKV_CTRL: {
            const uint32_t value = (done ? MESHKV_CTRL_AP_DONE_MASK : 0) | (hangs ? 0 : MESHKV_CTRL_AP_IDLE_MASK);
            done = false;
            return value;
        }
        case MESHKV_CYCLES_LOW: return 1234;
        default: return identity(offset).value_or(registers[offset]);
        }
    }

    // A register that identifies the design.
    static std::optional<uint32_t> identity(uint32_t offset) {
        std::optional<uint32_t> value;
        for (const auto &one : meshkv_identity)
            if (one.offset == offset) value = value.value_or(0) | one.value << one.shift;
        return value;
    }
};

}  // namespace fake

using xrtMemoryGroup = uint32_t;
enum xclBOSyncDirection { XCL_BO_SYNC_BO_TO_DEVICE, XCL_BO_SYNC_BO_FROM_DEVICE };

namespace xrt {

using memory_group = xrtMemoryGroup;

class uuid {};

class xclbin {
public:
    explicit xclbin(const std::string &path) {
        if (!std::ifstream(path)) throw std::runtime_error("cannot open " + path);
    }
    class mem {
    public:
        mem(std::string tag, int32_t index, uint64_t kb) : tag_(std::move(tag)), index_(index), kb_(kb) {}
        std::string get_tag() const { return tag_; }
        int32_t get_index() const { return index_; }
        uint64_t get_size_kb() const { return kb_; }

    private:
        std::string tag_;
        int32_t index_;
        uint64_t kb_;
    };
    // All memories of the platform: the channels of HBM.
    std::vector<mem> get_mems() const {
        std::vector<mem> all;
        for (int32_t channel = 0; channel < MESHKV_CHANNELS; ++channel) all.emplace_back("HBM[" + std::to_string(channel) + "]", channel, MESHKV_CHANNEL_BYTES >> 10);
        return all;
    }
    class arg {
    public:
        arg(std::string name, int32_t number) : name_(std::move(name)), number_(number) {}
        std::string get_name() const { return name_; }
        // Queries, outputs and the list are in DDR. A port reaches a channel and the group of all.
        std::vector<mem> get_mems() const {
            if (number_ < 0) return {mem("HBM[0]", 0, MESHKV_CHANNEL_BYTES >> 10), mem("HBM[0:" + std::to_string(MESHKV_CHANNELS - 1) + "]", 0, MESHKV_CHANNELS * (MESHKV_CHANNEL_BYTES >> 10))};
            return {mem(fake::has_host_memory() ? "HOST[0]" : "DDR[0]", 1000 + number_, 16 << 20)};
        }

    private:
        std::string name_;
        int32_t number_;
    };
    class ip {
    public:
        std::vector<arg> get_args() const {
            std::vector<arg> args{arg("queries", 0), arg("outputs", 1)};
            for (int32_t port = 0; port < MESHKV_PORTS; ++port) args.emplace_back("hbm" + std::string(port < 10 ? "0" : "") + std::to_string(port), -1);
            args.emplace_back("list", 2);
            return args;
        }
    };
    class kernel {
    public:
        std::string get_name() const { return "meshkv_top"; }
        std::vector<ip> get_cus() const { return {ip()}; }
    };
    std::vector<kernel> get_kernels() const { return {kernel()}; }
};

class device {
public:
    explicit device(unsigned int) {
        // A library that is run by itself must not take queries for outputs.
        if (!fake::Remote::one() && !std::getenv("MESHKV_FAKE_DIR")) throw std::runtime_error("this library is built for a co-simulated card, and none answers: run the program by `meshkv card CONFIG -- PROGRAM`");
    }
    uuid load_xclbin(const xclbin &) { return {}; }
};

class bo {
public:
    enum class flags { normal, host_only };
    bo(const device &, size_t bytes, flags kind, memory_group group) {
        // What the platform refuses: UG1393 asks for less than 4 GB a buffer, and a channel has what it has.
        if (bytes >= uint64_t{4} << 30) throw std::runtime_error("failed to allocate a buffer of 4 GB: Invalid argument");
        if (group < MESHKV_CHANNELS && bytes > MESHKV_CHANNELS * uint64_t{MESHKV_CHANNEL_BYTES}) throw std::runtime_error("failed to allocate a buffer: Cannot allocate memory");
        if (fake::Remote *remote = fake::Remote::one()) {
            const auto free = [remote](fake::Buffer *one) {
                remote->free(one->address);
                delete one;
            };
            buffer_ = std::shared_ptr<fake::Buffer>(new fake::Buffer{remote->allocate(bytes, group), std::vector<uint8_t>(bytes), {}}, free);
        }
        else buffer_ = fake::Card::one().allocate(bytes, group);
        buffer_->shared = kind == flags::host_only;
        if (buffer_->shared != (fake::has_host_memory() && group >= 1000)) throw std::runtime_error("a buffer of another kind than its memory");
        if (buffer_->shared && fake::Remote::one()) fake::Remote::one()->share(buffer_->address, buffer_->host.data(), bytes);
    }
    uint64_t address() const { return buffer_->address; }
    template <typename T>
    T map() {
        return reinterpret_cast<T>(buffer_->host.data());
    }
    void sync(xclBOSyncDirection way, size_t bytes, size_t first) {
        if (buffer_->shared) throw std::logic_error("host memory needs no transfer");
        if (first + bytes > buffer_->host.size()) throw std::out_of_range("a transfer beyond its buffer");
        uint8_t *host = buffer_->host.data() + first;
        if (fake::Remote *remote = fake::Remote::one()) {
            if (way == XCL_BO_SYNC_BO_TO_DEVICE) remote->put(buffer_->address + first, host, bytes);
            else remote->get(buffer_->address + first, host, bytes);
        } else if (way == XCL_BO_SYNC_BO_TO_DEVICE) {
            ++fake::Card::one().touched;
            if (!fake::Card::one().quiet) std::memcpy(buffer_->card.data() + first, host, bytes);
        } else {
            std::memcpy(host, buffer_->card.data() + first, bytes);
        }
    }

private:
    std::shared_ptr<fake::Buffer> buffer_;
};

class ip {
public:
    class interrupt {
    public:
        void enable() {}
        void disable() {}
        void wait() {}
        std::cv_status wait(const std::chrono::milliseconds &) const {
            if (fake::Remote *remote = fake::Remote::one()) remote->wait();
            return std::cv_status::no_timeout;
        }
    };
    ip(const device &, const uuid &, const std::string &name) {
        if (name != "meshkv_top") throw std::runtime_error("no such kernel");
    }
    void write_register(uint32_t offset, uint32_t value) {
        if (fake::Remote *remote = fake::Remote::one()) remote->write(offset, value);
        else fake::Card::one().write(offset, value);
    }
    uint32_t read_register(uint32_t offset) const {
        if (fake::Remote *remote = fake::Remote::one()) return remote->read(offset);
        return fake::Card::one().read(offset);
    }
    interrupt create_interrupt_notify() { return {}; }
};

}  // namespace xrt
