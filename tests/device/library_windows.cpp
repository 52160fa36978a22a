// Segments that batches of a model with a sliding window attend to, a line each: cache, first and last token, streams.
#include <cstdio>

#include "meshkv_streams.hpp"

int main() {
    meshkv::Streams streams(meshkv::MAPPING_AUTO, 1);
    const auto plan = [&](const char *what, const std::vector<uint32_t> &batch, meshkv::Call call) {
        streams.may_run(0, batch, call);
        std::printf("%s\n", what);
        for (const meshkv::Run &run : streams.plan(0, batch, call)) {
            std::printf(" ");
            for (const auto &d : run.descriptors) {
                const uint32_t per = MESHKV_SEGMENT_TOKENS, last = (d.first + d.count - 1) * per + d.last_row;
                std::printf(" %u:%u-%u>%u+%u%s", d.prefix, d.first * per + d.first_row, last, d.stream, d.streams, d.close ? "c" : "");
            }
            std::printf("\n");
        }
    };
    using meshkv::Call;
    streams.begin(0);
    streams.grow(0, 0, 15);
    plan("15 tokens", {0}, Call::ATTEND);
    plan("and a new one", {0}, Call::APPEND);
    streams.grow(0, 0, 1);
    plan("16 and a new one", {0}, Call::APPEND);
    streams.grow(0, 0, 84);
    plan("100", {0}, Call::ATTEND);
    plan("partial results of 100", {0}, Call::PARTIALS);
    // A prefix of 100 tokens, which streams leave at tokens of their own.
    streams.begin(1, 0);
    streams.begin(2, 0);
    plan("shared", {1, 2}, Call::ATTEND);
    plan("shared, and a new token", {1, 2}, Call::APPEND);
    streams.grow(1, 0, 3);
    plan("3 own ones beside none", {1, 2}, Call::ATTEND);
    streams.grow(1, 0, 12);
    plan("15 own ones", {1}, Call::ATTEND);
    plan("and a new one", {1}, Call::APPEND);
    streams.grow(1, 0, 10);
    plan("25 own ones, in a batch", {0, 1, 2}, Call::ATTEND);
    return 0;
}
