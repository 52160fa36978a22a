// Times what the host's library takes of the processor: calls, and the conversion of a prompt. The stand-in for XRT answers at once.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <thread>

#include "meshkv.hpp"

namespace {

using Halves = std::vector<uint16_t>;
constexpr size_t TOKEN = size_t{MESHKV_KV_HEADS} * MESHKV_HEAD_DIM, OUT = size_t{MESHKV_QUERY_HEADS} * MESHKV_HEAD_DIM;
constexpr int CALLS = 300, REPEATS = 7;

double milliseconds(const std::function<void()> &act) {
    const auto begun = std::chrono::steady_clock::now();
    act();
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begun).count();
}

double median(std::vector<double> all) {
    std::sort(all.begin(), all.end());
    return all[all.size() / 2];
}

// Calls of streams with lengths that differ. `used` bytes are what a program has worked on between two calls.
void calls(size_t used, bool planned) {
    meshkv::Options options;
    options.layers = 1;
    meshkv::Device device("card.xclbin", options);
    const Halves prompt(TOKEN * MESHKV_MAX_TOKENS, 0x3c00);
    std::vector<uint32_t> batch;
    for (uint32_t stream = 0; stream < MESHKV_MAX_STREAMS; ++stream) {
        device.begin(stream);
        const uint32_t tokens = MESHKV_MAX_TOKENS - 2 * CALLS - 37 * stream;
        device.append(0, stream, tokens, prompt.data(), prompt.data());
        batch.push_back(stream);
    }
    const Halves queries(batch.size() * OUT, 0x3c00), tokens(batch.size() * TOKEN, 0x3c00);
    Halves outputs(queries.size());
    std::vector<uint64_t> work(used / sizeof(uint64_t) + 1);
    std::vector<double> own;
    for (int call = 0; call < CALLS; ++call) {
        if (planned) device.step(batch, true);
        for (auto &one : work) one += static_cast<uint64_t>(call);
        device.append_and_attend(0, batch, queries.data(), tokens.data(), tokens.data(), outputs.data());
        own.push_back(std::chrono::duration<double, std::micro>(device.own_time()).count());
    }
    std::printf("{\"own_us\": %.2f}\n", median(own));
}

// A prompt of all tokens, in a layer; beside it a copy of as many bytes, by as many threads.
void prompt() {
    meshkv::Options options;
    options.layers = 1;
    meshkv::Device device("card.xclbin", options);
    const Halves keys(TOKEN * MESHKV_MAX_TOKENS, 0x3c00), values(keys);
    const size_t bytes = keys.size() * sizeof(uint16_t);
    std::vector<uint8_t> to(2 * bytes, 1);
    std::vector<double> convert, copy;
    device.begin(0);
    const uint64_t before = fake::Card::one().touched;
    for (int time = 0; time < REPEATS; ++time) {
        copy.push_back(milliseconds([&] {
            std::thread other([&] { std::memcpy(to.data(), keys.data(), bytes); });
            std::memcpy(to.data() + bytes, values.data(), bytes);
            other.join();
        }));
        convert.push_back(milliseconds([&] { device.append(0, 0, MESHKV_MAX_TOKENS, keys.data(), values.data()); }));
        device.end(0);
        device.begin(0);
    }
    std::printf("{\"bytes\": %zu, \"transfers\": %llu, \"convert_ms\": %.2f, \"copy_ms\": %.2f}\n", 2 * bytes,
                static_cast<unsigned long long>((fake::Card::one().touched - before) / REPEATS), median(convert), median(copy));
}

}  // namespace

// host_calls calls MIB (planned | unplanned), or host_calls prompt.
int main(int count, char **args) {
    if (count == 2 && std::string(args[1]) == "prompt") prompt();
    else if (count == 4) calls(std::stoul(args[2]) << 20, std::string(args[3]) == "planned");
    else return 2;
}
