// Input that the library refuses, a line each; and that nothing was written for it.
#include <cstdio>

#include "meshkv.hpp"
#include "meshkv_c.h"

int main() {
    meshkv::Device device("card.xclbin");
    const size_t out = MESHKV_QUERY_HEADS * MESHKV_HEAD_DIM, token = MESHKV_KV_HEADS * MESHKV_HEAD_DIM;
    std::vector<uint16_t> q(4 * out), k(4 * token), v(4 * token), o(4 * out), many(MESHKV_MAX_TOKENS * token);
    const auto refused = [&](const auto &attempt) {
        const uint64_t before = fake::Card::one().touched;
        try {
            attempt();
            std::puts("TAKEN");
        } catch (const meshkv::Refused &why) {
            std::printf("%s%s\n", fake::Card::one().touched == before ? "" : "WRITTEN: ", why.what());
        }
    };
    const auto step = [&](const std::vector<uint32_t> &batch, uint32_t layer = 0) {
        device.append_and_attend(layer, batch, q.data(), k.data(), v.data(), o.data());
    };
    refused([&] { step({0}); });
    device.begin(0);
    device.begin(1);
    refused([&] { device.begin(0); });
    refused([&] { device.begin(MESHKV_MAX_STREAMS); });
    refused([&] { device.attend(0, {0}, q.data(), o.data()); });
    device.append(0, 0, 5, k.data(), v.data());
    step({1, 0});
    std::printf("lengths %u %u\n", device.length(0, 0), device.length(1, 0));

    // A stream twice in a batch; no stream; no layer.
    refused([&] { step({0, 1, 0}); });
    refused([&] { step({}); });
    refused([&] { step({0}, MESHKV_LAYERS); });
    // Beyond the longest context, for one token and for many.
    device.append(0, 1, MESHKV_MAX_TOKENS - 1, many.data(), many.data());
    refused([&] { step({0, 1}); });
    refused([&] { device.append(0, 0, ~0u, many.data(), many.data()); });
    device.attend(0, {1}, q.data(), o.data());
    device.end(1);
    refused([&] { device.attend(0, {1}, q.data(), o.data()); });

    // A prefix that others share.
    device.begin(2, 0);
    refused([&] { step({0, 2}); });
    refused([&] { device.append(0, 0, 1, k.data(), v.data()); });
    refused([&] { device.end(0); });
    refused([&] { device.begin(3, 2); });
    step({2});
    device.copy(3, 2);
    step({3});
    std::printf("lengths %u %u %u\n", device.length(0, 0), device.length(2, 0), device.length(3, 0));
    device.end(2);
    step({0});

    // Buffers.
    const auto odd = reinterpret_cast<const uint16_t *>(reinterpret_cast<const char *>(q.data()) + 1);
    refused([&] { device.attend(0, {0}, odd, o.data()); });
    refused([&] { device.attend(0, {0, 3}, q.data(), q.data() + out); });
    refused([&] { device.append_and_attend(0, {0}, q.data(), k.data(), v.data(), v.data() + token - 1); });
    refused([&] { device.append_and_attend(0, {0}, q.data(), nullptr, v.data(), o.data()); });
    refused([&] { device.partials(0, {0}, nullptr); });
    device.attend(0, {0, 3}, q.data(), q.data() + 2 * out);

    // The same in C.
    uint32_t length = 0;
    const uint32_t twice[2] = {0, 0};
    const auto in_c = [](int status) {
        const char *why = meshkv_message();
        std::printf("%d%s%s\n", status, *why ? " " : "", why);
    };
    const auto step_in_c = [&](meshkv_device *of, size_t batch) {
        in_c(meshkv_append_and_attend(of, 0, twice, batch, q.data(), k.data(), v.data(), o.data(), nullptr));
    };
    meshkv_device *handle = nullptr;
    in_c(meshkv_length(handle, 0, 0, &length));
    in_c(meshkv_open("none.xclbin", 0, 1000, 0, 0, &handle));
    in_c(meshkv_open("card.xclbin", 0, 1000, 0, MESHKV_LAYERS + 1, &handle));
    in_c(meshkv_open("card.xclbin", 0, 1000, 0, 0, &handle));
    in_c(meshkv_begin(handle, 0));
    step_in_c(handle, 2);
    step_in_c(handle, 1);
    in_c(meshkv_length(handle, 0, 0, &length));
    std::printf("length %u\n", length);
    meshkv_close(handle);
    return 0;
}
