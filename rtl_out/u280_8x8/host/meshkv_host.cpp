// Attention of one layer on the card, through XRT: keys and values into HBM, queries in, a run, outputs back.
//
//   meshkv_host XCLBIN --tokens N --streams B --queries FILE --keys FILE --values FILE --outputs FILE
//               [--device N] [--layer L] [--mapping auto|0|1|2] [--timeout MS] [--interrupt]
//
// Files are FP16, little-endian, without header: queries and outputs [stream][head][dim], keys and values [KV head][token][dim];
// all streams attend to the same tokens. Exit code 1 if the card refuses or fails, or outputs are void, 2 for bad input.
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "experimental/xrt_ip.h"
#include "experimental/xrt_xclbin.h"
#include "xrt/xrt_bo.h"
#include "xrt/xrt_device.h"

#include "meshkv_cache.hpp"
#include "meshkv_driver.hpp"

namespace {

constexpr const char *KERNEL = "meshkv_top";

struct Input : std::runtime_error {
    using std::runtime_error::runtime_error;
};

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

// Registers of the card.
struct Registers {
    xrt::ip &ip;
    uint32_t read(uint32_t offset) const { return ip.read_register(offset); }
    void write(uint32_t offset, uint32_t value) { ip.write_register(offset, value); }
};

// The memory bank of an argument: of several the group of all, which is the largest.
xrt::xclbin::mem memory_of(const xrt::xclbin::ip &unit, const std::string &argument) {
    for (const auto &arg : unit.get_args()) {
        if (arg.get_name() != argument) continue;
        auto mems = arg.get_mems();
        if (mems.empty()) throw std::runtime_error("argument " + argument + " is connected to no memory");
        return *std::max_element(mems.begin(), mems.end(), [](const auto &a, const auto &b) { return a.get_size_kb() < b.get_size_kb(); });
    }
    throw std::runtime_error("the kernel has no argument " + argument);
}

xrt::bo allocate(const xrt::device &device, const xrt::xclbin::mem &memory, uint64_t bytes, const std::string &what) {
    const uint64_t pages = (bytes + MESHKV_BUFFER_ALIGN - 1) / MESHKV_BUFFER_ALIGN * MESHKV_BUFFER_ALIGN;
    if (pages / 1024 > memory.get_size_kb()) {
        throw Input(what + " takes " + std::to_string(pages >> 20) + " MiB, and its memory has " +
                    std::to_string(memory.get_size_kb() >> 10) +
                    ": lower model.max_tokens, model.max_streams or model.layers of the configuration and generate again");
    }
    return xrt::bo(device, pages, xrt::bo::flags::normal, static_cast<xrt::memory_group>(memory.get_index()));
}

// The cache: a buffer for each memory port, or one for all where homes swap and so read each other's.
class Cache {
public:
    Cache(const xrt::device &device, const xrt::xclbin::ip &unit) {
        const uint64_t region = meshkv::region_bytes();
        if (MESHKV_SWAPS || MESHKV_HOMES == 1) {
            add(device, unit, 0, 0, MESHKV_HOMES * region, "the cache");
            return;
        }
        for (uint32_t port = 0; port < MESHKV_PORTS; ++port) {
            const auto tiles = meshkv::tiles_of_port(port);
            add(device, unit, port, tiles.first * region, tiles.count * region, "the part of the cache of port " + std::to_string(port));
        }
    }

    void put(uint64_t address, const std::vector<uint16_t> &words) {
        Part &part = *std::prev(parts_.upper_bound(address), 1)->second;
        part.buffer.write(words.data(), words.size() * sizeof(uint16_t), address - part.first);
    }

    void sync() {
        for (auto &part : parts_) part.second->buffer.sync(XCL_BO_SYNC_BO_TO_DEVICE);
    }

    // Base address of a port: byte n of all homes' memory is at base + n.
    uint64_t base(uint32_t port) const {
        const Part &part = parts_.size() == 1 ? *parts_.begin()->second : *parts_.at(meshkv::tiles_of_port(port).first * meshkv::region_bytes());
        return part.buffer.address() - part.first;
    }

private:
    struct Part {
        uint64_t first;
        xrt::bo buffer;
    };
    std::map<uint64_t, std::unique_ptr<Part>> parts_;

    void add(const xrt::device &device, const xrt::xclbin::ip &unit, uint32_t port, uint64_t first, uint64_t bytes, const std::string &what) {
        const std::string number = std::to_string(port);
        const auto memory = memory_of(unit, "hbm" + std::string(number.size() < 2 ? "0" : "") + number);
        parts_[first] = std::make_unique<Part>(Part{first, allocate(device, memory, bytes, what)});
    }
};

void run(const Options &options) {
    const uint32_t tokens = within("--tokens", options.number("tokens"), 1, MESHKV_MAX_SEGMENTS * MESHKV_SEGMENT_TOKENS);
    const uint32_t streams = within("--streams", options.number("streams"), 1, MESHKV_MAX_STREAMS);
    const uint32_t layer = within("--layer", options.number("layer", "0"), 0, MESHKV_LAYERS - 1);
    const bool chosen = options.given.count("mapping") && options.text("mapping") != "auto";
    const uint32_t mapping = chosen ? within("--mapping", options.number("mapping"), 0, 2) : meshkv::MAPPING_AUTO;
    const std::chrono::milliseconds limit(options.number("timeout", "10000"));
    const bool interrupt = options.given.count("interrupt") != 0;
    const size_t numbers = size_t{streams} * MESHKV_QUERY_HEADS * MESHKV_HEAD_DIM, cached = size_t{MESHKV_KV_HEADS} * tokens * MESHKV_HEAD_DIM;
    const auto queries = read_file(options.text("queries"), numbers);
    const auto keys = read_file(options.text("keys"), cached), values = read_file(options.text("values"), cached);
    const std::string out_path = options.text("outputs");

    xrt::device device(options.number("device", "0"));
    const xrt::xclbin xclbin(options.xclbin);
    const auto uuid = device.load_xclbin(xclbin);
    xrt::ip ip(device, uuid, KERNEL);
    Registers registers{ip};
    meshkv::Driver<Registers> driver(registers);
    xrt::xclbin::ip unit;
    for (const auto &kernel : xclbin.get_kernels())
        if (kernel.get_name() == KERNEL && !kernel.get_cus().empty()) unit = kernel.get_cus().front();

    Cache cache(device, unit);
    const uint32_t segments = (tokens + MESHKV_SEGMENT_TOKENS - 1) / MESHKV_SEGMENT_TOKENS;
    for (uint32_t head = 0; head < MESHKV_KV_HEADS; ++head) {
        for (uint32_t segment = 0; segment < segments; ++segment) {
            const uint32_t first = segment * MESHKV_SEGMENT_TOKENS, here = std::min(tokens - first, uint32_t{MESHKV_SEGMENT_TOKENS});
            const size_t at = (size_t{head} * tokens + first) * MESHKV_HEAD_DIM;
            cache.put(meshkv::slice_address(0, layer, segment, head), meshkv::slice(&keys[at], &values[at], here));
        }
    }
    cache.sync();
    auto query_buffer = allocate(device, memory_of(unit, "queries"), numbers * sizeof(uint16_t), "the queries");
    auto output_buffer = allocate(device, memory_of(unit, "outputs"), numbers * sizeof(uint16_t), "the outputs");
    query_buffer.write(queries.data(), numbers * sizeof(uint16_t), 0);
    query_buffer.sync(XCL_BO_SYNC_BO_TO_DEVICE);

    driver.argument(MESHKV_ARG_QUERIES, query_buffer.address());
    driver.argument(MESHKV_ARG_OUTPUTS, output_buffer.address());
    for (uint32_t port = 0; port < MESHKV_PORTS; ++port) driver.argument(MESHKV_ARG_HBM(port), cache.base(port));
    driver.push({layer, 0, 0, 1, segments, 0, (tokens - 1) % MESHKV_SEGMENT_TOKENS, 0, streams, mapping, false, true, true});
    std::optional<meshkv::Void> void_outputs;
    try {
        if (interrupt) {
            auto line = ip.create_interrupt_notify();
            line.enable();
            driver.start(streams, true);
            driver.wait(limit, [&] { line.wait(std::chrono::milliseconds(100)); });
            line.disable();
        } else {
            driver.start(streams, false);
            driver.wait(limit, [] { std::this_thread::sleep_for(std::chrono::microseconds(50)); });
        }
    } catch (const meshkv::Void &error) {
        void_outputs.emplace(error);  // Outputs are there all the same.
    }

    std::vector<uint16_t> outputs(numbers);
    output_buffer.sync(XCL_BO_SYNC_BO_FROM_DEVICE);
    output_buffer.read(outputs.data(), numbers * sizeof(uint16_t), 0);
    std::ofstream file(out_path, std::ios::binary);
    file.write(reinterpret_cast<const char *>(outputs.data()), static_cast<std::streamsize>(numbers * sizeof(uint16_t)));
    if (!file.flush()) throw Input("cannot write " + out_path);
    std::cout << "attention of " << tokens << " tokens, " << streams << " streams: " << driver.cycles() << " cycles; outputs in " << out_path << '\n';
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
