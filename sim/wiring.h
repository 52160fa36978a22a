// Helpers of the generated glue.h: copies between pins of verilated pieces and packed ports.
#ifndef MESHKV_WIRING_H
#define MESHKV_WIRING_H

#include "bits.h"
#include "dut_config.h"
#include "verilated.h"

namespace meshkv {

// Words of a tile's record of its links: see meshkv_links.
constexpr std::size_t kLinkWords =
    MESHKV_PORTS * (1 + words_for(MESHKV_HEAD_WIDTH) + words_for(MESHKV_DEST_WIDTH));

// Copies tile t's W bits of a packed port to the pin of the tile.
template <unsigned W, class T>
void get(const uint32_t* port, std::size_t t, T& pin) {
    static_assert(W <= 8 * sizeof(T), "a pin narrower than its port");
    uint32_t words[2] = {0, 0};
    get_slice(port, t * W, W, words);
    pin = static_cast<T>(words[0] | static_cast<uint64_t>(words[1]) << 32);
}
template <unsigned W, std::size_t N>
void get(const uint32_t* port, std::size_t t, VlWide<N>& pin) {
    static_assert(words_for(W) == N, "a pin of another width than its port");
    get_slice(port, t * W, W, pin.data());
}

// Writes a part of a word whose other bits another thread may be writing.
inline void put_part(uint32_t* word, uint32_t mask, uint32_t value) {
    const uint32_t change = (__atomic_load_n(word, __ATOMIC_RELAXED) ^ value) & mask;
    if (change != 0) __atomic_fetch_xor(word, change, __ATOMIC_RELAXED);
}

// Copies the pin of tile t to its W bits of a packed port.
template <unsigned W, class T>
void put(uint32_t* port, std::size_t t, const T& pin) {
    static_assert(W <= 8 * sizeof(T), "a pin narrower than its port");
    uint64_t value = pin;
    std::size_t at = t * W;
    for (unsigned left = W; left > 0;) {
        const unsigned shift = at % 32;
        const unsigned take = left < 32 - shift ? left : 32 - shift;
        const uint32_t mask = static_cast<uint32_t>(((uint64_t{1} << take) - 1) << shift);
        put_part(port + at / 32, mask, static_cast<uint32_t>(value << shift));
        value >>= take;
        at += take;
        left -= take;
    }
}
template <unsigned W, std::size_t N>
void put(uint32_t* port, std::size_t t, const VlWide<N>& pin) {
    static_assert(words_for(W) == N, "a pin of another width than its port");
    if (W % 32 == 0) {
        std::memcpy(port + t * N, pin.data(), sizeof pin);
        return;
    }
    for (unsigned w = 0; w < N; ++w) {
        const unsigned bits = w + 1 < N ? 32 : W - 32 * (N - 1);
        const unsigned shift = (t * W) % 32;
        uint32_t* word = port + (t * W) / 32 + w;
        const uint64_t mask = ((uint64_t{1} << bits) - 1) << shift;
        const uint64_t value = static_cast<uint64_t>(pin.data()[w]) << shift;
        put_part(word, static_cast<uint32_t>(mask), static_cast<uint32_t>(value));
        if (mask >> 32 != 0)
            put_part(word + 1, static_cast<uint32_t>(mask >> 32), static_cast<uint32_t>(value >> 32));
    }
}

// True if a pin, such as the valid of a bundle, has a bit set.
template <class T>
bool any(const T& pin) {
    return pin != 0;
}
template <std::size_t N>
bool any(const VlWide<N>& pin) {
    uint32_t all = 0;
    for (std::size_t w = 0; w < N; ++w) all |= pin.data()[w];
    return all != 0;
}

// Inverts a bit of a pin.
template <class T>
void invert(T& pin, unsigned bit) {
    pin ^= static_cast<T>(T{1} << bit);
}
template <std::size_t N>
void invert(VlWide<N>& pin, unsigned bit) {
    pin.data()[bit / 32] ^= uint32_t{1} << bit % 32;
}

template <class T>
void clear(T& pin) {
    pin = 0;
}
template <std::size_t N>
void clear(VlWide<N>& pin) {
    std::memset(pin.data(), 0, N * sizeof(uint32_t));
}

// Stands in for the periphery where there are only tiles.
struct Nothing {
    Nothing(VerilatedContext*, const char*) {}
    void eval() {}
    void final() {}
    CData clk = 0;
    CData rst = 0;
};

}  // namespace meshkv

#endif
