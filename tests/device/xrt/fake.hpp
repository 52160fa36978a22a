// A card for the host example to talk to: XRT's classes as far as the example uses them, and a front that takes registers
// in their order, answers as the hardware does, and keeps what it was told for the test to look at.
//
// MESHKV_FAKE_DIR: where it writes `log` (a line a register written) and `memory` (every buffer: address, bytes).
// MESHKV_FAKE_FAULT: `magic`, `design`, `desc`, `hang`, `memory` or `logit`, for a card that is or does wrong.
// Its outputs are the queries.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "meshkv_registers.h"
#include "meshkv_shape.h"

namespace fake {

inline std::string fault() {
    const char *value = std::getenv("MESHKV_FAKE_FAULT");
    return value ? value : "";
}

struct Buffer {
    uint64_t address;
    std::vector<uint8_t> host, card;
};

struct Card {
    std::map<uint64_t, std::shared_ptr<Buffer>> buffers;
    std::map<uint32_t, uint32_t> registers;
    uint64_t next = uint64_t{1} << 32;
    uint32_t error = 0, info = 0, descriptors = 0;
    bool done = false;
    std::string dir = std::getenv("MESHKV_FAKE_DIR") ? std::getenv("MESHKV_FAKE_DIR") : ".";
    std::ofstream log{dir + "/log"};

    static Card &one() {
        static Card card;
        return card;
    }

    std::shared_ptr<Buffer> allocate(size_t bytes) {
        auto buffer = std::make_shared<Buffer>();
        buffer->address = next;
        buffer->host.resize(bytes);
        buffer->card.resize(bytes);
        buffers[next] = buffer;
        next += (bytes + 4095) / 4096 * 4096 + 4096;
        return buffer;
    }

    uint64_t argument(uint32_t offset) { return registers[offset] | uint64_t{registers[offset + 4]} << 32; }

    Buffer &at(uint64_t address) {
        auto found = buffers.find(address);
        if (found == buffers.end()) throw std::logic_error("an argument is no buffer's address");
        return *found->second;
    }

    void fail(uint32_t cause, uint32_t where) {
        if (!error) info = where << MESHKV_ERROR_INFO_WHERE_SHIFT | static_cast<uint32_t>(__builtin_ctz(cause));
        error |= cause;
    }

    void run() {
        if (!descriptors) return fail(MESHKV_ERROR_START_EMPTY, 0);
        if (fault() == "hang") return;
        std::ofstream memory(dir + "/memory", std::ios::binary);
        for (auto &one : buffers) {
            const uint64_t head[2] = {one.first, one.second->card.size()};
            memory.write(reinterpret_cast<const char *>(head), sizeof head);
            memory.write(reinterpret_cast<const char *>(one.second->card.data()), static_cast<std::streamsize>(head[1]));
        }
        at(argument(MESHKV_ARG_OUTPUTS)).card = at(argument(MESHKV_ARG_QUERIES)).card;
        if (fault() == "memory") fail(MESHKV_ERROR_MEMORY, 3);
        if (fault() == "logit") fail(MESHKV_ERROR_SATURATED, 7);
        descriptors = 0;
        done = true;
    }

    void write(uint32_t offset, uint32_t value) {
        log << std::hex << offset << ' ' << value << std::endl;
        switch (offset) {
        case MESHKV_ERROR: error &= ~value; break;
        case MESHKV_ISR: break;
        case MESHKV_SOFT_RESET: descriptors = 0; break;
        case MESHKV_DESC_PUSH:
            if (fault() == "desc") fail(MESHKV_ERROR_DESC_LAYER, registers[MESHKV_DESC_CACHE] & 0xffff);
            else ++descriptors;
            break;
        case MESHKV_CTRL:
            if (value & MESHKV_CTRL_AP_START_MASK) run();
            break;
        default: registers[offset] = value;
        }
    }

    uint32_t read(uint32_t offset) {
        switch (offset) {
        case MESHKV_MAGIC: return fault() == "magic" ? 0xdeadbeef : MESHKV_MAGIC_VALUE;
        case MESHKV_MAP_VERSION: return MESHKV_MAP_VERSION_VALUE;
        case MESHKV_DESIGN: return fault() == "design" ? ~MESHKV_DESIGN_VALUE : MESHKV_DESIGN_VALUE;
        case MESHKV_SIZES: return MESHKV_SIZES_VALUE;
        case MESHKV_DESC_FREE: return (MESHKV_SIZES_VALUE >> MESHKV_SIZES_DESC_QUEUE_SHIFT) - descriptors;
        case MESHKV_ERROR: return error;
        case MESHKV_ERROR_INFO: return info;
        case MESHKV_CTRL: {
            const uint32_t value = done ? MESHKV_CTRL_AP_DONE_MASK : 0;
            done = false;
            return value;
        }
        case MESHKV_CYCLES_LOW: return 1234;
        default: return registers[offset];
        }
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
        mem(int32_t index, uint64_t kb) : index_(index), kb_(kb) {}
        int32_t get_index() const { return index_; }
        uint64_t get_size_kb() const { return kb_; }

    private:
        int32_t index_;
        uint64_t kb_;
    };
    class arg {
    public:
        explicit arg(std::string name) : name_(std::move(name)) {}
        std::string get_name() const { return name_; }
        std::vector<mem> get_mems() const { return {mem(0, 256 << 10), mem(40, 8 << 20)}; }

    private:
        std::string name_;
    };
    class ip {
    public:
        std::vector<arg> get_args() const {
            std::vector<arg> args{arg("queries"), arg("outputs")};
            for (uint32_t port = 0; port < MESHKV_PORTS; ++port) args.emplace_back("hbm" + std::string(port < 10 ? "0" : "") + std::to_string(port));
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
    explicit device(unsigned int) {}
    uuid load_xclbin(const xclbin &) { return {}; }
};

class bo {
public:
    enum class flags { normal };
    bo(const device &, size_t bytes, flags, memory_group) : buffer_(fake::Card::one().allocate(bytes)) {}
    uint64_t address() const { return buffer_->address; }
    void write(const void *from, size_t bytes, size_t at) {
        if (at + bytes > buffer_->host.size()) throw std::out_of_range("a write beyond its buffer");
        std::memcpy(buffer_->host.data() + at, from, bytes);
    }
    void read(void *to, size_t bytes, size_t at) {
        if (at + bytes > buffer_->host.size()) throw std::out_of_range("a read beyond its buffer");
        std::memcpy(to, buffer_->host.data() + at, bytes);
    }
    void sync(xclBOSyncDirection way) {
        if (way == XCL_BO_SYNC_BO_TO_DEVICE) buffer_->card = buffer_->host;
        else buffer_->host = buffer_->card;
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
        std::cv_status wait(const std::chrono::milliseconds &) const { return std::cv_status::no_timeout; }
    };
    ip(const device &, const uuid &, const std::string &name) {
        if (name != "meshkv_top") throw std::runtime_error("no such kernel");
    }
    void write_register(uint32_t offset, uint32_t value) { fake::Card::one().write(offset, value); }
    uint32_t read_register(uint32_t offset) const { return fake::Card::one().read(offset); }
    interrupt create_interrupt_notify() { return {}; }
};

}  // namespace xrt
