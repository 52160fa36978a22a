// What a call takes of the host's link, and threads that share a device. The card is the front of the stand-in, whose outputs
// are the queries.
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "meshkv.hpp"

namespace {

constexpr size_t OUT = size_t{MESHKV_HEAD_DIM} * MESHKV_QUERY_HEADS, TOKEN = size_t{MESHKV_HEAD_DIM} * MESHKV_KV_HEADS;

// Accesses of a call: writes of registers and transfers, and reads of registers.
struct Taken {
    uint64_t writes, reads;
};

template <typename Act>
Taken taken(const Act &act) {
    const Taken before{fake::Card::one().touched, fake::Card::one().reads};
    act();
    return {fake::Card::one().touched - before.writes, fake::Card::one().reads - before.reads};
}

// Queries whose outputs nobody else has.
std::vector<uint16_t> marked(uint16_t mark) { return std::vector<uint16_t>(OUT, mark); }

}  // namespace

int main() {
    meshkv::Options options;
    options.limit = std::chrono::milliseconds(300);
    meshkv::Device device("card.xclbin", options);
    const std::vector<uint16_t> tokens(TOKEN);
    for (const uint32_t stream : {0u, 1u}) {
        device.begin(stream);
        for (uint32_t layer = 0; layer < MESHKV_LAYERS; ++layer) device.append(layer, stream, 1, tokens.data(), tokens.data());
    }
    std::vector<uint16_t> out(OUT);
    if (std::getenv("MESHKV_FAKE_FAULT")) {
        const auto begun = std::chrono::steady_clock::now();
        try {
            device.attend(0, {0}, marked(1).data(), out.data());
        } catch (const std::exception &why) {
            const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun).count();
            std::printf("%s: %s\n", took >= 300 && took < 3000 ? "in its limit" : "late", why.what());
            return 0;
        }
        return 1;
    }
    const Taken first = taken([&] { device.attend(0, {0}, marked(2).data(), out.data()); });
    const Taken again = taken([&] { device.attend(0, {1}, marked(3).data(), out.data()); });
    std::printf("%llu writes, %llu reads; %llu, %llu\n", static_cast<unsigned long long>(first.writes), static_cast<unsigned long long>(first.reads),
                static_cast<unsigned long long>(again.writes), static_cast<unsigned long long>(again.reads));
    // A step that is planned: all lists first, then a doorbell a layer.
    device.step({0, 1}, false);
    std::vector<uint16_t> both(2 * OUT, 7), outs(2 * OUT);
    for (uint32_t layer = 0; layer < MESHKV_LAYERS; ++layer) {
        const Taken of = taken([&] { device.attend(layer, {0, 1}, both.data(), outs.data()); });
        std::printf("layer %u: %llu writes, %llu reads\n", layer, static_cast<unsigned long long>(of.writes), static_cast<unsigned long long>(of.reads));
    }
    // Two threads: each has the outputs of its own queries.
    bool right[2] = {true, true};
    const auto work = [&](uint32_t stream) {
        std::vector<uint16_t> mine(OUT);
        for (uint16_t call = 0; call < 200; ++call) {
            const auto mark = static_cast<uint16_t>(stream * 1000 + call);
            device.attend(call % MESHKV_LAYERS, {stream}, marked(mark).data(), mine.data());
            // The stand-in gives queries back in the place of their stream.
            for (const uint16_t one : mine) right[stream] &= one == mark;
        }
    };
    std::thread other(work, 1);
    work(0);
    other.join();
    std::printf("%s\n", right[0] && right[1] ? "threads have their own outputs" : "threads have outputs of each other");
    return right[0] && right[1] ? 0 : 1;
}
