// Attention of a layer by the library: library_equals NAME HOW LENGTH... ; HOW is attend, append, share or partials.
//
// NAME.q, NAME.k and NAME.v are FP16, queries [stream][head][dim], keys and values [KV head][token][dim] of all streams one
// behind the other. `share`: the first LENGTH is the prefix that all other streams share, which add their own tokens; all
// but the last of these are a prompt. Outputs go to NAME.o, FP16, or FP32 as l, m and o of each head.
#include <cstdio>
#include <fstream>
#include <iterator>
#include <numeric>

#include "meshkv.hpp"

namespace {

constexpr size_t DIM = MESHKV_HEAD_DIM;

std::vector<uint16_t> numbers(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    std::vector<uint16_t> all(bytes.size() / 2);
    std::memcpy(all.data(), bytes.data(), bytes.size());
    return all;
}

template <typename Element>
void write(std::ofstream &file, const Element *data, size_t count) {
    file.write(reinterpret_cast<const char *>(data), static_cast<std::streamsize>(count * sizeof(Element)));
}

// Some tokens of all KV heads out of those of all streams.
std::vector<uint16_t> cut(const std::vector<uint16_t> &all, size_t first, size_t count) {
    const size_t tokens = all.size() / DIM / MESHKV_KV_HEADS;
    std::vector<uint16_t> some;
    for (size_t head = 0; head < MESHKV_KV_HEADS; ++head) {
        const auto at = all.begin() + static_cast<std::ptrdiff_t>((head * tokens + first) * DIM);
        some.insert(some.end(), at, at + static_cast<std::ptrdiff_t>(count * DIM));
    }
    return some;
}

}  // namespace

int main(int count, char **words) {
    const std::string name = words[1], how = words[2];
    std::vector<uint32_t> lengths;
    for (int at = 3; at < count; ++at) lengths.push_back(static_cast<uint32_t>(std::stoul(words[at])));
    const auto q = numbers(name + ".q"), k = numbers(name + ".k"), v = numbers(name + ".v");
    meshkv::Options options;
    options.limit = std::chrono::minutes(10);
    options.mapping = how == "share" ? 0 : 1;
    meshkv::Device device("card.xclbin", options);

    const bool appends = how == "append" || how == "share";
    std::vector<uint16_t> new_k, new_v;
    size_t first = 0;
    std::vector<uint32_t> batch(lengths.size());
    std::iota(batch.begin(), batch.end(), 0);
    for (const uint32_t stream : batch) {
        const bool owner = how == "share" && stream == 0;
        if (how == "share" && !owner) device.begin(stream, 0);
        else device.begin(stream);
        const uint32_t prompt = lengths[stream] - (appends && !owner);
        if (prompt) device.append(0, stream, prompt, cut(k, first, prompt).data(), cut(v, first, prompt).data());
        if (appends && !owner) {
            const auto one_k = cut(k, first + prompt, 1), one_v = cut(v, first + prompt, 1);
            new_k.insert(new_k.end(), one_k.begin(), one_k.end());
            new_v.insert(new_v.end(), one_v.begin(), one_v.end());
        }
        first += lengths[stream];
    }
    if (how == "share") batch.erase(batch.begin());
    std::ofstream file(name + ".o", std::ios::binary);
    if (how == "partials") {
        for (const meshkv::State &state : device.partials(0, batch, q.data())) {
            write(file, &state.l, 1);
            write(file, &state.max, 1);
            write(file, state.o.data(), state.o.size());
        }
        return 0;
    }
    std::vector<uint16_t> o(q.size());
    if (appends) device.append_and_attend(0, batch, q.data(), new_k.data(), new_v.data(), o.data());
    else device.attend(0, batch, q.data(), o.data());
    write(file, o.data(), o.size());
    return 0;
}
