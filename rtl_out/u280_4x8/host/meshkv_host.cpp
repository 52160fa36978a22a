// Attention of one layer on the card: keys and values into HBM, queries in, a run, outputs back.
//
//   meshkv_host XCLBIN --tokens N --streams B --queries FILE --keys FILE --values FILE --outputs FILE
//               [--device N] [--layer L] [--mapping auto|0|1|2] [--timeout MS] [--interrupt]
//
// With MESHKV_XDMA the card's devices, as /dev/xdma0, are in the place of XCLBIN.
//
// Files are FP16, little-endian, without header: queries and outputs [stream][head][dim], keys and values [KV head][token][dim];
// all streams attend to the same tokens. Exit code 1 if the card refuses or fails, or outputs are void, 2 for bad input.
#include <fstream>
#include <iostream>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>

#include "meshkv.hpp"

namespace {

using Input = meshkv::Refused;

struct Options {
    std::string xclbin;
    std::map<std::string, std::string> given;

    std::string text(const std::string &name) const {
        const auto found = given.find(name);
        if (found == given.end()) throw Input("--" + name + " is missing");
        return found->second;
    }
    uint32_t number(const std::string &name, const std::string &otherwise = "") const {
        const auto found = given.find(name);
        const std::string value = found == given.end() && !otherwise.empty() ? otherwise : text(name);
        if (value.empty() || value.size() > 9 || value.find_first_not_of("0123456789") != std::string::npos)
            throw Input("--" + name + " is \"" + value + "\", which is no number");
        return static_cast<uint32_t>(std::stoul(value));
    }
};

Options parse(int count, char **words) {
    const std::set<std::string> known{"tokens", "streams", "queries", "keys", "values", "outputs", "device", "layer", "mapping", "timeout"};
    Options options;
    for (int at = 1; at < count; ++at) {
        const std::string word = words[at];
        if (word.rfind("--", 0) != 0) {
            if (!options.xclbin.empty()) throw Input("there is one XCLBIN, and \"" + word + "\" is a second");
            options.xclbin = word;
        } else if (word == "--interrupt") {
            options.given["interrupt"] = "1";
        } else if (!known.count(word.substr(2))) {
            throw Input(word + " is no option");
        } else if (at + 1 == count) {
            throw Input(word + " needs a value");
        } else {
            options.given[word.substr(2)] = words[++at];
        }
    }
    if (options.xclbin.empty()) throw Input("which XCLBIN?");
    return options;
}

std::vector<uint16_t> read_file(const std::string &path, size_t elements) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    if (!file) throw Input("cannot read " + path);
    const auto bytes = static_cast<size_t>(file.tellg());
    if (bytes != elements * sizeof(uint16_t))
        throw Input(path + " has " + std::to_string(bytes) + " bytes, not " + std::to_string(elements * sizeof(uint16_t)));
    std::vector<uint16_t> words(elements);
    file.seekg(0);
    file.read(reinterpret_cast<char *>(words.data()), static_cast<std::streamsize>(bytes));
    if (!file) throw Input("cannot read " + path);
    return words;
}

uint32_t within(const char *what, uint32_t value, uint32_t least, uint32_t most) {
    if (value < least || value > most)
        throw Input(std::string(what) + " is " + std::to_string(value) + ": " + std::to_string(least) + " to " + std::to_string(most) + " are possible");
    return value;
}

void run(const Options &options) {
    const uint32_t tokens = within("--tokens", options.number("tokens"), 1, MESHKV_MAX_TOKENS);
    const uint32_t streams = within("--streams", options.number("streams"), 1, MESHKV_MAX_STREAMS);
    const uint32_t layer = within("--layer", options.number("layer", "0"), 0, MESHKV_LAYERS - 1);
    const bool chosen = options.given.count("mapping") && options.text("mapping") != "auto";
    const uint32_t mapping = chosen ? within("--mapping", options.number("mapping"), 0, 2) : meshkv::MAPPING_AUTO;
    const size_t numbers = size_t{streams} * MESHKV_QUERY_HEADS * MESHKV_HEAD_DIM, cached = size_t{MESHKV_KV_HEADS} * tokens * MESHKV_HEAD_DIM;
    const auto queries = read_file(options.text("queries"), numbers);
    const auto keys = read_file(options.text("keys"), cached), values = read_file(options.text("values"), cached);
    const std::string out_path = options.text("outputs");

    meshkv::Options how;
    how.device = options.number("device", "0");
    how.limit = std::chrono::milliseconds(options.number("timeout", "10000"));
    how.interrupt = options.given.count("interrupt") != 0;
    how.mapping = mapping;
    how.layers = layer + 1;
    meshkv::Device device(options.xclbin, how);
    device.begin(0);
    device.append(layer, 0, tokens, keys.data(), values.data());
    for (uint32_t stream = 1; stream < streams; ++stream) device.begin(stream, 0);
    std::vector<uint32_t> batch(streams);
    std::iota(batch.begin(), batch.end(), 0);
    std::vector<uint16_t> outputs(numbers);
    std::optional<meshkv::Void> void_outputs;
    try {
        device.attend(layer, batch, queries.data(), outputs.data());
    } catch (const meshkv::Void &error) {
        void_outputs.emplace(error);  // Outputs are there all the same.
    }
    std::ofstream file(out_path, std::ios::binary);
    file.write(reinterpret_cast<const char *>(outputs.data()), static_cast<std::streamsize>(numbers * sizeof(uint16_t)));
    if (!file.flush()) throw Input("cannot write " + out_path);
    std::cout << "attention of " << tokens << " tokens, " << streams << " streams: " << device.cycles() << " cycles; outputs in " << out_path << '\n';
    if (void_outputs) throw *void_outputs;
}

}  // namespace

int main(int count, char **words) {
    try {
        run(parse(count, words));
        return 0;
    } catch (const Input &error) {
        std::cerr << "error: " << error.what() << '\n';
        return 2;
    } catch (const std::exception &error) {
        std::cerr << "error: " << error.what() << '\n';
        return 1;
    }
}
