// The card of a program, and the cache in its memory. A program that is compiled with MESHKV_XDMA reaches a card without a shell,
// through AMD's driver of XDMA. Any other reaches one with a shell, through XRT.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "meshkv_cache.hpp"
#include "meshkv_paged_streams.hpp"
#ifdef MESHKV_XDMA
#include "meshkv_xdma.hpp"
#else
#include "meshkv_xrt.hpp"
#endif

namespace meshkv {

static_assert(MESHKV_BUFFER_ALIGN % MESHKV_HBM_ALIGN == 0, "buffers are aligned as ports need it");

// A card has `read` and `write` of registers for Driver, `allocate` of buffers, `interrupt`, and `keep`: buffers are never freed.
#ifdef MESHKV_XDMA
using Card = XdmaCard;
#else
using Card = XrtCard;
#endif
using Buffer = Card::Buffer;

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
                       MESHKV_TOKEN_SCALES ? scales + done : nullptr, here);
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
