// A host that leaves the device in a state and ends, and a host that comes after it: `dead_host STATE`, `dead_host next`.
//
// All values of a layer are the same number, so every output is that number, whatever the logits.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>

#include "meshkv_card.hpp"
#include "meshkv_driver.hpp"

namespace {

constexpr uint32_t TOKENS = 2 * MESHKV_SEGMENT_TOKENS, OUTPUTS = MESHKV_QUERY_HEADS * MESHKV_HEAD_DIM;
constexpr auto LIMIT = std::chrono::minutes(10);

struct Host {
    meshkv::Card card{FAKE_CARD, 0};
    meshkv::Driver<meshkv::Card> driver{card, LIMIT};
    meshkv::Cache cache{card};
    meshkv::Buffer queries = card.allocate("queries", OUTPUTS * sizeof(uint16_t), "queries");
    meshkv::Buffer outputs = card.allocate("outputs", MESHKV_OUTPUT_BYTES, "outputs");
    meshkv::Buffer list = card.allocate("list", 4096, "list");

    // Puts a job for stream 0 into memory, as a list of one descriptor.
    explicit Host(uint16_t value) {
        const std::vector<uint16_t> keys(TOKENS * MESHKV_HEAD_DIM, 0x3800), values(keys.size(), value);
        for (uint32_t head = 0; head < MESHKV_KV_HEADS; ++head) cache.flush(cache.put(0, 0, head, 0, keys.data(), values.data(), nullptr, TOKENS));
        for (uint32_t at = 0; at < OUTPUTS; ++at) std::memcpy(queries.data() + 2 * at, &keys[0], 2);
        queries.to_card(0, OUTPUTS * sizeof(uint16_t));
        std::memset(outputs.data(), 0xa5, OUTPUTS * sizeof(uint16_t));
        outputs.to_card(0, OUTPUTS * sizeof(uint16_t));
        const auto words = driver.list({descriptor()});
        std::memcpy(list.data(), words.data(), sizeof words[0]);
        list.to_card(0, sizeof words[0]);
        arguments();
    }

    void arguments() {
        driver.argument(MESHKV_ARG_QUERIES, queries.address());
        driver.argument(MESHKV_ARG_OUTPUTS, outputs.address());
        driver.argument(MESHKV_ARG_LIST, list.address());
        for (uint32_t port = 0; port < MESHKV_PORTS; ++port) driver.argument(MESHKV_ARG_HBM(port), cache.base(port));
    }

    static meshkv::Descriptor descriptor() {
        return {0, 0, 0, 1, 2, 0, MESHKV_SEGMENT_TOKENS - 1, 0, 1, 1, false, true, true};
    }

    // Reads STATUS until it has said so many times in a row that nothing runs.
    void rest() {
        for (int still = 0; still < 20; ++still)
            if (card.read(MESHKV_STATUS) & MESHKV_STATUS_RUN_MASK) still = 0;
    }

    // A run that is under way, after so many accesses.
    void begin(int accesses) {
        driver.start(1, true, 1);
        wait(accesses);
    }

    // The same by the doorbell, rung so many times.
    void ring(int accesses, int times = 1) {
        for (int time = 0; time < times; ++time) driver.ring(0, 1, 1, false);
        wait(accesses);
    }

    void wait(int accesses) {
        for (int at = 0; at < accesses; ++at) card.read(MESHKV_STATUS);
    }
};

const std::map<std::string, std::function<void(Host &)>> STATES{
    {"nothing", [](Host &) {}},
    {"a run that has ended",
     [](Host &host) {
         host.begin(0);
         host.rest();
     }},
    {"a run that has begun", [](Host &host) { host.begin(0); }},
    {"a run under way", [](Host &host) { host.begin(25); }},
    {"runs without an end",
     [](Host &host) {
         host.begin(0);
         host.card.write(MESHKV_CTRL, MESHKV_CTRL_AUTO_RESTART_MASK);
     }},
    {"descriptors", [](Host &host) { host.driver.push(Host::descriptor()); }},
    {"a refusal",
     [](Host &host) {
         host.driver.start(1, true);
         host.rest();
     }},
    {"a reset under way",
     [](Host &host) {
         host.begin(25);
         host.card.write(MESHKV_SOFT_RESET, MESHKV_SOFT_RESET_GO_MASK);
     }},
    // From the list to the record, and a doorbell that waits behind another.
    {"a doorbell", [](Host &host) { host.ring(0); }},
    {"a call whose list is read", [](Host &host) { host.ring(3); }},
    {"a call whose queries are read", [](Host &host) { host.ring(8); }},
    {"a call under way", [](Host &host) { host.ring(25); }},
    {"a call near its end", [](Host &host) { host.ring(45); }},
    {"a call that has ended",
     [](Host &host) {
         host.ring(0);
         host.rest();
     }},
    {"a doorbell behind a call", [](Host &host) { host.ring(1, 2); }},
    {"a call that fails",
     [](Host &host) {
         host.driver.argument(MESHKV_ARG_LIST, 1);
         host.ring(12);
     }},
    {"little patience", [](Host &host) { host.card.write(MESHKV_WATCHDOG, 1); }},
    {"bad arguments",
     [](Host &host) {
         host.driver.argument(MESHKV_ARG_HBM(0), 1);
         host.driver.argument(MESHKV_ARG_LIST, 1);
         host.begin(0);
         host.rest();
     }},
};

const auto nap = [] {};

// Attention that is right, after a run that is refused: no queries have been loaded since this host began.
int follow() {
    constexpr uint16_t VALUE = 0x3a00;
    Host host(VALUE);
    host.driver.start(0, false, 1);
    try {
        host.driver.wait(LIMIT, nap);
        std::puts("a run on queries of the host before has ended");
        return 1;
    } catch (const meshkv::Error &error) {
        if (error.causes != MESHKV_ERROR_START_UNLOADED) {
            std::puts(error.what());
            return 1;
        }
    }
    host.driver.reset();
    host.driver.start(1, false, 1);
    host.driver.wait(LIMIT, nap);
    host.outputs.from_card(0, OUTPUTS * sizeof(uint16_t));
    for (uint32_t at = 0; at < OUTPUTS; ++at) {
        uint16_t output;
        std::memcpy(&output, host.outputs.data() + 2 * at, 2);
        if (output == VALUE) continue;
        std::printf("element %u is %04x, not %04x\n", at, output, VALUE);
        return 1;
    }
    std::puts("all outputs are right");
    return 0;
}

}  // namespace

int main(int count, char **words) {
    if (count == 1) {
        for (const auto &state : STATES) std::puts(state.first.c_str());
        return 0;
    }
    if (std::string(words[1]) == "next") return follow();
    Host host(0x3400);
    STATES.at(words[1])(host);
    // No destructor runs: the host has died.
    std::fflush(nullptr);
    std::_Exit(0);
}
