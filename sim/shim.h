// C surface of the device under test, opened from Rust with dlopen.
//
// One library contains one verilated fabric, this surface and the harness. No exception, exit
// or abort crosses the surface: the end of a simulation is a status and a message. A handle may
// move between threads but serves one at a time. Handles are independent of each other.
//
// Cycle c is the clock period that ends with the c-th rising edge after reset, counted from 0.
// Values on the wires during that period belong to cycle c, in either direction.
#ifndef MESHKV_SHIM_H
#define MESHKV_SHIM_H

#include <cstddef>
#include <cstdint>

#define MESHKV_API extern "C" __attribute__((visibility("default")))

// Raise it with every change of this file, so that an old library is refused.
constexpr uint32_t MESHKV_ABI = 4;

// Geometry of the library's design. Widths are in bits.
struct meshkv_geometry {
    uint32_t abi;
    uint32_t tiles;
    uint32_t vcs;
    uint32_t vc_depth;
    uint32_t dest_width;
    uint32_t head_width;
    uint32_t flit_width;
    uint32_t traced;  // Nonzero if waves can be written.
    uint32_t clocks;  // 2 if PaD has a clock of its own.
};

// One flit on its way in. Words are little-endian 32-bit, unused top bits zero.
struct meshkv_flit {
    uint32_t tile;
    uint32_t queue;    // 0, 1 or 2: flits of one queue enter in order.
    uint32_t vc_mask;  // VCs that a packet may use; read at its first flit.
    uint32_t last;     // Nonzero at the last flit of a packet.
    uint64_t ready_cycle;
    const uint32_t* dest;
    const uint32_t* head;
    const uint32_t* data;
};

// One flit that entered the mesh, in the order of entry.
struct meshkv_entry {
    uint64_t cycle;
    uint64_t sequence;  // Flits of the same queue that entered before it.
    uint32_t tile;
    uint32_t queue;
    uint32_t vc;
    uint32_t reserved;
};

// Flits since reset.
struct meshkv_totals {
    uint64_t queued;   // Not yet in the mesh.
    uint64_t entered;
    uint64_t left;     // Deliveries: a multicast flit counts once per destination.
};

enum meshkv_status : int32_t {
    MESHKV_OK = 0,
    MESHKV_STUCK = 1,     // The watchdog: flits inside, nothing moves.
    MESHKV_STOPPED = 2,   // $stop, $finish or a fatal error of the model; final.
    MESHKV_PROTOCOL = 3,  // The fabric broke the link protocol; final.
};

struct meshkv_dut;

MESHKV_API void meshkv_describe(meshkv_geometry* geometry);

// Returns null if the model cannot be made. The seed sets what registers hold before reset.
MESHKV_API meshkv_dut* meshkv_create(uint64_t seed);
MESHKV_API void meshkv_destroy(meshkv_dut* dut);

// Empties queues and records, asserts rst, restarts at cycle 0, and closes a wave file.
MESHKV_API int32_t meshkv_reset(meshkv_dut* dut);
// Reason why the last call failed; valid until the next call.
MESHKV_API const char* meshkv_message(const meshkv_dut* dut);

// False if memory ran out; the flit is then not queued.
MESHKV_API bool meshkv_inject(meshkv_dut* dut, const meshkv_flit* flit);
// Runs up to `cycles` periods, fewer if the status is not MESHKV_OK.
MESHKV_API int32_t meshkv_step(meshkv_dut* dut, uint64_t cycles);
// The next period to run, which is also the number of periods since reset.
MESHKV_API uint64_t meshkv_cycle(const meshkv_dut* dut);

// Records since the last call; they stay valid until the next step or reset.
// An ejection is 4 words (cycle low, cycle high, tile, VC), then head, then data.
MESHKV_API const uint32_t* meshkv_take_ejections(meshkv_dut* dut, size_t* count);
MESHKV_API const meshkv_entry* meshkv_take_entries(meshkv_dut* dut, size_t* count);
MESHKV_API void meshkv_record(meshkv_dut* dut, bool ejections, bool entries);

// Makes a tile keep received flits, with this probability per cycle (of 2^32). 0 frees all at
// once.
MESHKV_API void meshkv_stall(meshkv_dut* dut, uint32_t tile, uint64_t probability, uint64_t seed);
// Cycles without movement after which a step ends with MESHKV_STUCK; 0 for never.
MESHKV_API void meshkv_watchdog(meshkv_dut* dut, uint64_t cycles);

MESHKV_API void meshkv_totals_now(const meshkv_dut* dut, meshkv_totals* totals);
// 32 counters of `tiles` words each, counter-major; each was sampled within the last 25 cycles.
MESHKV_API const uint32_t* meshkv_counters(const meshkv_dut* dut);
// Bit (tile * 5 + port) * vcs + vc.
MESHKV_API const uint32_t* meshkv_vc_busy(const meshkv_dut* dut);
// Outputs of every router in the next period: for each tile and port a record of 1 + words of
// head + words of dest. In its first word, bits 0 to 7 are the virtual channel of the flit on
// the output (one-hot). Bits from 8 on mark the flit if it continues beyond the receiver. Bits
// from 16 on are the credits that the input returns. The rest is zero without a flit. Returns
// false if the library cannot show its links.
MESHKV_API bool meshkv_links(const meshkv_dut* dut, uint32_t* words);
// Credits that the tile has for the router's local input buffer on this VC.
MESHKV_API uint32_t meshkv_credit(const meshkv_dut* dut, uint32_t tile, uint32_t vc);
// True if all credits are back, at tiles and for tiles.
MESHKV_API bool meshkv_credits_home(const meshkv_dut* dut);
// True if nothing is queued, and nothing has been inside or moved for several cycles.
MESHKV_API bool meshkv_drained(const meshkv_dut* dut);

// Cycle c begins at time 10 * c of the file.
MESHKV_API int32_t meshkv_wave_start(meshkv_dut* dut, const char* path);
MESHKV_API int32_t meshkv_wave_stop(meshkv_dut* dut);

// Two clocks, in femtoseconds; periods are even numbers. The network's falls in the middle of
// its period. The other falls first at `phase_fs`, and each of its edges is shifted by up to
// `jitter_fs` either way.
struct meshkv_clocks {
    uint64_t noc_fs;
    uint64_t pe_fs;
    uint64_t phase_fs;
    uint64_t jitter_fs;  // Less than a quarter of pe_fs.
    uint64_t seed;
};

// The same model without a harness. After a tick its outputs have the values of the period that
// the tick ended. Inputs apply from the next period on.
struct meshkv_pins;
MESHKV_API meshkv_pins* meshkv_pins_create(uint64_t seed);
MESHKV_API void meshkv_pins_destroy(meshkv_pins* pins);
// Words of a port, little-endian, valid as long as the handle; null for an unknown name.
MESHKV_API uint32_t* meshkv_pins_port(meshkv_pins* pins, const char* name);
MESHKV_API int32_t meshkv_pins_tick(meshkv_pins* pins, bool rst);
// Sets the clocks from the next period on; until then they run in step. False if the library
// has one clock.
MESHKV_API bool meshkv_pins_clocks(meshkv_pins* pins, const meshkv_clocks* clocks);
// Inverts a bit of the payload of a flit, by its number on the link into a tile from a side: 0 north, 1 south, 2 east,
// 3 west. False if the library does not have this link, as where a fabric is verilated as a whole.
MESHKV_API bool meshkv_pins_flip(meshkv_pins* pins, uint32_t tile, uint32_t side, uint64_t number, uint32_t bit);
// True once that flit has come.
MESHKV_API bool meshkv_pins_flipped(const meshkv_pins* pins);
// Time in the file is that of the clocks, in picoseconds since the first reset.
MESHKV_API int32_t meshkv_pins_wave_start(meshkv_pins* pins, const char* path);
MESHKV_API void meshkv_pins_wave_stop(meshkv_pins* pins);
// Reason why the last tick or start of waves did not return MESHKV_OK.
MESHKV_API const char* meshkv_pins_message(const meshkv_pins* pins);

#endif
