// Partial results: what a device returns of heads that have more tokens elsewhere, on other cards or in host memory.
//
// A descriptor with `partials` returns l, m and o of each head in FP32, before normalisation. States over disjoint tokens
// merge in any order; attention over all of them is o / l. Knows nothing of XRT.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <vector>

#include "meshkv_registers.h"
#include "meshkv_shape.h"

namespace meshkv {

// m is an integer, the largest floor(z) of a token, where z = q.k log2(e) / sqrt(dim). l is the sum of 2^(z - m), o that of
// 2^(z - m) v. Without a token m is -infinity, l and o are 0. With an infinity or a NaN all are NaN.
struct State {
    float l = 0, max = -std::numeric_limits<float>::infinity();
    std::vector<float> o = std::vector<float>(MESHKV_HEAD_DIM);
};

// The state of a stream and head in the buffer of outputs, which has MESHKV_PARTIAL_BYTES.
inline State state(const void *outputs, uint32_t stream, uint32_t head) {
    const size_t place = size_t{stream} * MESHKV_QUERY_HEADS + head;
    const auto *bytes = static_cast<const unsigned char *>(outputs);
    State read;
    std::memcpy(&read.l, bytes + MESHKV_PARTIAL_STATES + place * MESHKV_PARTIAL_STATE_STRIDE, sizeof(float));
    std::memcpy(&read.max, bytes + MESHKV_PARTIAL_STATES + place * MESHKV_PARTIAL_STATE_STRIDE + sizeof(float), sizeof(float));
    std::memcpy(read.o.data(), bytes + MESHKV_PARTIAL_SUMS + place * MESHKV_ROW_ELEMENTS * sizeof(float), MESHKV_HEAD_DIM * sizeof(float));
    return read;
}

// The state of a head's sink, a logit: partial results are without it, so that it is there once when they are merged.
inline State of_sink(float logit) {
    const double z = logit * 1.4426950408889634;
    State made;
    if (std::isinf(logit)) return made;
    made.max = static_cast<float>(std::floor(z));
    made.l = static_cast<float>(std::exp2(z - std::floor(z)));
    return made;
}

// Adds the state over other tokens.
inline void merge(State &all, const State &more) {
    if (all.o.size() != more.o.size()) throw std::invalid_argument("states of heads of different sizes do not merge");
    const float max = std::fmax(all.max, more.max);
    // Both are empty: there is no difference of infinities.
    const auto scale = [max](const State &of) { return of.max == max ? 1.0f : std::exp2(of.max - max); };
    const float a = scale(all), b = scale(more);
    all.l = all.l * a + more.l * b;
    all.max = max;
    for (size_t at = 0; at < all.o.size(); ++at) all.o[at] = all.o[at] * a + more.o[at] * b;
}

// Attention over all tokens of the state; 0 without a token.
inline std::vector<float> output(const State &all) {
    std::vector<float> out(all.o.size());
    for (size_t at = 0; at < out.size(); ++at) out[at] = all.l == 0 ? 0 : all.o[at] / all.l;
    return out;
}

}  // namespace meshkv
