// Registers, list and buffer of a call that appends, where the device writes new tokens itself.
#include <cstdio>

#include "meshkv.hpp"

static_assert(meshkv::DEVICE_APPENDS, "the design has kv.append");

int main() {
    meshkv::Device device("card.xclbin");
    const size_t out = MESHKV_QUERY_HEADS * MESHKV_HEAD_DIM, dim = MESHKV_HEAD_DIM, token = MESHKV_KV_HEADS * dim;
    std::vector<uint16_t> q(2 * out), k(2 * token), v(2 * token), o(2 * out);
    for (size_t at = 0; at < k.size(); ++at) {
        k[at] = static_cast<uint16_t>(at);
        v[at] = static_cast<uint16_t>(0x8000 + at);
    }
    const auto all = std::vector<uint16_t>(MESHKV_SEGMENT_TOKENS * token);
    device.begin(1);
    device.begin(0);
    device.append(1, 1, MESHKV_SEGMENT_TOKENS, all.data(), all.data());
    device.append_and_attend(1, {1, 0}, q.data(), k.data(), v.data(), o.data());

    auto &card = fake::Card::one();
    const uint8_t *queries = card.at(card.argument(MESHKV_ARG_QUERIES)).first;
    size_t wrong = 0;
    for (uint32_t place = 0; place < 2; ++place)
        for (size_t head = 0; head < MESHKV_KV_HEADS; ++head)
            for (size_t at = 0; at < dim; ++at) {
                const uint32_t stream = 1 - place;
                const uint8_t *here = queries + meshkv::TOKENS_AT + (stream * MESHKV_KV_HEADS + head) * dim * 4;
                uint16_t found[2];
                std::memcpy(&found[0], here + 2 * at, 2);
                std::memcpy(&found[1], here + 2 * (dim + at), 2);
                const size_t given = place * token + head * dim + at;
                wrong += found[0] != given || found[1] != 0x8000 + given;
            }
    std::printf("%zu numbers are wrong\n", wrong);
    std::printf("%u queries, %u tokens, %u listed\n", card.registers[MESHKV_QUERY_STREAMS], card.registers[meshkv::TOKEN_STREAMS], card.registers[MESHKV_LIST_COUNT]);
    const auto *list = reinterpret_cast<const meshkv_descriptor *>(card.at(card.argument(MESHKV_ARG_LIST) + MESHKV_LIST_SLOT_BYTES).first);
    for (int at = 0; at < 2; ++at) std::printf("cache %08x, %u segments, rows %08x, append %u\n", list[at].cache, list[at].count, list[at].rows, list[at].push >> 12 & 1);
    device.attend(1, {0, 1}, q.data(), o.data());
    std::printf("%u tokens, append %u; lengths %u %u\n", card.registers[meshkv::TOKEN_STREAMS], (list[0].push | list[1].push) >> 12 & 1, device.length(0, 1),
                device.length(1, 1));
    return 0;
}
