// Every half times drawn factors as an element of the design's format, beside the nearest of all its numbers; and transposed
// blocks of any size.
#include <cstdio>
#include <cstdlib>

#include "meshkv_numbers.hpp"
#include "meshkv_transpose.hpp"

namespace {

using meshkv::Element;

uint64_t state = 21;
uint32_t drawn(uint32_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<uint32_t>(state >> 33) % below;
}

// Finite numbers of the format from 0 on, in order: code by code they rise, and so do those of INT8.
std::vector<double> positive() {
    std::vector<double> all;
    for (uint32_t code = 0; code < 1u << (8 * sizeof(Element) - 1); ++code)
        if (const double value = meshkv::from_element(static_cast<Element>(code)); std::isfinite(value)) all.push_back(value);
    return all;
}

// The code of the number nearest to a value from 0 on; of two the even one.
uint32_t nearest(const std::vector<double> &all, double value) {
    const auto above = static_cast<size_t>(std::lower_bound(all.begin(), all.end(), value) - all.begin());
    if (above == all.size()) return static_cast<uint32_t>(above - 1);
    if (above == 0) return 0;
    const double down = value - all[above - 1], up = all[above] - value;
    return static_cast<uint32_t>(down < up || (down == up && above % 2) ? above - 1 : above);
}

void fail(const char *what, uint32_t half, float factor, uint32_t found, uint32_t wanted) {
    std::printf("%s: %04x times %g is %x, not %x\n", what, half, factor, found, wanted);
    std::exit(1);
}

void elements() {
    const auto all = positive();
    std::vector<uint16_t> halves(1 << 16);
    for (uint32_t half = 0; half < halves.size(); ++half) halves[half] = static_cast<uint16_t>(half);
    for (int time = 0; time < 60; ++time) {
        // Factors of one bit meet ties; others have all their bits.
        const float factor = std::ldexp(time < 20 ? 1.0f : 1.0f + static_cast<float>(drawn(1 << 23)) / 8388608.0f, time < 20 ? time - 10 : static_cast<int>(drawn(80)) - 40);
        const meshkv::Conversion many(factor, 1 << 20);
        std::vector<Element> converted(halves.size());
        many(converted.data(), halves.data(), halves.size());
        for (const uint16_t half : halves) {
            const float value = meshkv::from_half(half);
            const Element found = meshkv::to_element(half, factor);
            if (converted[half] != found) fail("a prompt", half, factor, converted[half], found);
            const double back = meshkv::from_element(found);
            if (!std::isfinite(value)) {
                // NaN, or the infinity of its sign where the format has one.
                const bool right = std::isnan(value) ? std::isnan(back) : std::isnan(back) || (std::isinf(back) && std::signbit(back) == std::signbit(value));
                if (!right) fail("no number", half, factor, found, 0);
                continue;
            }
            const uint32_t code = nearest(all, std::fabs(double{value} * factor));
            const bool integers = MESHKV_FORMAT == MESHKV_FORMAT_INT8;
            const uint32_t sign = integers ? 0 : std::signbit(value) ? 1u << (8 * sizeof(Element) - 1) : 0;
            const auto wanted = static_cast<Element>(integers && std::signbit(value) ? 0u - code : sign | code);
            if (found != wanted) fail("a number", half, factor, found, wanted);
        }
    }
}

void transposed() {
    for (int time = 0; time < 300; ++time) {
        const size_t rows = 1 + drawn(70), columns = 1 + drawn(140), to_stride = rows + drawn(5), from_stride = columns + drawn(5);
        std::vector<Element> from(rows * from_stride), to(columns * to_stride), wanted(to.size());
        for (auto &one : from) one = static_cast<Element>(drawn(1 << 16));
        for (size_t at = 0; at < to.size(); ++at) wanted[at] = to[at] = static_cast<Element>(drawn(1 << 16));
        for (size_t row = 0; row < rows; ++row)
            for (size_t column = 0; column < columns; ++column) wanted[column * to_stride + row] = from[row * from_stride + column];
        meshkv::transpose(to.data(), to_stride, from.data(), from_stride, rows, columns);
        if (to == wanted) continue;
        std::printf("%zu x %zu elements are not transposed\n", rows, columns);
        std::exit(1);
    }
}

}  // namespace

int main() {
    elements();
    transposed();
    std::puts("the nearest");
}
