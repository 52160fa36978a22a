// Regular files in the place of the driver's character devices: `files CASE`, a line or a few of what comes of it.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>

#include "meshkv.hpp"

namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint64_t MEMORY = uint64_t{5} << 30;  // A place beyond 4 GiB.
int calls = 0;

// What the driver does at its best, but for regular files.
struct Calm : meshkv::LinuxCalls {
    static constexpr uint64_t MOST = 1000;
    static bool is_device(int) { return true; }
    static ssize_t pread(int file, void *to, size_t bytes, uint64_t at) { return ++calls, LinuxCalls::pread(file, to, bytes, at); }
    static ssize_t pwrite(int file, const void *from, size_t bytes, uint64_t at) { return ++calls, LinuxCalls::pwrite(file, from, bytes, at); }
};

// Signals, short transfers, no window.
struct Shaky : Calm {
    static bool signal() { return ++calls % 3 == 0 && (errno = EINTR); }
    static ssize_t pread(int file, void *to, size_t bytes, uint64_t at) { return signal() ? -1 : LinuxCalls::pread(file, to, bytes < 8 ? bytes : bytes * 2 / 3, at); }
    static ssize_t pwrite(int file, const void *from, size_t bytes, uint64_t at) { return signal() ? -1 : LinuxCalls::pwrite(file, from, bytes < 8 ? bytes : bytes * 2 / 3, at); }
    static void *map(int, size_t) { return errno = ENODEV, MAP_FAILED; }
};

// A file that the user may not open.
struct Forbidden : Calm {
    static int open(const char *path, int flags) {
        if (std::string(path) == "xdma0_c2h_0") return errno = EACCES, -1;
        return LinuxCalls::open(path, flags);
    }
};

// Half a register.
struct Halved : Shaky {
    static ssize_t pread(int file, void *to, size_t, uint64_t at) { return LinuxCalls::pread(file, to, 2, at); }
};

// An interrupt that never comes, and a signal while it is waited for.
struct Silent : Calm {
    static int wait(int, int) { return 0; }
};
struct Signalled : Calm {
    static int wait(int, int) { return errno = EINTR, -1; }
};

// Files as the driver has them: registers of zeros, and memory.
void made() {
    std::ofstream("xdma0_user", std::ios::binary) << std::string(4096, '\0');
    std::ofstream("xdma0_h2c_0", std::ios::binary).flush();
    std::ofstream("xdma0_events_0", std::ios::binary) << "1234";
    if (std::rename("xdma0_h2c_0", "xdma0_c2h_0") || ::link("xdma0_c2h_0", "xdma0_h2c_0")) std::abort();
}

Bytes drawn(size_t bytes) {
    std::mt19937 draw(7);
    Bytes all(bytes);
    for (auto &one : all) one = static_cast<uint8_t>(draw());
    return all;
}

template <typename Act>
void said(const Act &act) {
    try {
        act();
        std::puts("TAKEN");
    } catch (const std::exception &why) {
        std::puts(why.what());
    }
}

// Registers and memory, there and back.
template <typename Calls>
void round(const char *name) {
    meshkv::XdmaFiles<Calls> files("xdma0");
    calls = 0;
    files.write(0x40, 0x12345678);
    files.write(0x44, ~0u);
    const bool registers = files.read(0x40) == 0x12345678 && files.read(0x44) == ~0u && files.read(0x48) == 0;
    const int of_registers = std::exchange(calls, 0);
    const Bytes there = drawn(10000);
    Bytes back(there.size());
    files.to_card(MEMORY, there.data(), there.size());
    const int of_transfer = calls;
    files.from_card(MEMORY, back.data(), back.size());
    std::printf("%s: registers %s in %d calls, memory %s, %d calls a way\n", name, registers ? "equal" : "DIFFER", of_registers, there == back ? "equal" : "DIFFERS",
                of_transfer);
}

void rounds() {
    round<Calm>("calm");
    round<Shaky>("shaky");
}

void ends() {
    Bytes some(128);
    said([&] { meshkv::XdmaFiles<Calm>("xdma0").from_card(MEMORY, some.data(), some.size()); });
    said([&] { meshkv::XdmaFiles<Halved>("xdma0").read(0x40); });
    // A device that takes nothing.
    std::remove("xdma0_h2c_0");
    if (::symlink("/dev/full", "xdma0_h2c_0")) std::abort();
    said([&] { meshkv::XdmaFiles<Calm>("xdma0").to_card(4096, some.data(), some.size()); });
}

void missing() {
    for (const char *name : {"xdma0_events_0", "xdma0_c2h_0", "xdma0_h2c_0", "xdma0_user"}) {
        std::remove(name);
        said([&] {
            meshkv::XdmaFiles<Calm> files("xdma0");
            files.wait(std::chrono::milliseconds(1));
        });
    }
}

void refused() {
    said([] { meshkv::XdmaFiles<Forbidden> files("xdma0"); });
    said([] { meshkv::XdmaFiles<meshkv::LinuxCalls> files("xdma0"); });
    said([] {
        meshkv::XdmaFiles<Calm> first("xdma0");
        meshkv::XdmaFiles<Calm> second("xdma0");
    });
    said([] { meshkv::XdmaCardBy<Calm> card("card.xclbin", 0); });
    said([] { meshkv::XdmaCardBy<Calm> card("xdma0", 1); });
    said([] {
        meshkv::XdmaCardBy<Calm> card("xdma0", 0);
        meshkv::Driver<meshkv::XdmaCardBy<Calm>> driver(card);
    });
    std::ofstream("xdma0_user", std::ios::binary) << std::string(4096, '\xff');
    said([] { meshkv::XdmaCardBy<Calm> card("xdma0", 0); });
}

void interrupts() {
    const std::chrono::milliseconds limit(1);
    std::printf("%d", meshkv::XdmaFiles<Calm>("xdma0").wait(limit));
    std::printf("%d", meshkv::XdmaFiles<Silent>("xdma0").wait(limit));
    std::printf("%d\n", meshkv::XdmaFiles<Signalled>("xdma0").wait(limit));
}

// All buffers of a device, and others of any size until none fits: aligned, apart, and in their channels.
void places() {
    using Card = meshkv::XdmaCardBy<Calm>;
    meshkv::XdmaFiles<Calm>("xdma0").write(MESHKV_MAGIC, MESHKV_MAGIC_VALUE);
    std::mt19937_64 draw(11);
    for (int order = 0; order < 20; ++order) {
        Card card("xdma0", 0);
        std::map<uint64_t, uint64_t> taken;
        std::vector<Card::Buffer> kept;
        const auto add = [&](Card::Buffer buffer, uint64_t bytes, const meshkv::Room &room) {
            const uint64_t first = buffer.address();
            const auto next = taken.lower_bound(first);
            const bool behind = next == taken.begin() || std::prev(next)->second <= first;
            if (first % MESHKV_BUFFER_ALIGN || !behind || (next != taken.end() && next->first < first + bytes) || first < room.first || first + bytes > room.end) std::puts("MISPLACED");
            taken[first] = first + bytes;
            kept.push_back(std::move(buffer));
        };
        const meshkv::Room all{0, MESHKV_CHANNELS * uint64_t{MESHKV_CHANNEL_BYTES}};
        const auto other = [&](uint64_t bytes) { add(card.allocate("queries", bytes, "a buffer"), bytes, all); };
        // Before the cache as well as after it.
        for (int count = 0; count < order; ++count) other(1 + draw() % (uint64_t{1} << 28));
        for (uint32_t port = 0; port < MESHKV_PORTS; ++port) {
            const auto channels = meshkv::channels_of_port(port);
            const uint64_t bytes = meshkv::part_of_port(port).bytes;
            if (!bytes) continue;
            add(card.allocate("hbm00", channels, bytes, "the part of the cache"), bytes, meshkv::room_of(channels));
            if (kept.back().address() != meshkv::room_of(channels).first) std::puts("NOT AT THE BEGINNING");
        }
        try {
            while (true) other(1 + draw() % (uint64_t{1} << 30));
        } catch (const meshkv::Refused &why) {
            if (order == 0) std::puts(why.what());
        }
    }
    Card card("xdma0", 0);
    said([&] { card.allocate("hbm03", meshkv::channels_of_port(MESHKV_PORTS - 1), uint64_t{1} << 33, "the part of the cache of the last port"); });
    std::puts("all apart");
}

const std::map<std::string, void (*)()> CASES{{"rounds", rounds}, {"ends", ends}, {"missing", missing}, {"refused", refused}, {"interrupts", interrupts}, {"places", places}};

}  // namespace

int main(int, char **words) {
    made();
    CASES.at(words[1])();
    return 0;
}
