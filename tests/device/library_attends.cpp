// Streams that grow, share, are copied, end and begin again, on the device beside attention on the host in doubles.
#include <cstdio>
#include <cstdlib>
#include <map>

#include "meshkv.hpp"
#include "meshkv_half.hpp"

namespace {

constexpr size_t DIM = MESHKV_HEAD_DIM, HEADS = MESHKV_QUERY_HEADS, KV_HEADS = MESHKV_KV_HEADS;

uint64_t state = 5;
uint16_t number() {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return meshkv::to_half(static_cast<float>(state >> 40) / 8388608.0f * 2.0f - 2.0f);
}
std::vector<uint16_t> numbers(size_t count) {
    std::vector<uint16_t> all(count);
    for (auto &one : all) one = number();
    return all;
}

// Factors of a cache of elements that have some; they differ by layer and KV head.
constexpr bool SCALED = MESHKV_SCALED && !MESHKV_TOKEN_SCALES;
float key_factor(uint32_t layer, size_t head) { return SCALED ? 0.01f * static_cast<float>(1 + head + 2 * layer) : 1; }
float value_factor(uint32_t layer, size_t head) { return SCALED ? 0.02f * static_cast<float>(2 + head + layer) : 1; }
const double SM_SCALE = (SCALED ? 0.9 : 1.0) / std::sqrt(double(DIM));

// Keys and values of a token as the cache has them: [KV head][dim] of each.
struct Token {
    std::vector<double> k, v;

    // Appends those of a KV head.
    void put(uint32_t layer, size_t head, const uint16_t *keys, const uint16_t *values) {
        const auto inverse = [](const uint16_t *row, float factor) { return MESHKV_TOKEN_SCALES ? meshkv::token_inverse(meshkv::token_scale(row, DIM)) : 1 / factor; };
        const auto scale = [](const uint16_t *row, float factor) { return MESHKV_TOKEN_SCALES ? meshkv::from_half(meshkv::token_scale(row, DIM)) : factor; };
        const auto stored = [&](const uint16_t *row, size_t d, float factor) {
            return double(meshkv::from_element(meshkv::to_element(row[d], inverse(row, factor)))) * scale(row, factor);
        };
        for (size_t d = 0; d < DIM; ++d) {
            k.push_back(stored(keys, d, key_factor(layer, head)));
            v.push_back(stored(values, d, value_factor(layer, head)));
        }
    }
};
using Cache = std::map<std::pair<uint32_t, uint32_t>, std::vector<Token>>;  // By stream and layer.

double worst = 0;
double tolerance = 2e-3;

// Sets an output beside what it should be.
void compare(const char *what, uint32_t stream, const std::vector<Token> &tokens, const uint16_t *q, const float *out) {
    for (size_t head = 0; head < HEADS; ++head) {
        const size_t of = head * KV_HEADS / HEADS * DIM;
        std::vector<double> weights, wanted(DIM);
        double sum = 0;
        for (const Token &token : tokens) {
            double logit = 0;
            for (size_t d = 0; d < DIM; ++d) logit += double(meshkv::from_half(q[head * DIM + d])) * token.k[of + d];
            weights.push_back(std::exp(logit * SM_SCALE));
            sum += weights.back();
        }
        for (size_t at = 0; at < tokens.size(); ++at)
            for (size_t d = 0; d < DIM; ++d) wanted[d] += weights[at] / sum * tokens[at].v[of + d];
        for (size_t d = 0; d < DIM; ++d) {
            const double off = std::fabs(wanted[d] - out[head * DIM + d]);
            worst = std::max(worst, off);
            if (!(off < tolerance)) {
                std::printf("%s: stream %u, head %zu, dim %zu is %g, not %g\n", what, stream, head, d, double(out[head * DIM + d]), wanted[d]);
                std::exit(1);
            }
        }
    }
}

}  // namespace

int main(int count, char **words) {
    meshkv::Options options;
    options.limit = std::chrono::minutes(10);
    meshkv::Device device(FAKE_CARD, options);
    Cache cache;
    if (SCALED) {
        device.sm_scale(static_cast<float>(SM_SCALE));
        for (uint32_t layer = 0; layer < MESHKV_LAYERS; ++layer) {
            std::vector<float> keys, values;
            for (size_t head = 0; head < KV_HEADS; ++head) {
                keys.push_back(key_factor(layer, head));
                values.push_back(value_factor(layer, head));
            }
            device.factors(layer, keys.data(), values.data());
        }
    }
    const auto prompt = [&](uint32_t stream, uint32_t layer, uint32_t tokens) {
        const auto k = numbers(KV_HEADS * tokens * DIM), v = numbers(KV_HEADS * tokens * DIM);
        device.append(layer, stream, tokens, k.data(), v.data());
        for (size_t token = 0; token < tokens; ++token) {
            Token one;
            for (size_t head = 0; head < KV_HEADS; ++head) one.put(layer, head, &k[(head * tokens + token) * DIM], &v[(head * tokens + token) * DIM]);
            cache[{stream, layer}].push_back(one);
        }
    };
    const auto run = [&](const char *what, uint32_t layer, const std::vector<uint32_t> &batch, bool append) {
        const auto q = numbers(batch.size() * HEADS * DIM), k = numbers(batch.size() * KV_HEADS * DIM), v = numbers(batch.size() * KV_HEADS * DIM);
        std::vector<uint16_t> o(q.size());
        if (append) device.append_and_attend(layer, batch, q.data(), k.data(), v.data(), o.data());
        else device.attend(layer, batch, q.data(), o.data());
        for (size_t place = 0; place < batch.size(); ++place) {
            auto &tokens = cache[{batch[place], layer}];
            if (append) tokens.emplace_back();
            for (size_t head = 0; append && head < KV_HEADS; ++head) {
                const size_t at = (place * KV_HEADS + head) * DIM;
                tokens.back().put(layer, head, &k[at], &v[at]);
            }
            if (tokens.size() != device.length(batch[place], layer)) std::exit(2);
            std::vector<float> out;
            for (size_t d = 0; d < HEADS * DIM; ++d) out.push_back(meshkv::from_half(o[place * HEADS * DIM + d]));
            compare(what, batch[place], tokens, &q[place * HEADS * DIM], out.data());
        }
    };

    if (count > 1 && std::string(words[1]) == "--fails") {
        // A call that fails may be repeated: its token goes to the same place.
        device.begin(0);
        prompt(0, 0, 11);
        const auto some = numbers(HEADS * DIM);
        std::vector<uint16_t> out(some.size());
        try {
            device.append_and_attend(0, {0}, some.data(), some.data(), some.data(), out.data());
        } catch (const meshkv::Error &error) {
            std::printf("%s; %u tokens\n", error.what(), device.length(0, 0));
        }
        run("after a failure", 0, {0}, true);
        run("and on", 0, {0}, true);
        std::puts("as on the host");
        return 0;
    }

    // The first token of an empty stream, the last of a segment, one that opens a segment; streams of other lengths.
    device.begin(0);
    device.begin(1);
    device.begin(3);
    run("first", 0, {0}, true);
    prompt(0, 0, MESHKV_SEGMENT_TOKENS - 2);
    run("last of a segment", 0, {0}, true);
    prompt(3, 0, 2 * MESHKV_SEGMENT_TOKENS + 3);
    run("ragged, in any order", 0, {3, 0, 1}, true);
    // A stream leaves the batch and comes back; layers have lengths of their own.
    run("without one", 0, {0, 1}, true);
    run("and back", 0, {1, 3}, true);
    prompt(1, 1, 9);
    run("another layer", 1, {1}, true);
    run("attends only", 0, {0, 1, 3}, false);

    // A prefix that a stream shares, beside its owner, and after tokens of its own.
    device.begin(2, 1);
    for (uint32_t layer = 0; layer < MESHKV_LAYERS; ++layer) cache[{2, layer}] = cache[{1, layer}];
    run("prefix", 0, {1, 2}, false);
    run("own tokens after it", 0, {2}, true);
    run("with its owner", 1, {2}, true);
    run("both, not alike", 0, {1, 2, 3}, false);
    // A copy of it grows by itself.
    device.end(0);
    device.copy(0, 2);
    for (uint32_t layer = 0; layer < MESHKV_LAYERS; ++layer) cache[{0, layer}] = cache[{2, layer}];
    run("copy", 0, {0, 2}, true);
    run("copy, another layer", 1, {0}, true);
    device.end(2);
    run("a prefix that is shared no more", 0, {1}, true);

    // A stream that ends and begins again over what was there.
    device.end(3);
    device.begin(3);
    cache[{3, 0}].clear();
    run("again", 0, {3}, true);
    run("again, with others", 0, {0, 1, 3}, true);

    if (MESHKV_PACKED) {
        // Narrow numbers are near as well, and others; wide ones are as before.
        tolerance = 5e-2;
        device.narrow({true, true});
        run("narrow", 0, {0, 1}, false);
        if (worst < 2e-3) std::exit(3);
        worst = 0;
        tolerance = 2e-3;
        device.narrow({false, false});
        run("and wide", 0, {0, 1}, false);
    }

    // Partial results of two caches merge to attention over both.
    const auto q = numbers(HEADS * DIM);
    std::vector<uint16_t> both(q);
    both.insert(both.end(), q.begin(), q.end());
    auto states = device.partials(0, {1, 3}, both.data());
    std::vector<float> merged;
    for (size_t head = 0; head < HEADS; ++head) {
        meshkv::merge(states[head], states[HEADS + head]);
        const auto out = meshkv::output(states[head]);
        merged.insert(merged.end(), out.begin(), out.end());
    }
    auto tokens = cache[{1, 0}];
    tokens.insert(tokens.end(), cache[{3, 0}].begin(), cache[{3, 0}].end());
    compare("merged", 1, tokens, q.data(), merged.data());
    std::printf("as on the host, %llu cycles; worst error %.1e\n", static_cast<unsigned long long>(device.cycles()), worst);
    return 0;
}
