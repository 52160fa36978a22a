// Layout of keys and values in the memory of the card, as the fabric reads them. Constants: sw/meshkv_shape.h.
//
// A slice is the keys and values of one KV head in one segment: MESHKV_HALF_FLITS flits of keys, row after row, then
// as many of values. Values are transposed in blocks of as many tokens as a flit has elements: a flit for each dim of
// a block.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "meshkv_shape.h"

namespace meshkv {

// Home tile of a segment of a layer before any swap, y * COLS + x.
inline uint32_t home(uint64_t layer, uint64_t segment) {
    const uint64_t cols = MESHKV_COLS, rows = MESHKV_ROWS;
    switch (MESHKV_PLACEMENT) {
    case MESHKV_PLACEMENT_TAKV: {
        const uint64_t x = (layer + MESHKV_COLUMN_STRIDE * (segment / rows)) % cols;
        const uint64_t y = (MESHKV_ROW_STRIDE * layer + segment) % rows;
        return static_cast<uint32_t>(y * cols + x);
    }
    case MESHKV_PLACEMENT_ROUND_ROBIN: return static_cast<uint32_t>((layer * MESHKV_MAX_SEGMENTS + segment) % (cols * rows));
    default: return 0;  // One home has all memory.
    }
}

// Index of a segment among those of its home.
inline uint64_t block(uint64_t layer, uint64_t segment) {
    const uint64_t cols = MESHKV_COLS, rows = MESHKV_ROWS, segments = MESHKV_MAX_SEGMENTS;
    switch (MESHKV_PLACEMENT) {
    case MESHKV_PLACEMENT_TAKV: return layer / cols * ((segments + rows - 1) / rows) + segment / rows;
    case MESHKV_PLACEMENT_ROUND_ROBIN: return (layer * segments + segment) / (cols * rows);
    default: return layer * segments + segment;
    }
}

// Bytes of memory that a home has for itself, all streams.
inline uint64_t region_bytes() {
    return uint64_t{MESHKV_MAX_STREAMS} * MESHKV_BLOCKS_OF_HOME * MESHKV_KV_HEADS * MESHKV_SLICE_BYTES;
}

// First byte of a slice, counted from the first home.
inline uint64_t slice_address(uint64_t stream, uint64_t layer, uint64_t segment, uint64_t kv_head) {
    const uint64_t region = home(layer, segment) * uint64_t{MESHKV_MAX_STREAMS} + stream;
    return ((region * MESHKV_BLOCKS_OF_HOME + block(layer, segment)) * MESHKV_KV_HEADS + kv_head) * MESHKV_SLICE_BYTES;
}

// Tiles behind a memory port: neighbours of a row; the last port of a row has the remaining ones.
struct PortTiles {
    uint32_t first;
    uint32_t count;
};

inline PortTiles tiles_of_port(uint32_t port) {
    const uint32_t most = MESHKV_TILES_PER_PORT, of_row = (MESHKV_COLS + most - 1) / most;
    const uint32_t y = port / of_row, x = port % of_row * most;
    return {y * MESHKV_COLS + x, x + most <= MESHKV_COLS ? most : MESHKV_COLS - x};
}

// A slice in the layout of memory. `keys` and `values` are `tokens` rows of HEAD_DIM elements of FP16; the rest of a
// segment is zeros.
inline std::vector<uint16_t> slice(const uint16_t *keys, const uint16_t *values, size_t tokens) {
    const size_t dims = MESHKV_HEAD_DIM, lanes = MESHKV_FLIT_BYTES / 2, half = size_t{MESHKV_HALF_FLITS} * lanes;
    std::vector<uint16_t> words(2 * half, 0);
    std::memcpy(words.data(), keys, tokens * dims * sizeof(uint16_t));
    for (size_t token = 0; token < tokens; ++token)
        for (size_t dim = 0; dim < dims; ++dim)
            words[half + (token / lanes * dims + dim) * lanes + token % lanes] = values[token * dims + dim];
    return words;
}

}  // namespace meshkv
