// Layers of two kinds, windows and sinks, and what a call has in their place, on the device beside attention on the host in
// doubles.
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>

#include "meshkv.hpp"
#include "meshkv_half.hpp"

namespace {

constexpr size_t DIM = MESHKV_HEAD_DIM, HEADS = MESHKV_QUERY_HEADS, KV_HEADS = MESHKV_KV_HEADS;
const double DEFAULT_SCALE = 1 / std::sqrt(double(DIM));

uint64_t state = 9;
std::vector<uint16_t> numbers(size_t count) {
    std::vector<uint16_t> all(count);
    for (auto &one : all) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        one = meshkv::to_half(static_cast<float>(state >> 40) / 8388608.0f * 2.0f - 2.0f);
    }
    return all;
}

// Keys and values of a token: [KV head][dim] of each.
struct Token {
    std::vector<uint16_t> k, v;
};
std::map<std::pair<uint32_t, uint32_t>, std::vector<Token>> cache;  // By stream and layer.

double worst = 0;

// How a call attends: the scale, the tokens that it looks back (0: all), and a logit a head (none: no sink).
struct Wanted {
    double scale = DEFAULT_SCALE;
    uint32_t window = 0;
    std::vector<float> sinks;
};

void compare(const char *what, uint32_t stream, uint32_t layer, const uint16_t *q, const Wanted &how, const std::function<double(size_t, size_t)> &out) {
    const auto &tokens = cache[{stream, layer}];
    const size_t first = how.window && tokens.size() > how.window ? tokens.size() - how.window : 0;
    for (size_t head = 0; head < HEADS; ++head) {
        const size_t of = head * KV_HEADS / HEADS * DIM;
        double sum = how.sinks.empty() ? 0 : std::exp(double(how.sinks[head]));
        std::vector<double> wanted(DIM);
        for (size_t at = first; at < tokens.size(); ++at) {
            double logit = 0;
            for (size_t d = 0; d < DIM; ++d) logit += double(meshkv::from_half(q[head * DIM + d])) * meshkv::from_half(tokens[at].k[of + d]);
            const double weight = std::exp(logit * how.scale);
            sum += weight;
            for (size_t d = 0; d < DIM; ++d) wanted[d] += weight * meshkv::from_half(tokens[at].v[of + d]);
        }
        for (size_t d = 0; d < DIM; ++d) {
            const double off = std::fabs(wanted[d] / sum - out(head, d));
            worst = std::max(worst, off);
            if (!(off < 2e-3)) {
                std::printf("%s: stream %u, head %zu, dim %zu is %g, not %g\n", what, stream, head, d, out(head, d), wanted[d] / sum);
                std::exit(1);
            }
        }
    }
}

void refused(const std::function<void()> &call) {
    try {
        call();
        std::puts("nothing was refused");
    } catch (const meshkv::Refused &why) {
        std::puts(why.what());
    }
}

}  // namespace

int main() {
    meshkv::Options options;
    options.limit = std::chrono::minutes(10);
    meshkv::Device device("card.xclbin", options);
    const auto grow = [&](uint32_t stream, uint32_t layer, size_t tokens, const uint16_t *k, const uint16_t *v) {
        for (size_t token = 0; token < tokens; ++token) {
            Token one;
            for (size_t head = 0; head < KV_HEADS; ++head) {
                one.k.insert(one.k.end(), k + (head * tokens + token) * DIM, k + (head * tokens + token + 1) * DIM);
                one.v.insert(one.v.end(), v + (head * tokens + token) * DIM, v + (head * tokens + token + 1) * DIM);
            }
            cache[{stream, layer}].push_back(one);
        }
    };
    const auto run = [&](const char *what, uint32_t layer, const std::vector<uint32_t> &batch, const Wanted &wanted, const meshkv::Attention &how = {}) {
        const auto q = numbers(batch.size() * HEADS * DIM), k = numbers(batch.size() * KV_HEADS * DIM), v = numbers(batch.size() * KV_HEADS * DIM);
        std::vector<uint16_t> o(q.size());
        device.append_and_attend(layer, batch, q.data(), k.data(), v.data(), o.data(), how);
        for (size_t place = 0; place < batch.size(); ++place) {
            grow(batch[place], layer, 1, &k[place * KV_HEADS * DIM], &v[place * KV_HEADS * DIM]);
            compare(what, batch[place], layer, &q[place * HEADS * DIM], wanted,
                    [&](size_t head, size_t d) { return double(meshkv::from_half(o[(place * HEADS + head) * DIM + d])); });
        }
    };
    for (uint32_t stream = 0; stream < 2; ++stream) {
        device.begin(stream);
        for (uint32_t layer = 0; layer < 2; ++layer) {
            const size_t tokens = 29 + 20 * stream;
            const auto k = numbers(KV_HEADS * tokens * DIM), v = numbers(KV_HEADS * tokens * DIM);
            device.append(layer, stream, tokens, k.data(), v.data());
            grow(stream, layer, tokens, k.data(), v.data());
        }
    }
    // Layer 0 looks 20 tokens back and has sinks; layer 1 sees all and has none.
    std::vector<float> sinks, others;
    for (size_t head = 0; head < HEADS; ++head) {
        sinks.push_back(-1.5f + 0.75f * static_cast<float>(head));
        others.push_back(2.0f - 0.5f * static_cast<float>(head));
    }
    const std::vector<uint16_t> some = numbers(2 * HEADS * DIM);
    std::vector<uint16_t> out(some.size());
    refused([&] { device.attend(0, {0}, some.data(), out.data()); });
    device.sinks(0, sinks.data());
    run("as its layer does", 0, {0, 1}, {DEFAULT_SCALE, 20, sinks});
    run("the other layer", 1, {1, 0}, {DEFAULT_SCALE, 0, {}});
    meshkv::Attention how;
    how.sm_scale = 0.25f;
    run("another scale", 1, {0, 1}, {0.25, 0, {}}, how);
    how.window = 13;
    how.sinks = others.data();
    run("another window, sinks where its layer has none", 1, {0, 1}, {0.25, 13, others}, how);
    how = {};
    how.window = 0;
    run("no window", 0, {0}, {DEFAULT_SCALE, 0, sinks}, how);
    run("as before", 0, {1, 0}, {DEFAULT_SCALE, 20, sinks});
    // Partial results are without the sink, which whoever merges them adds once.
    auto parts = device.partials(0, {1}, some.data());
    for (size_t head = 0; head < HEADS; ++head) merge(parts[head], meshkv::of_sink(sinks[head]));
    compare("partial results", 1, 0, some.data(), {DEFAULT_SCALE, 20, sinks}, [&](size_t head, size_t d) { return double(meshkv::output(parts[head])[d]); });
    // What cannot be.
    others[1] = 1e6f;
    refused([&] { device.sinks(0, others.data()); });
    refused([&] { device.sinks(0, nullptr); });
    how = {};
    how.sm_scale = -1;
    refused([&] { device.attend(1, {0}, some.data(), out.data(), how); });
    how.sm_scale = 8;
    refused([&] { device.attend(1, {0}, some.data(), out.data(), how); });
    run("after refusals", 0, {0, 1}, {DEFAULT_SCALE, 20, sinks});
    std::printf("as on the host, %g at most\n", worst);
    return 0;
}
