// Slices of packed ports: `width` bits at any offset of an array of words.
#ifndef MESHKV_BITS_H
#define MESHKV_BITS_H

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace meshkv {

constexpr std::size_t words_for(std::size_t bits) { return (bits + 31) / 32; }

inline bool get_bit(const uint32_t* words, std::size_t bit) {
    return (words[bit / 32] >> (bit % 32) & 1) != 0;
}

inline void set_bit(uint32_t* words, std::size_t bit) { words[bit / 32] |= 1u << (bit % 32); }

// Writes bits [offset +: width] of `to`. Payloads are multiples of 64 bits and take the first,
// aligned path; only headers and destinations need shifts.
inline void put_slice(uint32_t* to, std::size_t offset, std::size_t width, const uint32_t* from) {
    if (offset % 32 == 0 && width % 32 == 0) {
        std::memcpy(to + offset / 32, from, width / 8);
        return;
    }
    for (std::size_t done = 0; done < width;) {
        const std::size_t at = offset + done;
        const unsigned shift = at % 32;
        // Up to the end of the target word or of the source word, whichever is first.
        std::size_t take = 32 - shift;
        if (take > 32 - done % 32) take = 32 - done % 32;
        if (take > width - done) take = width - done;
        const uint32_t mask = take == 32 ? ~0u : ((1u << take) - 1);
        const uint32_t value = from[done / 32] >> (done % 32) & mask;
        to[at / 32] = (to[at / 32] & ~(mask << shift)) | value << shift;
        done += take;
    }
}

// Reads bits [offset +: width] of `from` into words_for(width) words; unused bits are zero.
inline void get_slice(const uint32_t* from, std::size_t offset, std::size_t width, uint32_t* to) {
    if (offset % 32 == 0 && width % 32 == 0) {
        std::memcpy(to, from + offset / 32, width / 8);
        return;
    }
    const unsigned shift = offset % 32;
    const uint32_t* word = from + offset / 32;
    for (std::size_t done = 0; done < width; done += 32, ++word, ++to) {
        const std::size_t left = width - done;
        uint64_t value = word[0] >> shift;
        // The next word is read only if the slice reaches into it: it may not exist.
        if (shift + (left < 32 ? left : 32) > 32) value |= static_cast<uint64_t>(word[1]) << (32 - shift);
        *to = static_cast<uint32_t>(value) & (left < 32 ? (1u << left) - 1 : ~0u);
    }
}

}  // namespace meshkv

#endif
