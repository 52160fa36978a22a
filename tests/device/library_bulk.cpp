// A long prompt goes to the card in a few transfers, and what is there is the same as token by token.
#include <cstdio>

#include "fake.hpp"
#include "meshkv.hpp"

int main() {
    constexpr uint32_t TOKENS = MESHKV_MAX_TOKENS;
    constexpr size_t ROW = MESHKV_HEAD_DIM, COUNT = MESHKV_KV_HEADS * TOKENS * ROW;
    std::vector<uint16_t> keys(COUNT), values(COUNT);
    for (size_t at = 0; at < COUNT; ++at) {
        keys[at] = static_cast<uint16_t>(at * 7 % 30000);
        values[at] = static_cast<uint16_t>(at * 11 % 30000);
    }
    meshkv::Device device("card.xclbin");
    device.begin(0);
    const uint64_t before = fake::Card::one().touched;
    device.append(0, 0, TOKENS, keys.data(), values.data());
    std::printf("%llu transfers\n", static_cast<unsigned long long>(fake::Card::one().touched - before));
    std::vector<std::vector<uint8_t>> whole;
    for (const auto &one : fake::Card::one().buffers) whole.push_back(one.second->card);

    device.end(0);
    device.begin(0);
    for (auto &one : fake::Card::one().buffers) std::fill(one.second->card.begin(), one.second->card.end(), uint8_t{0});
    for (uint32_t token = 0; token < TOKENS; ++token) {
        std::vector<uint16_t> k, v;
        for (uint32_t head = 0; head < MESHKV_KV_HEADS; ++head)
            for (size_t d = 0; d < ROW; ++d) {
                k.push_back(keys[(head * TOKENS + token) * ROW + d]);
                v.push_back(values[(head * TOKENS + token) * ROW + d]);
            }
        device.append(0, 0, 1, k.data(), v.data());
    }
    size_t at = 0;
    for (const auto &one : fake::Card::one().buffers) {
        if (one.second->card != whole[at++]) {
            std::printf("buffer %zu differs\n", at - 1);
            return 1;
        }
    }
    std::puts("the same bytes");
    return 0;
}
