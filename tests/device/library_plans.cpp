// Runs of batches, a line each: descriptors as cache, segments, last token, first stream, streams, and letters of their flags.
#include <cstdio>

#include "meshkv_streams.hpp"

int main() {
    meshkv::Streams streams(meshkv::MAPPING_AUTO, 2);
    const auto plan = [&](const char *what, uint32_t layer, const std::vector<uint32_t> &batch, meshkv::Call call) {
        streams.may_run(layer, batch, call);
        std::printf("%s\n", what);
        for (const meshkv::Run &run : streams.plan(layer, batch, call)) {
            std::printf(" ");
            for (const auto &d : run.descriptors)
                std::printf(" %u:%u,%u>%u+%u%s%s%s", d.prefix, d.count, d.last_row, d.stream, d.streams, d.close ? "c" : "", d.partials ? "p" : "", d.step ? "s" : "");
            std::printf(" |");
            for (const uint32_t stream : run.streams) std::printf(" %u", stream);
            std::printf("\n");
        }
    };
    using meshkv::Call;
    streams.begin(0);
    streams.begin(3);
    plan("first tokens", 0, {3, 0}, Call::APPEND);
    streams.grow(0, 0, MESHKV_SEGMENT_TOKENS);
    streams.grow(0, 1, 3);
    streams.grow(3, 1, 1);
    plan("a token that opens a segment", 0, {0}, Call::APPEND);
    plan("the last layer", 1, {0, 3}, Call::ATTEND);
    streams.begin(1, 0);
    streams.begin(2, 0);
    plan("three that attend to the same", 0, {2, 0, 1}, Call::PARTIALS);
    plan("two that do not follow each other", 0, {0, 2}, Call::ATTEND);
    plan("own tokens after a prefix", 0, {1, 2}, Call::APPEND);
    streams.grow(1, 0, 1);
    plan("one with own tokens, beside the owner", 0, {0, 1, 2}, Call::ATTEND);
    streams.grow(2, 0, MESHKV_SEGMENT_TOKENS + 1);
    plan("two with own tokens", 0, {1, 2}, Call::PARTIALS);
    return 0;
}
