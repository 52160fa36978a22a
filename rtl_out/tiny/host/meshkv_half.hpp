// FP16 as the device has it, and the floats of a host.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

namespace meshkv {

// To the nearest, of two the even one; beyond the range an infinity.
inline uint16_t to_half(float value) {
    const uint16_t sign = std::signbit(value) ? 0x8000 : 0;
    const float size = std::fabs(value);
    if (std::isnan(value)) return sign | 0x7e00;
    if (size >= 65520.0f) return sign | 0x7c00;
    if (size == 0) return sign;
    int exponent = 0;
    std::frexp(size, &exponent);
    // The last place: of subnormal numbers that of the smallest normal one.
    const int place = (exponent < -13 ? -13 : exponent) - 11;
    const auto units = static_cast<uint32_t>(std::nearbyint(std::ldexp(size, -place)));
    // A mantissa that is rounded up to the next power carries into the exponent.
    return static_cast<uint16_t>(sign | ((static_cast<uint32_t>(place + 24) << 10) + units));
}

inline float from_half(uint16_t half) {
    const int exponent = half >> 10 & 31, mantissa = half & 0x3ff;
    const float size = exponent == 31 ? mantissa ? std::numeric_limits<float>::quiet_NaN() : std::numeric_limits<float>::infinity()
                       : exponent     ? std::ldexp(static_cast<float>(mantissa + 1024), exponent - 25)
                                      : std::ldexp(static_cast<float>(mantissa), -24);
    return half & 0x8000 ? -size : size;
}

}  // namespace meshkv
