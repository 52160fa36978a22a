// Numbers of the cache: its elements, their factors, and the scales that a run has beside its queries.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "meshkv_half.hpp"
#include "meshkv_shape.h"

namespace meshkv {

// An element of the cache. BF16 lies there as FP16.
using Element = std::conditional_t<MESHKV_ELEMENT_BYTES == 1, uint8_t, uint16_t>;
static_assert(sizeof(Element) == MESHKV_ELEMENT_BYTES, "an element has one byte or two");

// The format's numbers: bits behind the leading one, exponent of the last place of the smallest, the largest.
struct Numbers {
    int fraction;
    int smallest;
    double most;
};
constexpr Numbers NUMBERS = sizeof(Element) == 2                      ? Numbers{10, -24, 65504}
                            : MESHKV_FORMAT == MESHKV_FORMAT_FP8_E4M3 ? Numbers{3, -9, 448}
                            : MESHKV_FORMAT == MESHKV_FORMAT_INT8     ? Numbers{10, 0, 127}
                                                                      : Numbers{2, -16, 57344};

constexpr double power_of_two(int exponent) { return exponent < 0 ? 0.5 * power_of_two(exponent + 1) : exponent > 0 ? 2 * power_of_two(exponent - 1) : 1; }

// The element nearest to an FP16 times a factor above 0, ties to even: the product is exact. What is beyond the largest number
// becomes the largest; an infinity becomes NaN where the format has none. Without branches: a prompt has millions of them.
inline Element to_element(uint16_t half, float inverse) {
    if (sizeof(Element) == 2 && inverse == 1) return static_cast<Element>(half);
    // The exact product as a float of 53 bits. A subnormal half becomes a normal float with the smallest exponent, minus its leading one.
    const uint32_t magnitude = half & 0x7fff, subnormal = magnitude < 0x400;
    const uint32_t single = (magnitude << 13) + ((112 + subnormal) << 23);
    float size;
    std::memcpy(&size, &single, sizeof size);
    const double product = static_cast<double>(size - (subnormal ? 0x1p-14f : 0.0f)) * inverse;
    // To a multiple of its last place: a sum with a number whose last place that is, and back.
    uint64_t bits;
    std::memcpy(&bits, &product, sizeof bits);
    const int64_t place = std::max<int64_t>(static_cast<int64_t>(bits >> 52) - 1023 - NUMBERS.fraction, NUMBERS.smallest);
    bits = static_cast<uint64_t>(1023 + 52 + place) << 52 | uint64_t{1} << 51;
    double above;
    std::memcpy(&above, &bits, sizeof above);
    const double rounded = std::min((product + above) - above, NUMBERS.most);
    const uint32_t negative = half >> 15;
    const bool special = magnitude >= 0x7c00;
    if (MESHKV_FORMAT == MESHKV_FORMAT_INT8) {
        const auto integer = static_cast<uint32_t>(static_cast<int>(rounded));
        return static_cast<Element>(special ? 0x80 : (integer ^ (0 - negative)) + negative);  // -128 for what is no number.
    }
    // Exponent and fraction of a normal number with the bias of the format; units of a subnormal one.
    constexpr int LEAST = NUMBERS.smallest + NUMBERS.fraction;  // Exponent of the smallest normal number.
    std::memcpy(&bits, &rounded, sizeof bits);
    const auto normal = static_cast<uint32_t>(static_cast<int64_t>(bits >> (52 - NUMBERS.fraction)) - (int64_t{1022 + LEAST} << NUMBERS.fraction));
    const auto units = static_cast<uint32_t>(rounded * power_of_two(-NUMBERS.smallest));
    const uint32_t small = 0u - (rounded < power_of_two(LEAST)), code = (units & small) | (normal & ~small);
    const uint32_t none = MESHKV_FORMAT == MESHKV_FORMAT_FP8_E4M3 ? 0x7f : sizeof(Element) == 2 ? magnitude : magnitude > 0x7c00 ? 0x7e : 0x7c;
    return static_cast<Element>(negative << (8 * sizeof(Element) - 1) | (special ? none : code));
}

// Scales of a token and KV head in FP16: of its keys, and of its values.
struct TokenScales {
    uint16_t key, value;
};

// The scale of a row that makes its largest finite number the largest of the format, or a little less: from 2^-14 to below
// 2. The card finds the same for tokens that it appends.
inline uint16_t token_scale(const uint16_t *row, size_t count) {
    uint32_t largest = 0;
    for (size_t at = 0; at < count; ++at) {
        const uint32_t size = row[at] & 0x7fff;
        if (size < 0x7c00) largest = std::max(largest, size);
    }
    const bool normal = largest >> 10;
    const uint32_t of = (normal ? 0x400 : 0) | (largest & 0x3ff);
    // 128 / 127, or 8 / 7, and a unit more for what is cut off.
    const bool integers = MESHKV_FORMAT == MESHKV_FORMAT_INT8;
    const uint32_t sum = integers ? of + (of >> 7) + 1 : of + (of >> 3) + (of >> 6) + (of >> 9) + 1, carries = sum >> 11;
    const int exponent = static_cast<int>((normal ? largest >> 10 : 1) + carries) - (integers ? 7 : 9);
    const uint32_t significand = (sum + carries) >> carries;
    if (exponent < 1) return 0x0400;
    return static_cast<uint16_t>(std::min<uint32_t>(static_cast<uint32_t>(exponent) << 10 | (significand & 0x3ff), 0x3fff));
}

// Its inverse as it is multiplied with: 17 bits, rounded to nearest.
inline float token_inverse(uint16_t scale) {
    const uint32_t significand = 0x400 | (scale & 0x3ff);
    return std::ldexp(static_cast<float>(((1u << 26) + significand / 2) / significand), -1 - (scale >> 10));
}

// Elements of a token by a scale of its own, which it returns.
inline uint16_t to_own_scale(Element *to, const uint16_t *row, size_t count) {
    const uint16_t scale = token_scale(row, count);
    const float inverse = token_inverse(scale);
    for (size_t at = 0; at < count; ++at) to[at] = to_element(row[at], inverse);
    return scale;
}

// Elements by one factor. For as many as a prompt has, those of all halves are computed once.
class Conversion {
public:
    Conversion(float inverse, size_t count) : inverse_(inverse), all_(!MESHKV_TOKEN_SCALES && count > 2 * HALVES ? HALVES : 0) {
        for (size_t half = 0; half < all_.size(); ++half) all_[half] = to_element(static_cast<uint16_t>(half), inverse);
    }

    void operator()(Element *to, const uint16_t *from, size_t count) const {
        if (all_.empty()) for (size_t at = 0; at < count; ++at) to[at] = to_element(from[at], inverse_);
        else for (size_t at = 0; at < count; ++at) to[at] = all_[from[at]];
    }

private:
    static constexpr size_t HALVES = 1 << 16;
    float inverse_;
    std::vector<Element> all_;
};

// The value of an element.
inline float from_element(Element element) {
    if (sizeof(Element) == 2) return from_half(static_cast<uint16_t>(element));
    if (MESHKV_FORMAT == MESHKV_FORMAT_FP8_E5M2) return from_half(static_cast<uint16_t>(element << 8));
    if (MESHKV_FORMAT == MESHKV_FORMAT_INT8)
        return element == 0x80 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(static_cast<int8_t>(element));
    const int exponent = element >> 3 & 15, fraction = element & 7;
    if (exponent == 15 && fraction == 7) return std::numeric_limits<float>::quiet_NaN();
    const float size = std::ldexp(static_cast<float>(exponent ? fraction + 8 : fraction), std::max(exponent, 1) - 10);
    return element & 0x80 ? -size : size;
}

// Numbers of nine bits instead of 18, where two rows of an array share their multipliers.
struct Narrow {
    bool keys = MESHKV_NARROW & 1;    // Those of queries, which meet the keys.
    bool values = MESHKV_NARROW & 2;  // Those of weights, which meet the values.
};

// Scales of a head as the card takes them: that of its logits, a significand of 26 bits below 2^-1 and the powers of two
// above that; that of its output. Where there is a choice of widths, the leading one of the significand is left out of
// narrow queries, and narrow weights have the sign of the output's scale. `why` tells what is wrong, empty if nothing is.
inline uint64_t scale_word(double logit, float output, std::string &why, Narrow narrow = {}) {
    constexpr double LOG2_E = 1.4426950408889634;
    if (!std::isnormal(output) || output < 0) why = "a factor of values is " + std::to_string(output) + ", and must be a positive normal number";
    const double value = logit * LOG2_E;
    int exponent = 0;
    double significand = std::isfinite(value) && value > 0 ? std::round(std::ldexp(std::frexp(value, &exponent), 26)) : 0;
    if (significand == std::ldexp(1.0, 26)) {
        significand /= 2;
        ++exponent;
    }
    const int rise = exponent + 1;
    if (significand == 0 || rise < -32 || rise > static_cast<int>(MESHKV_SCALE_RISE))
        why = "the scale of logits times the factor of keys is " + std::to_string(logit) + ", and must be positive and below " +
              std::to_string(std::ldexp(0.5, static_cast<int>(MESHKV_SCALE_RISE)) / LOG2_E);
    uint32_t word[2] = {static_cast<uint32_t>(significand) | static_cast<uint32_t>(rise & 63) << 26, 0};
    std::memcpy(&word[1], &output, sizeof(output));
    if (MESHKV_PACKED && narrow.keys) word[0] &= ~(uint32_t{1} << 25);
    if (MESHKV_PACKED && narrow.values) word[1] |= uint32_t{1} << 31;
    return uint64_t{word[1]} << 32 | word[0];
}

// A sink as the card takes it: a logit of a head beside those of its tokens, as 2^m times l from 1 to 2. The word has m, the
// fraction of l in 23 bits above it, and a bit that there is one. An infinity below is none: 0.
inline uint64_t sink_word(float logit, std::string &why) {
    constexpr double LOG2_E = 1.4426950408889634;
    if (std::isinf(logit) && logit < 0) return 0;
    if (!(std::fabs(logit) <= 65504)) {
        why = "a sink is " + std::to_string(logit) + ", and must be a logit from -65504 to 65504";
        return 0;
    }
    const double z = logit * LOG2_E, floor = std::floor(z);
    auto fraction = static_cast<uint32_t>(std::lround(std::ldexp(std::exp2(z - floor) - 1, 23)));
    const auto max = static_cast<int32_t>(floor) + static_cast<int32_t>(fraction >> 23);
    fraction &= (1u << 23) - 1;
    return uint64_t{1} << 63 | uint64_t{fraction} << 32 | static_cast<uint32_t>(max);
}

}  // namespace meshkv
