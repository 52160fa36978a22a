// Streams that fork at any token, grow, attend and end in an order that is drawn, on the device beside plain arrays on the host.
#include <cstdio>
#include <cstdlib>
#include <map>

#include "meshkv.hpp"
#include "meshkv_half.hpp"

namespace {

constexpr size_t DIM = MESHKV_HEAD_DIM, HEADS = MESHKV_QUERY_HEADS, KV_HEADS = MESHKV_KV_HEADS;
constexpr uint32_t LAYERS = MESHKV_LAYERS, CACHES = MESHKV_CACHES;

uint64_t state = 5;
uint64_t drawn(uint64_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
}
uint16_t number() { return meshkv::to_half(static_cast<float>(drawn(4096)) / 1024.0f - 2.0f); }
std::vector<uint16_t> numbers(size_t count) {
    std::vector<uint16_t> all(count);
    for (auto &one : all) one = number();
    return all;
}

// Keys and values of a token: [KV head][dim] of each.
struct Token {
    std::vector<double> k, v;
    void put(const uint16_t *keys, const uint16_t *values) {
        for (size_t d = 0; d < DIM; ++d) {
            k.push_back(double(meshkv::from_half(keys[d])));
            v.push_back(double(meshkv::from_half(values[d])));
        }
    }
};

// A stream: its tokens by layer, and how many forks lie before it.
struct Stream {
    std::vector<Token> layers[LAYERS];
    uint32_t depth = 0;
};

std::map<uint32_t, Stream> streams;
size_t compared = 0;

void compare(uint32_t stream, uint32_t layer, const uint16_t *q, const uint16_t *out) {
    const auto &tokens = streams[stream].layers[layer];
    for (size_t head = 0; head < HEADS; ++head) {
        const size_t of = head * KV_HEADS / HEADS * DIM;
        std::vector<double> wanted(DIM), weights;
        double sum = 0;
        for (const Token &token : tokens) {
            double logit = 0;
            for (size_t d = 0; d < DIM; ++d) logit += double(meshkv::from_half(q[head * DIM + d])) * token.k[of + d];
            weights.push_back(std::exp(logit / std::sqrt(double(DIM))));
            sum += weights.back();
        }
        for (size_t at = 0; at < tokens.size(); ++at)
            for (size_t d = 0; d < DIM; ++d) wanted[d] += weights[at] / sum * tokens[at].v[of + d];
        for (size_t d = 0; d < DIM; ++d) {
            ++compared;
            const double got = double(meshkv::from_half(out[head * DIM + d]));
            if (std::fabs(wanted[d] - got) < 2e-3) continue;
            std::printf("stream %u, layer %u of %zu tokens, head %zu, dim %zu is %g, not %g\n", stream, layer, tokens.size(), head, d, got, wanted[d]);
            std::exit(1);
        }
    }
}

uint32_t any_live() {
    auto at = streams.begin();
    std::advance(at, static_cast<long>(drawn(streams.size())));
    return at->first;
}

// A number that is free; CACHES if none is.
uint32_t any_free() {
    for (uint32_t tries = 0; tries < 4 * CACHES; ++tries)
        if (const auto stream = static_cast<uint32_t>(drawn(CACHES)); !streams.count(stream)) return stream;
    return CACHES;
}

}  // namespace

int main(int count, char **words) {
    const size_t operations = count > 1 ? std::strtoul(words[1], nullptr, 10) : 100;
    if (count > 2) state = std::strtoul(words[2], nullptr, 10);
    meshkv::Options options;
    options.limit = std::chrono::minutes(10);
    meshkv::Device device("card.xclbin", options);
    size_t refused = 0, forks = 0, deepest = 0, runs = 0;
    const auto append = [&](uint32_t stream, uint32_t tokens) {
        for (uint32_t layer = 0; layer < LAYERS; ++layer) {
            const auto k = numbers(KV_HEADS * tokens * DIM), v = numbers(KV_HEADS * tokens * DIM);
            device.append(layer, stream, tokens, k.data(), v.data());
            for (size_t token = 0; token < tokens; ++token) {
                Token one;
                for (size_t head = 0; head < KV_HEADS; ++head) one.put(&k[(head * tokens + token) * DIM], &v[(head * tokens + token) * DIM]);
                streams[stream].layers[layer].push_back(one);
            }
        }
    };
    const auto attend = [&](bool appends) {
        std::vector<uint32_t> batch;
        for (const auto &one : streams) {
            const size_t tokens = one.second.layers[0].size();
            if (drawn(3) && (appends ? tokens < MESHKV_MAX_TOKENS : tokens > 0)) batch.push_back(one.first);
        }
        for (size_t at = batch.size(); at > 1; --at) std::swap(batch[at - 1], batch[drawn(at)]);
        for (uint32_t layer = 0; layer < LAYERS && !batch.empty(); ++layer) {
            const auto q = numbers(batch.size() * HEADS * DIM), k = numbers(batch.size() * KV_HEADS * DIM), v = numbers(batch.size() * KV_HEADS * DIM);
            std::vector<uint16_t> o(q.size());
            if (appends) device.append_and_attend(layer, batch, q.data(), k.data(), v.data(), o.data());
            else device.attend(layer, batch, q.data(), o.data());
            ++runs;
            for (size_t row = 0; row < batch.size(); ++row) {
                auto &tokens = streams[batch[row]].layers[layer];
                if (appends) tokens.emplace_back();
                for (size_t head = 0; appends && head < KV_HEADS; ++head) tokens.back().put(&k[(row * KV_HEADS + head) * DIM], &v[(row * KV_HEADS + head) * DIM]);
                compare(batch[row], layer, &q[row * HEADS * DIM], &o[row * HEADS * DIM]);
            }
        }
    };
    for (size_t at = 0; at < operations; ++at) {
        const uint32_t free = any_free();
        const uint64_t what = drawn(16);
        try {
            if (streams.empty() || (what == 0 && free < CACHES)) {
                device.begin(free);
                streams[free] = Stream{};
                append(free, 1 + static_cast<uint32_t>(drawn(40)));
            } else if (what < 5 && free < CACHES) {
                const uint32_t from = any_live();
                const Stream &of = streams[from];
                const auto tokens = static_cast<uint32_t>(drawn(of.layers[0].size() + 1));
                if (of.depth == 8) continue;
                device.fork(free, from, tokens);
                Stream made;
                made.depth = of.depth + 1;
                for (uint32_t layer = 0; layer < LAYERS; ++layer) made.layers[layer].assign(of.layers[layer].begin(), of.layers[layer].begin() + tokens);
                streams[free] = made;
                ++forks;
                deepest = std::max<size_t>(deepest, made.depth);
            } else if (what < 7) {
                const uint32_t stream = any_live();
                if (streams[stream].layers[0].size() + 20 <= MESHKV_MAX_TOKENS) append(stream, 1 + static_cast<uint32_t>(drawn(20)));
            } else if (what < 9) {
                const uint32_t stream = any_live();
                device.end(stream);
                streams.erase(stream);
            } else {
                attend(what < 14);
            }
        } catch (const meshkv::Refused &why) {
            if (std::string(why.what()).find("no page is free") != 0) throw;
            ++refused;
            const uint32_t stream = any_live();
            device.end(stream);
            streams.erase(stream);
        }
        // Lengths of a stream that was cut off by a refusal may differ by layer: it ends.
        for (auto one = streams.begin(); one != streams.end();) {
            bool differs = false;
            for (uint32_t layer = 0; layer < LAYERS; ++layer) differs |= one->second.layers[layer].size() != one->second.layers[0].size();
            if (differs) device.end(one->first);
            one = differs ? streams.erase(one) : std::next(one);
        }
    }
    while (!streams.empty()) {
        attend(false);
        device.end(streams.begin()->first);
        streams.erase(streams.begin());
    }
    if (device.pages().free() != device.pages().count()) {
        std::printf("%u of %u pages are free at the end\n", device.pages().free(), device.pages().count());
        return 1;
    }
    std::printf("as in plain arrays: %zu operations, %zu forks as deep as %zu, %zu calls, %zu numbers, %zu refusals\n", operations, forks, deepest, runs, compared, refused);
    return 0;
}
