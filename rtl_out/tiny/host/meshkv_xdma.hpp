// A card without a shell: the same as through XRT, by the character devices of AMD's driver of XDMA. The card's memory has no
// other owner, so places of buffers are found here.
#pragma once
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "meshkv_cache.hpp"
#include "meshkv_registers.h"
#include "meshkv_streams.hpp"
#include "meshkv_xdma_files.hpp"

// Calls of the operating system by which the library reaches the card.
#ifndef MESHKV_XDMA_CALLS
#define MESHKV_XDMA_CALLS meshkv::LinuxCalls
#endif

namespace meshkv {

// Bytes of HBM from one up to another.
struct Room {
    uint64_t first, end;
};

// The channels of a port, where its part of the cache belongs.
inline Room room_of(const Channels &channels) {
    return {uint64_t{channels.first} * MESHKV_CHANNEL_BYTES, uint64_t{channels.first + channels.count} * MESHKV_CHANNEL_BYTES};
}

// The same behind the part of the cache, whether or not that has been placed.
inline Room room_behind_cache(uint32_t port) {
    const Room all = room_of(channels_of_port(port));
    return {std::min(all.first + part_of_port(port).bytes, all.end), all.end};
}

// Places that are taken. Each begins at a multiple of MESHKV_BUFFER_ALIGN, and ends at one.
class Places {
public:
    static uint64_t aligned(uint64_t bytes) { return (bytes + MESHKV_BUFFER_ALIGN - 1) / MESHKV_BUFFER_ALIGN * MESHKV_BUFFER_ALIGN; }

    // Bytes of the largest piece of a room that is free.
    uint64_t largest(const Room &room) const {
        uint64_t most = 0;
        for (const Room &one : free_in(room)) most = std::max(most, one.end - one.first);
        return most;
    }

    // Takes the beginning of a room's first free piece that is large enough. False if none is.
    bool take(const Room &room, uint64_t bytes, uint64_t &place) {
        for (const Room &one : free_in(room)) {
            if (one.end - one.first < aligned(bytes)) continue;
            place = one.first;
            taken_[place] = place + aligned(bytes);
            return true;
        }
        return false;
    }

private:
    std::map<uint64_t, uint64_t> taken_;  // End by first byte.

    std::vector<Room> free_in(const Room &room) const {
        std::vector<Room> all;
        uint64_t at = aligned(room.first);
        for (const auto &[first, end] : taken_) {
            if (end <= at) continue;
            if (first >= room.end) break;
            if (first > at) all.push_back({at, first});
            at = end;
        }
        if (at < room.end) all.push_back({at, room.end});
        return all;
    }
};

// A buffer of the card, with the host's copy of it. Both begin at a page: the driver refuses a transfer between places that
// differ within a beat of its bus.
template <typename Calls>
class XdmaBuffer {
public:
    XdmaBuffer(std::shared_ptr<XdmaFiles<Calls>> files, uint64_t address, uint64_t bytes, const std::string &what)
        : files_(std::move(files)), address_(address), bytes_(bytes) {
        void *const copy = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (copy == MAP_FAILED) throw std::runtime_error("the host has no " + std::to_string(bytes >> 20) + " MiB for its copy of " + what + ": " + std::strerror(errno));
        data_ = std::unique_ptr<uint8_t, Unmap>(static_cast<uint8_t *>(copy), Unmap{bytes});
    }

    uint8_t *data() { return data_.get(); }
    const uint8_t *data() const { return data_.get(); }
    bool shared() const { return false; }
    uint64_t address() const { return address_; }

    // Copies bytes to the card, or from it; a transfer begins and ends at multiples of 64, beats of the bus.
    void to_card(uint64_t first, uint64_t count) {
        const Room beats = whole_beats(first, count);
        files_->to_card(address_ + beats.first, data() + beats.first, beats.end - beats.first);
    }
    void from_card(uint64_t first, uint64_t count) {
        const Room beats = whole_beats(first, count);
        files_->from_card(address_ + beats.first, data() + beats.first, beats.end - beats.first);
    }

private:
    struct Unmap {
        uint64_t bytes;
        void operator()(uint8_t *at) const { ::munmap(at, bytes); }
    };

    std::shared_ptr<XdmaFiles<Calls>> files_;
    uint64_t address_, bytes_;
    std::unique_ptr<uint8_t, Unmap> data_;

    Room whole_beats(uint64_t first, uint64_t count) const { return {first / 64 * 64, std::min(bytes_, (first + count + 63) / 64 * 64)}; }
};

template <typename Calls>
class XdmaCardBy {
public:
    using Buffer = XdmaBuffer<Calls>;

    // `prefix` names the card, as /dev/xdma0.
    XdmaCardBy(const std::string &prefix, unsigned index) : files_(std::make_shared<XdmaFiles<Calls>>(named(prefix, index))) {
        const uint32_t magic = read(MESHKV_MAGIC);
        if (magic == MESHKV_MAGIC_VALUE) return;
        char text[64];
        std::snprintf(text, sizeof text, "_user reads 0x%08x at MAGIC, not 0x%08x: ", magic, MESHKV_MAGIC_VALUE);
        // PCIe reads ones where nobody answers.
        throw std::runtime_error(prefix + text + (magic == ~0u ? "the card does not answer" : "this is no meshkv") +
                                 "; load the bitstream of the system (make system), scan PCIe again and load the driver again");
    }

    // Registers, for Driver.
    uint32_t read(uint32_t offset) const { return files_->read(offset); }
    void write(uint32_t offset, uint32_t value) { files_->write(offset, value); }

    // User interrupt 0, the device's.
    class Line {
    public:
        explicit Line(std::shared_ptr<XdmaFiles<Calls>> files) : files_(std::move(files)) {}
        // Forgets one that came before.
        void enable() { files_->wait(std::chrono::milliseconds(0)); }
        void disable() {}
        void wait(std::chrono::milliseconds limit) { files_->wait(limit); }

    private:
        std::shared_ptr<XdmaFiles<Calls>> files_;
    };
    Line interrupt() { return Line(files_); }

    // A buffer for an argument: behind the cache, in the first channels that have room. All masters reach all channels.
    Buffer allocate(const std::string &, uint64_t bytes, const std::string &what) {
        uint64_t place = 0, most = 0;
        for (uint32_t port = 0; port < MESHKV_PORTS; ++port) {
            const Room room = room_behind_cache(port);
            if (places_.take(room, bytes, place)) return made(place, bytes, what);
            most = std::max(most, places_.largest(room));
        }
        throw too_large(what, bytes, "behind the cache HBM has", most);
    }

    // A buffer in pseudo-channels of HBM, from the beginning of the first.
    Buffer allocate(const std::string &, const Channels &channels, uint64_t bytes, const std::string &what) {
        uint64_t place = 0;
        const Room room = room_of(channels);
        if (places_.take(room, bytes, place)) return made(place, bytes, what);
        const std::string of = "its pseudo-channels " + std::to_string(channels.first) + " to " + std::to_string(channels.first + channels.count - 1) + " of HBM have";
        throw too_large(what, bytes, of, places_.largest(room));
    }

    // Keeps the card for the rest of the process: its lock, so that nobody is given memory that the device may write yet.
    void keep() {
        static auto &kept = *new std::vector<std::shared_ptr<XdmaFiles<Calls>>>;
        kept.push_back(files_);
    }

private:
    std::shared_ptr<XdmaFiles<Calls>> files_;
    Places places_;

    static std::string named(const std::string &prefix, unsigned index) {
        const std::string kind = ".xclbin";
        if (prefix.size() >= kind.size() && prefix.compare(prefix.size() - kind.size(), kind.size(), kind) == 0)
            throw Refused(prefix + " is a bitstream for XRT, and this library is built for the driver of XDMA: name the card, as /dev/xdma0, or use the library of `make host`");
        if (index) throw Refused("card " + std::to_string(index) + " of " + prefix + ": the path names the card, so leave its number out");
        return prefix;
    }

    Buffer made(uint64_t place, uint64_t bytes, const std::string &what) { return Buffer(files_, place, Places::aligned(bytes), what); }

    static Refused too_large(const std::string &what, uint64_t bytes, const std::string &of, uint64_t most) {
        return Refused(what + " takes " + std::to_string(Places::aligned(bytes) >> 10) + " KiB, and " + of + " " + std::to_string(most >> 10) +
                       " KiB in one piece: lower model.max_tokens, model.max_streams or model.layers of the configuration and generate again");
    }
};

using XdmaCard = XdmaCardBy<MESHKV_XDMA_CALLS>;

}  // namespace meshkv
