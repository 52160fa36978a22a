// A program that leaves its device while memory owes answers: `library_leaves throws|exits LIMIT_MS`. It says what ended the
// run.
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "meshkv.hpp"

namespace {

// Attention that fails.
void attend(meshkv::Device &device) {
    std::vector<uint16_t> tokens(24 * MESHKV_KV_HEADS * MESHKV_HEAD_DIM, 0x3800), one(MESHKV_QUERY_HEADS * MESHKV_HEAD_DIM, 0x3800), out(one.size());
    device.begin(0);
    device.append(0, 0, 24, tokens.data(), tokens.data());
    device.attend(0, {0}, one.data(), out.data());
    std::puts("the run has not failed");
}

}  // namespace

int main(int, char **words) {
    meshkv::Options options;
    options.limit = std::chrono::milliseconds(std::atoi(words[2]));
    try {
        if (std::string(words[1]) == "throws") {
            meshkv::Device device(FAKE_CARD, options);
            attend(device);
        } else {
            static const auto lasting = std::make_unique<meshkv::Device>(FAKE_CARD, options);
            attend(*lasting);
        }
    } catch (const std::exception &why) {
        std::puts(why.what());
    }
    // Destructors of what is static run.
    std::exit(0);
}
