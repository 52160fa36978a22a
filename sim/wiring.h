// What the generated tile_ports.h is written with: ports of verilated tiles and packed words.
#ifndef MESHKV_WIRING_H
#define MESHKV_WIRING_H

#include "bits.h"
#include "verilated.h"

namespace meshkv {

// Tile t's W bits of a packed port to the pin of the tile.
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

// The pin of tile t to its W bits of a packed port.
template <unsigned W, class T>
void put(uint32_t* port, std::size_t t, const T& pin) {
    static_assert(W <= 8 * sizeof(T), "a pin narrower than its port");
    const uint32_t words[2] = {static_cast<uint32_t>(pin),
                               static_cast<uint32_t>(static_cast<uint64_t>(pin) >> 32)};
    put_slice(port, t * W, W, words);
}
template <unsigned W, std::size_t N>
void put(uint32_t* port, std::size_t t, const VlWide<N>& pin) {
    static_assert(words_for(W) == N, "a pin of another width than its port");
    put_slice(port, t * W, W, pin.data());
}

template <class T>
void clear(T& pin) {
    pin = 0;
}
template <std::size_t N>
void clear(VlWide<N>& pin) {
    std::memset(pin.data(), 0, N * sizeof(uint32_t));
}

}  // namespace meshkv

#endif
