// Layout of keys and values in the memory of the card, as the fabric reads them. Constants: sw/meshkv_shape.h.
//
// A slice is the keys and values of one KV head in one segment: MESHKV_HALF_FLITS flits of keys, row after row, then
// as many of values. Values are transposed in blocks of as many tokens as a flit has elements: a flit for each dim of
// a block. Where tokens have scales they come first, four bytes a token, and keys begin at flit MESHKV_KEY_BASE.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "meshkv_numbers.hpp"
#include "meshkv_transpose.hpp"

namespace meshkv {

static_assert(MESHKV_HEAD_DIM <= MESHKV_ROW_ELEMENTS, "a row holds a head");

// Copies heads without gaps into rows of memory, which zeros fill up.
template <typename To, typename Element>
void fill_rows(To *to, const Element *heads, size_t count) {
    if (MESHKV_ROW_ELEMENTS == MESHKV_HEAD_DIM) {
        std::memcpy(to, heads, count * MESHKV_HEAD_DIM * sizeof(Element));
        return;
    }
    for (size_t head = 0; head < count; ++head) {
        auto *row = reinterpret_cast<unsigned char *>(to) + head * MESHKV_ROW_ELEMENTS * sizeof(Element);
        std::memcpy(row, heads + head * MESHKV_HEAD_DIM, MESHKV_HEAD_DIM * sizeof(Element));
        std::memset(row + MESHKV_HEAD_DIM * sizeof(Element), 0, (MESHKV_ROW_ELEMENTS - MESHKV_HEAD_DIM) * sizeof(Element));
    }
}

// Copies rows of memory to heads without gaps.
template <typename Element, typename From>
void take_rows(Element *heads, const From *from, size_t count) {
    if (MESHKV_ROW_ELEMENTS == MESHKV_HEAD_DIM) {
        std::memcpy(heads, from, count * MESHKV_HEAD_DIM * sizeof(Element));
        return;
    }
    for (size_t head = 0; head < count; ++head) {
        const auto *row = reinterpret_cast<const unsigned char *>(from) + head * MESHKV_ROW_ELEMENTS * sizeof(Element);
        std::memcpy(heads + head * MESHKV_HEAD_DIM, row, MESHKV_HEAD_DIM * sizeof(Element));
    }
}

// Numbers that the placement knows: those of the segments of a cache, or of the pages of all; and caches that have numbers of
// their own.
constexpr uint64_t PLACES = MESHKV_PAGES ? MESHKV_PAGES : MESHKV_MAX_SEGMENTS;
constexpr uint64_t NUMBERED_CACHES = MESHKV_PAGES ? 1 : MESHKV_MAX_STREAMS;

// Region of memory of a slice's home before any swap. With pages `segment` is the page, and `stream` is 0. Regions are numbered along the rows of tiles; a row has a whole
// number of ports.
inline uint64_t region(uint64_t stream, uint64_t layer, uint64_t segment, uint64_t kv_head) {
    const uint64_t cols = MESHKV_COLS, rows = MESHKV_ROWS;
    uint64_t x = MESHKV_HUB_X, y = MESHKV_HUB_Y;  // One home has all memory.
    if (MESHKV_PLACEMENT == MESHKV_PLACEMENT_TAKV) {
        x = (layer + MESHKV_COLUMN_STRIDE * (segment / rows)) % cols;
        y = (MESHKV_ROW_STRIDE * layer + segment) % rows;
    } else if (MESHKV_PLACEMENT == MESHKV_PLACEMENT_ROUND_ROBIN) {
        const uint64_t number = layer * PLACES + segment;
        x = number % cols;
        y = number / cols % rows;
    } else if (MESHKV_PLACEMENT == MESHKV_PLACEMENT_SLICE) {
        // The column that computes the KV head. KV heads of a column and caches begin in rows of their own.
        x = kv_head / MESHKV_BLOCK_SLICES;
        const uint64_t turn = kv_head % MESHKV_BLOCK_SLICES * rows / MESHKV_BLOCK_SLICES;
        y = (MESHKV_ROW_STRIDE * layer + segment + turn + stream) % rows;
    }
    return y * MESHKV_ROW_REGIONS + x;
}

// Index of a segment among those of its home, or of its homes in each column.
inline uint64_t block(uint64_t layer, uint64_t segment) {
    const uint64_t cols = MESHKV_COLS, rows = MESHKV_ROWS, segments = PLACES;
    switch (MESHKV_PLACEMENT) {
    case MESHKV_PLACEMENT_TAKV: return layer / cols * ((segments + rows - 1) / rows) + segment / rows;
    case MESHKV_PLACEMENT_ROUND_ROBIN: return (layer * segments + segment) / (cols * rows);
    case MESHKV_PLACEMENT_SLICE: return layer * ((segments + rows - 1) / rows) + segment / rows;
    default: return layer * segments + segment;
    }
}

// Bytes of memory that a home has for itself, all streams.
inline uint64_t region_bytes() {
    return NUMBERED_CACHES * MESHKV_BLOCKS_OF_HOME * MESHKV_BLOCK_SLICES * MESHKV_SLICE_BYTES;
}

// Address of a slice as the fabric has it: the region of its home, and a byte of it.
inline uint64_t slice_address(uint64_t stream, uint64_t layer, uint64_t segment, uint64_t kv_head) {
    const uint64_t first = (stream * MESHKV_BLOCKS_OF_HOME + block(layer, segment)) * MESHKV_BLOCK_SLICES;
    const uint64_t local = first + kv_head % MESHKV_BLOCK_SLICES;
    return region(stream, layer, segment, kv_head) << MESHKV_REGION_WIDTH | local * MESHKV_SLICE_BYTES;
}

// The part of the memory of a port: from its first byte on, as the fabric has it.
struct Part {
    uint64_t first;
    uint64_t bytes;  // 0: no home is behind the port.
};

inline Part part_of_port(uint32_t port) {
    const uint32_t tiles = MESHKV_TILES_PER_PORT, of_row = MESHKV_ROW_REGIONS / tiles, column = port % of_row * tiles;
    uint64_t first = uint64_t{port} * tiles, homes = column + tiles <= MESHKV_COLS ? tiles : MESHKV_COLS - column;
    if (MESHKV_PLACEMENT == MESHKV_PLACEMENT_HUB) {
        const uint64_t hub = region(0, 0, 0, 0);
        homes = hub / tiles == port;
        first = homes ? hub : first;
    }
    return {first << MESHKV_REGION_WIDTH, homes ? ((homes - 1) << MESHKV_REGION_WIDTH) + region_bytes() : 0};
}

// Pseudo-channels of HBM in which the part of a port lies: ports are spread evenly over them.
struct Channels {
    uint32_t first;
    uint32_t count;
};

inline Channels channels_of_port(uint32_t port) {
    const uint32_t first = port * MESHKV_CHANNELS / MESHKV_PORTS;
    return {first, (port + 1) * MESHKV_CHANNELS / MESHKV_PORTS - first};
}

// Elements of a slice, with the places of scales.
inline size_t slice_elements() { return (2 * size_t{MESHKV_HALF_FLITS} + MESHKV_KEY_BASE) * (MESHKV_FLIT_BYTES / sizeof(Element)); }

// Elements before the first key, and before the first value.
constexpr size_t KEYS_AT = size_t{MESHKV_KEY_BASE} * (MESHKV_FLIT_BYTES / sizeof(Element));
constexpr size_t VALUES_AT = KEYS_AT + size_t{MESHKV_HALF_FLITS} * (MESHKV_FLIT_BYTES / sizeof(Element));

// Elements of a run of memory, within a slice.
struct Range {
    size_t first;
    size_t count;
};

// Where the keys of tokens lie: row after row.
inline Range keys_of(size_t first, size_t tokens) { return {KEYS_AT + first * MESHKV_ROW_ELEMENTS, tokens * MESHKV_ROW_ELEMENTS}; }

// Where the scales of tokens lie, in elements.
inline Range scales_of(size_t first, size_t tokens) {
    constexpr size_t each = sizeof(TokenScales) / sizeof(Element);
    return {first * each, tokens * each};
}

// The blocks in which the values of tokens lie, whole.
inline Range values_of(size_t first, size_t tokens) {
    const size_t lanes = MESHKV_FLIT_BYTES / sizeof(Element), block = first / lanes, end = (first + tokens + lanes - 1) / lanes;
    return {VALUES_AT + block * MESHKV_ROW_ELEMENTS * lanes, (end - block) * MESHKV_ROW_ELEMENTS * lanes};
}

// The element of a value.
inline size_t value_at(size_t token, size_t dim) {
    const size_t dims = MESHKV_ROW_ELEMENTS, lanes = MESHKV_FLIT_BYTES / sizeof(Element);
    return VALUES_AT + (token / lanes * dims + dim) * lanes + token % lanes;
}

// Writes the values of as many tokens as a flit has elements: a block of a slice.
inline void put_block(Element *block, const Element *values) {
    constexpr size_t dims = MESHKV_HEAD_DIM, lanes = MESHKV_FLIT_BYTES / sizeof(Element);
    transpose(block, lanes, values, dims, lanes, dims);
    std::memset(block + dims * lanes, 0, (MESHKV_ROW_ELEMENTS - dims) * lanes * sizeof(Element));
}

// Writes tokens into a slice, from its token `first` on. `keys` and `values` are `tokens` rows of HEAD_DIM elements;
// `scales` are theirs, where tokens have some. Other tokens keep what they have.
inline void put_tokens(Element *slice, size_t first, const Element *keys, const Element *values, const TokenScales *scales, size_t tokens) {
    const size_t dims = MESHKV_HEAD_DIM;
    if (MESHKV_TOKEN_SCALES) std::memcpy(slice + scales_of(first, tokens).first, scales, tokens * sizeof(TokenScales));
    fill_rows(slice + keys_of(first, tokens).first, keys, tokens);
    constexpr size_t lanes = MESHKV_FLIT_BYTES / sizeof(Element);
    for (size_t token = 0; token < tokens;) {
        if ((first + token) % lanes == 0 && tokens - token >= lanes) {
            put_block(slice + value_at(first + token, 0), values + token * dims);
            token += lanes;
            continue;
        }
        for (size_t dim = 0; dim < MESHKV_ROW_ELEMENTS; ++dim)
            slice[value_at(first + token, dim)] = dim < dims ? values[token * dims + dim] : Element{0};
        ++token;
    }
}

// Reads them back.
inline void get_tokens(const Element *slice, size_t first, Element *keys, Element *values, TokenScales *scales, size_t tokens) {
    const size_t dims = MESHKV_HEAD_DIM;
    if (MESHKV_TOKEN_SCALES) std::memcpy(scales, slice + scales_of(first, tokens).first, tokens * sizeof(TokenScales));
    take_rows(keys, slice + keys_of(first, tokens).first, tokens);
    for (size_t token = 0; token < tokens; ++token)
        for (size_t dim = 0; dim < dims; ++dim) values[token * dims + dim] = slice[value_at(first + token, dim)];
}

}  // namespace meshkv
