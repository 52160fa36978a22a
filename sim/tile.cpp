// One verilated tile, run cols x rows times: the mesh is what copies the links.
//
// Every link is a register at its sender, so a period falls into two halves:
// first each tile takes what its neighbours show, then each is evaluated. The
// tiles may be shared out to threads, since no tile is read while one changes.
//
// tile_ports.h is generated from the design: how a tile's ports meet those of its
// neighbours and of the fabric. The verilated module is a socket around the tile
// that takes its inputs at the falling edge (see src/cosim/tile.rs).
#include <algorithm>
#include <thread>
#include <vector>

#include "Vdut.h"
#include "dut_config.h"
#include "ending.h"
#include "model.h"
#include "team.h"
#include "tile_ports.h"
#include "verilated.h"

namespace meshkv {
namespace {

// More threads than this have not been measured.
constexpr unsigned kMostParts = 2;
// Below this a thread waits longer than it works.
constexpr unsigned kTilesPerPart = 8;
// Of the fabric, unless all of it is verilated as one.
constexpr unsigned kTiles = MESHKV_COLS * MESHKV_ROWS;
// Tiles whose bits of any port begin at a word.
constexpr unsigned kAligned = 32;

unsigned wanted_parts() {
    const unsigned cores = std::max(1u, std::thread::hardware_concurrency());
    return std::max(1u, std::min({cores, kMostParts, kTiles / kTilesPerPart}));
}

class TileModel final : public Model, public Team::Job {
  public:
    explicit TileModel(uint64_t seed) {
        // Registers hold noise until reset, so that a missing reset shows.
        context_.randReset(2);
        context_.randSeed(static_cast<int>(seed % 0x7fffffffu) + 1);
        ports_ = Ports{wires_.find("rx_valid"),  wires_.find("rx_dest"),    wires_.find("rx_head"),
                       wires_.find("rx_data"),   wires_.find("tx_credit"),  wires_.find("rx_credit"),
                       wires_.find("tx_valid"),  wires_.find("tx_head"),    wires_.find("tx_data"),
                       wires_.find("vc_busy"),   wires_.find("stat_index"), wires_.find("stat_data")};
        make_tiles();
        team_ = std::make_unique<Team>(*this, wanted_parts());
        share_out();
    }

    ~TileModel() override {
        team_.reset();
        Verilated::threadContextp(&context_);
        const Watch watch(shares_.front().ending);
        for (auto& tile : tiles_) tile->final();
        tiles_.clear();
    }

    void tick(bool rst) override {
        rst_ = rst;
        team_->run();
        // Tiles that share a word with another thread's.
        for (std::size_t i = 1; i < shares_.size(); ++i)
            for (unsigned t = shares_[i].begin; t < shares_[i].aligned; ++t) sample(*tiles_[t], t, wires_);
        if (stopped()) return;
        for (Share& share : shares_) share.ending.flush();
    }

    bool stopped() const override {
        return std::any_of(shares_.begin(), shares_.end(),
                           [](const Share& share) { return share.ending.stopped; });
    }

    // In the order of the tiles, however many threads there are.
    std::string message() const override {
        Ending all;
        for (const Share& share : shares_) {
            if (all.reason.empty()) all.reason = share.ending.reason;
            all.printed += share.ending.printed;
        }
        return all.message();
    }

    uint32_t* port(const char* name) override { return wires_.find(name); }

    void restart_time() override {}
    std::string wave_start(const char*) override { return "a tile as model has no waves"; }
    void wave_stop() override {}

  private:
    // What one thread does: tiles begin to end - 1.
    struct alignas(64) Share {
        unsigned begin;
        unsigned end;
        unsigned aligned;  // From here on no word of a port is shared with the thread before.
        Ending ending;
    };

    void make_tiles() {
        Ending ending;
        const Watch watch(ending);
        for (unsigned t = 0; t < kTiles; ++t) {
            const unsigned x = t % MESHKV_COLS;
            const unsigned y = t / MESHKV_COLS;
            const std::string name =
                "gen_row[" + std::to_string(y) + "].gen_col[" + std::to_string(x) + "]";
            tiles_.push_back(std::make_unique<Vdut>(&context_, name.c_str()));
            Vdut& tile = *tiles_.back();
            // Links that would leave the mesh stay so.
            silence(tile);
            place(tile, x, y);
            // It takes its coordinates when rst rises, which must be seen to have been low.
            tile.clk = 1;
            tile.rst = 0;
            tile.eval();
        }
    }

    void share_out() {
        const unsigned parts = team_->parts();
        shares_ = std::vector<Share>(parts);
        for (unsigned i = 0; i < parts; ++i) {
            Share& share = shares_[i];
            share.begin = kTiles * i / parts;
            share.end = kTiles * (i + 1) / parts;
            const unsigned next = (share.begin + kAligned - 1) / kAligned * kAligned;
            share.aligned = std::min(share.end, next);
        }
    }

    void part(unsigned index) override {
        Share& share = shares_[index];
        Verilated::threadContextp(&context_);
        for (unsigned t = share.begin; t < share.end; ++t) take_inputs(t);
        team_->meet();
        const Watch watch(share.ending);
        try {
            for (unsigned t = share.begin; t < share.end; ++t) {
                Vdut& tile = *tiles_[t];
                tile.clk = 0;
                tile.eval();
                tile.clk = 1;
                tile.eval();
                if (t >= share.aligned) sample(tile, t, wires_);
            }
        } catch (const Fatal&) {
            // vl_fatal has noted the reason.
        }
    }

    void take_inputs(unsigned t) {
        Vdut& tile = *tiles_[t];
        const unsigned x = t % MESHKV_COLS;
        const unsigned y = t / MESHKV_COLS;
        tile.rst = rst_;
        drive(tile, t, wires_);
        if (y + 1 < MESHKV_ROWS) take_n(tile, *tiles_[t + MESHKV_COLS]);
        if (y > 0) take_s(tile, *tiles_[t - MESHKV_COLS]);
        if (x + 1 < MESHKV_COLS) take_e(tile, *tiles_[t + 1]);
        if (x > 0) take_w(tile, *tiles_[t - 1]);
    }

    VerilatedContext context_;
    std::vector<std::unique_ptr<Vdut>> tiles_;
    Wires wires_;
    bool rst_ = true;
    std::vector<Share> shares_;
    std::unique_ptr<Team> team_;
};

}  // namespace

const meshkv_geometry& model_geometry() {
    static const meshkv_geometry geometry = {
        MESHKV_ABI,        MESHKV_TILES,      MESHKV_VCS,        MESHKV_VC_DEPTH,
        MESHKV_DEST_WIDTH, MESHKV_HEAD_WIDTH, MESHKV_FLIT_WIDTH, MESHKV_TRACED};
    return geometry;
}

std::unique_ptr<Model> make_model(uint64_t seed) { return std::make_unique<TileModel>(seed); }

}  // namespace meshkv
