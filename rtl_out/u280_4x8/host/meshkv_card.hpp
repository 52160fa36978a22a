// A card through XRT: the registers of the kernel, and buffers in the memories to which its arguments are connected.
#pragma once
#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "experimental/xrt_ip.h"
#include "experimental/xrt_xclbin.h"
#include "xrt/xrt_bo.h"
#include "xrt/xrt_device.h"

#include "meshkv_cache.hpp"
#include "meshkv_paged_streams.hpp"

namespace meshkv {

constexpr const char *KERNEL = "meshkv_top";
static_assert(MESHKV_BUFFER_ALIGN % MESHKV_HBM_ALIGN == 0, "buffers are aligned as ports need it");

// A buffer of the card, with the host's copy of it.
class Buffer {
public:
    Buffer(xrt::bo bo, uint64_t bytes) : bo_(std::move(bo)), bytes_(bytes), data_(bo_.map<uint8_t *>()) {}

    uint8_t *data() { return data_; }
    uint64_t address() const { return bo_.address(); }

    // Copies bytes to the card, or from it; a transfer begins and ends at multiples of 64.
    void to_card(uint64_t first, uint64_t count) { sync(XCL_BO_SYNC_BO_TO_DEVICE, first, count); }
    void from_card(uint64_t first, uint64_t count) { sync(XCL_BO_SYNC_BO_FROM_DEVICE, first, count); }

private:
    xrt::bo bo_;
    uint64_t bytes_;
    uint8_t *data_;

    void sync(xclBOSyncDirection way, uint64_t first, uint64_t count) {
        const uint64_t begin = first / 64 * 64, end = std::min(bytes_, (first + count + 63) / 64 * 64);
        bo_.sync(way, end - begin, begin);
    }
};

class Card {
public:
    Card(const std::string &path, unsigned index)
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
        // Memory of the host has no copy on the card (XRT, Host Memory Access).
        const auto kind = memory.get_tag().rfind("HOST", 0) == 0 ? xrt::bo::flags::host_only : xrt::bo::flags::normal;
        xrt::bo bo(device_, pages, kind, static_cast<xrt::memory_group>(memory.get_index()));
        const uint64_t first = bo.address();
        if (first % MESHKV_BUFFER_ALIGN)
            throw std::runtime_error(what + " lies at " + std::to_string(first) + " on the card, which is no multiple of " + std::to_string(MESHKV_BUFFER_ALIGN));
        for (const auto &one : taken_)
            if (first < one.second && one.first < first + pages) throw std::runtime_error(what + " overlaps another buffer on the card");
        taken_.emplace_back(first, first + pages);
        return Buffer(std::move(bo), pages);
    }

    xrt::device device_;
    xrt::xclbin xclbin_;
    xrt::uuid uuid_;
    xrt::ip ip_;
    xrt::xclbin::ip unit_;
    std::vector<std::pair<uint64_t, uint64_t>> taken_;

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

// The cache: a buffer for each memory port, in pseudo-channels of its own, so that all channels work side by side.
class Cache {
public:
    // `place` is the number under which the memory has a segment of a stream.
    using Place = std::function<uint32_t(uint32_t stream, uint32_t segment)>;

    explicit Cache(Card &card, Place place = [](uint32_t, uint32_t segment) { return segment; }) : place_(std::move(place)) {
        for (uint32_t port = 0; port < MESHKV_PORTS; ++port) {
            const Part part = part_of_port(port);
            if (part.bytes == 0) continue;
            const std::string number = std::to_string(port), argument = "hbm" + std::string(number.size() < 2 ? "0" : "") + number;
            Buffer buffer = card.allocate(argument, channels_of_port(port), part.bytes, "the part of the cache of port " + number);
            parts_[part.first] = std::make_unique<Placed>(Placed{part.first, std::move(buffer)});
        }
    }

    // Bytes that the host has changed and the card does not have, by the first byte of their part.
    using Changes = std::vector<std::pair<uint64_t, Range>>;

    // Reads what the device has written since into slices that tokens are put into, as far as they have other tokens.
    void refresh(uint32_t stream, uint32_t layer, uint32_t head, uint32_t first, uint32_t tokens) {
        if (!DEVICE_APPENDS || first % MESHKV_SEGMENT_TOKENS == 0) return;
        by_segment(stream, layer, head, first, std::min(tokens, 1u), [](Placed &part, uint64_t at, uint32_t, uint32_t, uint32_t) { part.buffer.from_card(at, MESHKV_SLICE_BYTES); });
    }

    // Puts tokens of a KV head into the host's copy of the cache of a stream, from token `first` of the layer on: rows of K and
    // of V, and their scales where tokens have some. Returns what `flush` is to bring to the card. Threads may do so for
    // different KV heads.
    Changes put(uint32_t stream, uint32_t layer, uint32_t head, uint32_t first, const Element *keys, const Element *values, const TokenScales *scales,
                uint32_t tokens) const {
        Changes changes;
        by_segment(stream, layer, head, first, tokens, [&](Placed &part, uint64_t at, uint32_t row, uint32_t done, uint32_t here) {
            put_tokens(reinterpret_cast<Element *>(part.buffer.data() + at), row, keys + size_t{done} * MESHKV_HEAD_DIM, values + size_t{done} * MESHKV_HEAD_DIM,
                       scales + done, here);
            const auto changed = [&](const Range &range) { changes.push_back({part.first, {at + range.first * sizeof(Element), range.count * sizeof(Element)}}); };
            changed(keys_of(row, here));
            changed(values_of(row, here));
            if (MESHKV_TOKEN_SCALES) changed(scales_of(row, here));
        });
        return changes;
    }

    // Brings changes to the card, those that touch each other in one transfer: slices of a home lie side by side.
    void flush(Changes changes) {
        std::sort(changes.begin(), changes.end(), [](const auto &a, const auto &b) { return std::make_pair(a.first, a.second.first) < std::make_pair(b.first, b.second.first); });
        for (size_t at = 0; at < changes.size();) {
            const uint64_t part = changes[at].first;
            const size_t first = changes[at].second.first;
            size_t end = first;
            for (; at < changes.size() && changes[at].first == part && (changes[at].second.first <= end || end == first); ++at)
                end = std::max(end, changes[at].second.first + changes[at].second.count);
            parts_.at(part)->buffer.to_card(first, end - first);
        }
    }

    // Reads them back.
    void get(uint32_t stream, uint32_t layer, uint32_t head, uint32_t first, Element *keys, Element *values, TokenScales *scales, uint32_t tokens) {
        by_segment(stream, layer, head, first, tokens, [&](Placed &part, uint64_t at, uint32_t row, uint32_t done, uint32_t here) {
            if (DEVICE_APPENDS) part.buffer.from_card(at, MESHKV_SLICE_BYTES);
            get_tokens(reinterpret_cast<const Element *>(part.buffer.data() + at), row, keys + size_t{done} * MESHKV_HEAD_DIM, values + size_t{done} * MESHKV_HEAD_DIM,
                       scales + done, here);
        });
    }

    // Copies all slices of a layer in a page to another.
    void copy(uint32_t layer, uint32_t from, uint32_t to) {
        for (uint32_t head = 0; head < MESHKV_KV_HEADS; ++head) {
            const auto [source, first] = at(slice_address(0, layer, from, head));
            const auto [target, second] = at(slice_address(0, layer, to, head));
            if (DEVICE_APPENDS) source->buffer.from_card(first, MESHKV_SLICE_BYTES);
            std::memcpy(target->buffer.data() + second, source->buffer.data() + first, MESHKV_SLICE_BYTES);
            target->buffer.to_card(second, MESHKV_SLICE_BYTES);
        }
    }

    // Base address of a port: what the fabric has at byte n of the port's part is at base + n. Any buffer serves a port that
    // has no home.
    uint64_t base(uint32_t port) const {
        const auto found = parts_.find(part_of_port(port).first);
        const Placed &placed = *(found == parts_.end() ? parts_.begin() : found)->second;
        return placed.buffer.address() - placed.first;
    }

private:
    // The buffer of a part, by the part's first byte.
    struct Placed {
        uint64_t first;
        Buffer buffer;
    };
    std::map<uint64_t, std::unique_ptr<Placed>> parts_;
    Place place_;

    // The part with an address, and the place there.
    std::pair<Placed *, uint64_t> at(uint64_t address) const {
        Placed &part = *std::prev(parts_.upper_bound(address), 1)->second;
        return {&part, address - part.first};
    }

    // Calls `act` with each slice of these tokens: its part and place there, its first token, tokens done, tokens here.
    template <typename Act>
    void by_segment(uint32_t stream, uint32_t layer, uint32_t head, uint32_t first, uint32_t tokens, const Act &act) const {
        for (uint32_t done = 0; done < tokens;) {
            const uint32_t token = first + done, row = token % MESHKV_SEGMENT_TOKENS;
            const uint32_t here = std::min(tokens - done, MESHKV_SEGMENT_TOKENS - row);
            const uint32_t place = place_(stream, token / MESHKV_SEGMENT_TOKENS);
            const auto [part, first_byte] = at(slice_address(PAGED ? 0 : stream, layer, place, head));
            act(*part, first_byte, row, done, here);
            done += here;
        }
    }
};

}  // namespace meshkv
