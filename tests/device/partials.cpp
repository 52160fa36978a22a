// Merges the states of several buffers of outputs, for each stream and head, and prints the bits of l, m and the outputs.
#include <cstdio>
#include <fstream>
#include <iterator>

#include "meshkv_driver.hpp"
#include "meshkv_partials.hpp"

int main(int count, char **files) {
    std::vector<std::vector<char>> buffers;
    for (int at = 1; at < count; ++at) {
        std::ifstream file(files[at], std::ios::binary);
        buffers.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
        if (buffers.back().size() != MESHKV_PARTIAL_BYTES) return 2;
    }
    const auto print = [](float number) {
        uint32_t bits;
        std::memcpy(&bits, &number, sizeof bits);
        std::printf("%08x\n", number != number ? 0x7fc00000u : bits);
    };
    for (uint32_t stream = 0; stream < MESHKV_MAX_STREAMS; ++stream) {
        for (uint32_t head = 0; head < MESHKV_QUERY_HEADS; ++head) {
            meshkv::State all;
            for (const auto &buffer : buffers) meshkv::merge(all, meshkv::state(buffer.data(), stream, head));
            print(all.l);
            print(all.max);
            for (const float out : meshkv::output(all)) print(out);
        }
    }
    return 0;
}
