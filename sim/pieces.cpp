// Runs one verilated tile cols x rows times, and the periphery once. Copying the links between
// them makes the fabric.
//
// Every link has a register at its sender, so a period has two halves: first each piece copies
// the outputs of its neighbours, then each is evaluated. Two threads share the pieces, and the
// result does not depend on the split. A link between two SLRs of the device has a second
// register, which is kept here.
//
// glue.h is generated from the design: it connects a tile's ports to those of its neighbours,
// of the periphery and of the fabric. A verilated module is a wrapper that samples the inputs
// of its piece at the falling edge (see src/cosim/build/wrapper.rs).
//
// With two clocks a piece is evaluated at every edge of either, in the order of time. Nothing
// leaves a piece between two edges of the network's clock, so each piece can run its whole
// period alone. With waves all pieces advance together, edge by edge and on one thread, since a
// file has one time.
#include <algorithm>
#include <atomic>
#include <thread>
#include <type_traits>
#include <vector>

#include "Vdut.h"
#include "clocks.h"
#include "dut_config.h"
#include "geometry.h"
#include "glue.h"
#include "model.h"
#include "termination.h"
#include "verilated.h"
#include "worker_pair.h"
#if MESHKV_TRACED
#include "verilated_fst_c.h"
#endif

namespace meshkv {
namespace {

// Tiles of the fabric; 1 if it is verilated as a whole.
constexpr unsigned kTiles = MESHKV_COLS * MESHKV_ROWS;
// With fewer tiles a thread waits longer than it works.
constexpr unsigned kTilesPerThread = 6;
// Tiles that a thread takes at a time.
constexpr unsigned kChunk = 2;
constexpr unsigned kChunks = (kTiles + kChunk - 1) / kChunk;
// The periphery, if there is one, comes first; it is about as much work as a tile.
constexpr unsigned kPeripheries = std::is_same<Periphery, Nothing>::value ? 0 : 1;
constexpr unsigned kWork = kPeripheries + kChunks;

// 2 if PaD has a clock of its own.
constexpr unsigned kClocks = MESHKV_CLOCKS;
constexpr uint64_t kFsPerPs = 1000;
// Initial period of both clocks, in fs.
constexpr uint64_t kInStep = 4'000'000;

// True if there are registers between row y and the next.
constexpr bool crosses(unsigned y) { return (MESHKV_CROSSINGS >> y & 1) != 0; }

bool worth_two_threads() {
    return !MESHKV_TRACED && kTiles >= 2 * kTilesPerThread && std::thread::hardware_concurrency() >= 2;
}

class PieceModel final : public Model, public WorkerPair::Job {
  public:
    explicit PieceModel(uint64_t seed) {
        // Registers hold noise until reset, so that a missing reset is found.
        context_.randReset(2);
        context_.randSeed(static_cast<int>(seed % 0x7fffffffu) + 1);
        context_.traceEverOn(MESHKV_TRACED);
        ports_ = Ports{wires_.find("rx_valid"),  wires_.find("rx_dest"),    wires_.find("rx_head"),
                       wires_.find("rx_data"),   wires_.find("tx_credit"),  wires_.find("rx_credit"),
                       wires_.find("tx_valid"),  wires_.find("tx_head"),    wires_.find("tx_data"),
                       wires_.find("vc_busy"),   wires_.find("stat_index"), wires_.find("stat_data")};
        make_pieces();
        pair_ = std::make_unique<WorkerPair>(*this, worth_two_threads());
    }

    ~PieceModel() override {
        pair_.reset();
        Verilated::threadContextp(&context_);
        wave_stop();
        const Watch watch(terminations_.front());
        periphery_->final();
        for (auto& tile : tiles_) tile->final();
        periphery_.reset();
        tiles_.clear();
    }

    void tick(bool rst) override {
        rst_ = rst;
        if (kClocks == 2 || MESHKV_TRACED) steps_ = &schedule_.period(rst);
        taken_.store(0, std::memory_order_relaxed);
        pair_->run();
        if (!noted_.load(std::memory_order_relaxed)) return;
        noted_.store(false, std::memory_order_relaxed);
        for (Termination& termination : terminations_) stopped_ |= termination.stopped;
        if (stopped_) return;
        for (Termination& termination : terminations_) termination.flush();
    }

    bool stopped() const override { return stopped_; }

    // In the order of the pieces, not of the threads.
    std::string message() const override {
        Termination all;
        for (const Termination& termination : terminations_) {
            if (all.reason.empty()) all.reason = termination.reason;
            all.printed += termination.printed;
        }
        return all.message();
    }

    uint32_t* port(const char* name) override { return wires_.find(name); }

    void restart_time() override { schedule_.restart_time(); }

    bool show_links(uint32_t* words) const override {
        for (auto& tile : tiles_) {
            show_links_of(*tile, words);
            words += kLinkWords;
        }
        return true;
    }

    bool set_clocks(const meshkv_clocks& clocks) override {
        if (kClocks != 2) return false;
        schedule_.set(clocks);
        for (auto& tile : tiles_) doubt(*tile, clocks.jitter_fs != 0);
        return true;
    }

    bool flip(uint32_t tile, uint32_t side, uint64_t number, uint32_t bit) override {
        const unsigned x = tile % MESHKV_COLS;
        const unsigned y = tile / MESHKV_COLS;
        const bool has[] = {y + 1 < MESHKV_ROWS, y > 0, x + 1 < MESHKV_COLS, x > 0};
        if (tile >= kTiles || side > 3 || !has[side] || bit >= MESHKV_FLIT_WIDTH) return false;
        flip_ = Flip{tile, side, number, bit, false};
        return true;
    }

    bool flipped() const override { return flip_.done; }

#if MESHKV_TRACED
    std::string wave_start(const char* path) override {
        wave_stop();
        wave_ = std::make_unique<VerilatedFstC>();
        // Set before the file opens: the header carries it.
        wave_->set_time_unit("1ps");
        wave_->set_time_resolution("1ps");
        for (auto& tile : tiles_) tile->trace(wave_.get(), MESHKV_TRACE_DEPTH);
        trace(*periphery_, *wave_);
        wave_->open(path);
        if (wave_->isOpen()) return {};
        wave_.reset();
        return std::string("cannot write the wave file ") + path;
    }

    void wave_stop() override {
        if (!wave_) return;
        wave_->close();
        wave_.reset();
    }
#else
    std::string wave_start(const char*) override { return "this library was built without waves"; }
    void wave_stop() override {}
#endif

  private:
    void make_pieces() {
        const Watch watch(terminations_.front());
        periphery_ = std::make_unique<Periphery>(&context_, "u_periphery");
        silence(*periphery_);
        schedule_.set({kInStep, kInStep, kInStep / 2, 0, 0});
        periphery_->clk = 1;
        periphery_->eval();
        for (unsigned t = 0; t < kTiles; ++t) {
            const unsigned x = t % MESHKV_COLS;
            const unsigned y = t / MESHKV_COLS;
            std::string name = "gen_row[" + std::to_string(y) + "].gen_col[" + std::to_string(x) + "]";
            // Dots would become levels of the hierarchy in waves.
            if (MESHKV_TRACED)
                name = kTiles == 1 ? "TOP" : "tile_" + std::to_string(x) + "_" + std::to_string(y);
            tiles_.push_back(std::make_unique<Vdut>(&context_, name.c_str()));
            Vdut& tile = *tiles_.back();
            // Links at the edge of the mesh stay silent.
            silence(tile);
            place(tile, x, y);
            // A tile samples its coordinates when rst rises, so rst must be low before.
            tile.clk = 1;
            tile.rst = 0;
            hold(tile);
            tile.eval();
        }
    }

    void part(unsigned index, unsigned parts) override {
        Verilated::threadContextp(&context_);
        const unsigned end = kTiles * (index + 1) / parts;
        for (unsigned t = kTiles * index / parts; t < end; ++t) take_inputs(t);
        if (index == 0) {
            periphery_->rst = rst_;
            drive(*periphery_, wires_);
        }
        // All reads come before any change.
        pair_->meet(index, parts);
#if MESHKV_TRACED
        evaluate_together();
        return;
#endif
        // A thread that is slowed down by other programs leaves work to the other one. The two
        // ends cannot cross: no more is taken than there is.
        for (unsigned mine = 0; taken_.fetch_add(1, std::memory_order_relaxed) < kWork; ++mine)
            evaluate(index == 0 ? mine : kWork - 1 - mine);
    }

    void evaluate(unsigned work) {
        Termination& termination = terminations_[work];
        const Watch watch(termination);
        try {
            if (work < kPeripheries)
                evaluate_periphery();
            else
                evaluate_tiles((work - kPeripheries) * kChunk);
        } catch (const Fatal&) {
            // vl_fatal has noted the reason.
        }
        if (termination.stopped || !termination.printed.empty()) noted_.store(true, std::memory_order_relaxed);
    }

#if MESHKV_TRACED
    void evaluate_together() {
        Termination& termination = terminations_.front();
        const Watch watch(termination);
        try {
            for (const Step& step : *steps_) {
                periphery_->clk = step.clk;
                periphery_->eval();
                for (auto& tile : tiles_) {
                    set_clocks_of(*tile, step);
                    tile->eval();
                }
                if (wave_) wave_->dump(step.time / kFsPerPs);
            }
        } catch (const Fatal&) {
            // vl_fatal has noted the reason.
        }
        if (termination.stopped || !termination.printed.empty()) noted_.store(true, std::memory_order_relaxed);
        sample(*periphery_, wires_);
        for (unsigned t = 0; t < kTiles; ++t) {
            sample(*tiles_[t], t, wires_);
            if (t < MESHKV_COLS) sample_column(*tiles_[t], t, wires_);
        }
    }

    template <class Piece>
    static void trace(Piece& piece, VerilatedFstC& wave) {
        if constexpr (kPeripheries != 0) piece.trace(&wave, MESHKV_TRACE_DEPTH);
    }
#endif

    void evaluate_periphery() {
        run_period(*periphery_);
        sample(*periphery_, wires_);
    }

    void evaluate_tiles(unsigned first) {
        const unsigned end = std::min(kTiles, first + kChunk);
        for (unsigned t = first; t < end; ++t) {
            Vdut& tile = *tiles_[t];
            if constexpr (kClocks == 2)
                run_steps(tile);
            else
                run_period(tile);
            sample(tile, t, wires_);
            if (t < MESHKV_COLS) sample_column(tile, t, wires_);
        }
    }

    template <class Piece>
    static void run_period(Piece& piece) {
        piece.clk = 0;
        piece.eval();
        piece.clk = 1;
        piece.eval();
    }

    template <class Piece>
    void run_steps(Piece& piece) {
        for (const Step& step : *steps_) {
            set_clocks_of(piece, step);
            piece.eval();
        }
    }

    template <class Piece>
    static void set_clocks_of(Piece& piece, const Step& step) {
        piece.clk = step.clk;
        if constexpr (kClocks == 2) piece.pe_clk = step.pe_clk, piece.pe_rst = step.pe_rst;
    }

    // Ports that a piece in step with the network does not have; templates, so that such a
    // piece compiles.
    template <class Piece>
    static void hold(Piece& piece) {
        if constexpr (kClocks == 2) piece.pe_clk = 0, piece.pe_rst = 1, piece.doubt = 0;
    }
    template <class Piece>
    static void doubt(Piece& piece, bool doubt) {
        if constexpr (kClocks == 2) piece.doubt = doubt;
    }

    void take_inputs(unsigned t) {
        Vdut& tile = *tiles_[t];
        const unsigned x = t % MESHKV_COLS;
        const unsigned y = t / MESHKV_COLS;
        tile.rst = rst_;
        drive(tile, t, wires_);
        if (y + 1 < MESHKV_ROWS) {
            const Vdut& north = *tiles_[t + MESHKV_COLS];
            if (crosses(y)) {
                take_n(tile, from_n_[t]);
                from_n_[t].take(north);
            } else {
                take_n(tile, north);
            }
        }
        if (y == 0) {
            drive_column(tile, x, wires_);
        } else {
            const Vdut& south = *tiles_[t - MESHKV_COLS];
            if (crosses(y - 1)) {
                take_s(tile, from_s_[t]);
                from_s_[t].take(south);
            } else {
                take_s(tile, south);
            }
        }
        if (x + 1 < MESHKV_COLS) take_e(tile, *tiles_[t + 1]);
        if (x > 0) take_w(tile, *tiles_[t - 1]);
        if (t == flip_.tile && !flip_.done && !rst_ && valid_from(tile, flip_.side)) {
            if (flip_.left == 0) {
                invert_from(tile, flip_.side, flip_.bit);
                flip_.done = true;
            } else {
                --flip_.left;
            }
        }
    }

    // A bit of a flit that is to be inverted.
    struct Flip {
        uint32_t tile;
        uint32_t side;
        uint64_t left;  // Flits before it.
        uint32_t bit;
        bool done;
    };

    VerilatedContext context_;
    std::unique_ptr<Periphery> periphery_;
    std::vector<std::unique_ptr<Vdut>> tiles_;
    // By tile, registers of the signals from a neighbour in another SLR; unused in other tiles.
    std::vector<From_n> from_n_ = std::vector<From_n>(kTiles);
    std::vector<From_s> from_s_ = std::vector<From_s>(kTiles);
    Wires wires_;
    Schedule schedule_{MESHKV_TRACED != 0};
    const std::vector<Step>* steps_ = nullptr;  // of this period
#if MESHKV_TRACED
    std::unique_ptr<VerilatedFstC> wave_;
#endif
    Flip flip_{UINT32_MAX, 0, 0, 0, false};
    bool rst_ = true;
    bool stopped_ = false;
    std::vector<Termination> terminations_ = std::vector<Termination>(kWork);
    std::atomic<bool> noted_{false};  // A termination has a message.
    alignas(64) std::atomic<unsigned> taken_{0};  // Work of this period.
    std::unique_ptr<WorkerPair> pair_;
};

}  // namespace

std::unique_ptr<Model> make_model(uint64_t seed) { return std::make_unique<PieceModel>(seed); }

}  // namespace meshkv
