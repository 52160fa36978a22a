// A card through XRT: the registers of the kernel, and buffers in the memories to which its arguments are connected.
// No other file knows XRT.
#pragma once
#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "experimental/xrt_ip.h"
#include "experimental/xrt_xclbin.h"
#include "xrt/xrt_bo.h"
#include "xrt/xrt_device.h"

#include "meshkv_cache.hpp"
#include "meshkv_streams.hpp"

namespace meshkv {

constexpr const char *KERNEL = "meshkv_top";

// A buffer of the card, with the host's copy of it.
class XrtBuffer {
public:
    XrtBuffer(xrt::bo bo, uint64_t bytes, bool shared) : bo_(std::move(bo)), bytes_(bytes), data_(bo_.map<uint8_t *>()), shared_(shared) {}

    uint8_t *data() { return data_; }
    const uint8_t *data() const { return data_; }

    // True in host memory, where the card reads and writes what the host does.
    bool shared() const { return shared_; }
    uint64_t address() const { return bo_.address(); }

    // Copies bytes to the card, or from it; a transfer begins and ends at multiples of 64.
    void to_card(uint64_t first, uint64_t count) { sync(XCL_BO_SYNC_BO_TO_DEVICE, first, count); }
    void from_card(uint64_t first, uint64_t count) { sync(XCL_BO_SYNC_BO_FROM_DEVICE, first, count); }

private:
    xrt::bo bo_;
    uint64_t bytes_;
    uint8_t *data_;
    bool shared_;

    void sync(xclBOSyncDirection way, uint64_t first, uint64_t count) {
        const uint64_t begin = first / 64 * 64, end = std::min(bytes_, (first + count + 63) / 64 * 64);
        bo_.sync(way, end - begin, begin);
    }
};

class XrtCard {
public:
    using Buffer = XrtBuffer;

    XrtCard(const std::string &path, unsigned index)
        : device_(index), xclbin_(path), uuid_(device_.load_xclbin(xclbin_)), ip_(device_, uuid_, KERNEL) {
        for (const auto &kernel : xclbin_.get_kernels())
            if (kernel.get_name() == KERNEL && !kernel.get_cus().empty()) unit_ = kernel.get_cus().front();
    }

    // Registers, for Driver.
    uint32_t read(uint32_t offset) const { return ip_.read_register(offset); }
    void write(uint32_t offset, uint32_t value) { ip_.write_register(offset, value); }

    xrt::ip::interrupt interrupt() { return ip_.create_interrupt_notify(); }

    // A buffer for an argument. `what` names it in messages.
    Buffer allocate(const std::string &argument, uint64_t bytes, const std::string &what) { return in(memory_of(argument), bytes, what); }

    // A buffer in pseudo-channels of HBM: in the first of them if that has room, else in the memory of the argument.
    Buffer allocate(const std::string &argument, const Channels &channels, uint64_t bytes, const std::string &what) {
        const bool one = bytes <= MESHKV_CHANNEL_BYTES;
        Buffer made = in(one ? channel(argument, channels.first) : memory_of(argument), bytes, what);
        const uint64_t first = made.address() / MESHKV_CHANNEL_BYTES, last = (made.address() + bytes - 1) / MESHKV_CHANNEL_BYTES;
        if (first < channels.first || last >= channels.first + channels.count)
            throw std::runtime_error(what + " lies in pseudo-channels " + std::to_string(first) + " to " + std::to_string(last) + " of HBM, and belongs into " +
                                     std::to_string(channels.first) + " to " + std::to_string(channels.first + channels.count - 1) +
                                     ": link with the link.cfg of this design");
        return made;
    }

    // Keeps all buffers for the rest of the process.
    void keep() {
        static auto &kept = *new std::vector<xrt::bo>;
        kept.insert(kept.end(), given_.begin(), given_.end());
    }

private:
    // A buffer in a memory.
    Buffer in(const xrt::xclbin::mem &memory, uint64_t bytes, const std::string &what) {
        if (bytes >= MESHKV_BUFFER_LIMIT)
            throw Refused(what + " takes " + std::to_string(bytes >> 20) + " MiB, and XRT gives no buffer of " + std::to_string(MESHKV_BUFFER_LIMIT >> 20) +
                          " MiB or more: lower model.max_tokens, model.max_streams or model.layers of the configuration and generate again");
        const uint64_t pages = (bytes + MESHKV_BUFFER_ALIGN - 1) / MESHKV_BUFFER_ALIGN * MESHKV_BUFFER_ALIGN;
        if (pages / 1024 > memory.get_size_kb()) {
            throw Refused(what + " takes " + std::to_string(pages >> 20) + " MiB, and its memory has " + std::to_string(memory.get_size_kb() >> 10) +
                          ": lower model.max_tokens, model.max_streams or model.layers of the configuration and generate again");
        }
        const bool shared = memory.get_tag().rfind("HOST", 0) == 0;
        xrt::bo bo(device_, pages, shared ? xrt::bo::flags::host_only : xrt::bo::flags::normal, static_cast<xrt::memory_group>(memory.get_index()));
        const uint64_t first = bo.address();
        if (first % MESHKV_BUFFER_ALIGN)
            throw std::runtime_error(what + " lies at " + std::to_string(first) + " on the card, which is no multiple of " + std::to_string(MESHKV_BUFFER_ALIGN));
        for (const auto &one : taken_)
            if (first < one.second && one.first < first + pages) throw std::runtime_error(what + " overlaps another buffer on the card");
        taken_.emplace_back(first, first + pages);
        given_.push_back(bo);
        return Buffer(std::move(bo), pages, shared);
    }

    xrt::device device_;
    xrt::xclbin xclbin_;
    xrt::uuid uuid_;
    xrt::ip ip_;
    xrt::xclbin::ip unit_;
    std::vector<std::pair<uint64_t, uint64_t>> taken_;
    std::vector<xrt::bo> given_;

    // A pseudo-channel of HBM; the memory of the argument where the platform does not name them.
    xrt::xclbin::mem channel(const std::string &argument, uint32_t number) const {
        const std::string tag = "HBM[" + std::to_string(number) + "]";
        for (const auto &memory : xclbin_.get_mems())
            if (memory.get_tag() == tag) return memory;
        return memory_of(argument);
    }

    // The memory bank of an argument: of several the group of all, which is the largest.
    xrt::xclbin::mem memory_of(const std::string &argument) const {
        for (const auto &arg : unit_.get_args()) {
            if (arg.get_name() != argument) continue;
            auto mems = arg.get_mems();
            if (mems.empty()) throw std::runtime_error("argument " + argument + " is connected to no memory");
            return *std::max_element(mems.begin(), mems.end(), [](const auto &a, const auto &b) { return a.get_size_kb() < b.get_size_kb(); });
        }
        throw std::runtime_error("the kernel has no argument " + argument);
    }
};

}  // namespace meshkv
