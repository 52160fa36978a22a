// The verilated mesh as one model, compiled for each design.
//
// dut_config.h is generated from the design; Vdut.h by Verilator.
#include "Vdut.h"
#include "dut_config.h"
#include "geometry.h"
#include "model.h"
#include "termination.h"
#include "verilated.h"
#if MESHKV_TRACED
#include "verilated_fst_c.h"
#endif

namespace meshkv {
namespace {

// Words of a port of up to 64 bits. Verilator keeps such ports in integers of four sizes, so
// the harness works on a copy.
template <class T>
class Pin {
  public:
    explicit Pin(T& pin) : pin_(pin) {}
    static constexpr unsigned max_bits = 8 * sizeof(T);
    static constexpr unsigned min_bits = sizeof(T) == 1 ? 1 : 4 * sizeof(T) + 1;
    uint32_t* words() { return words_; }
    void drive() {
        pin_ = static_cast<T>(words_[0] | static_cast<uint64_t>(words_[1]) << 32);
    }
    void sample() {
        words_[0] = static_cast<uint32_t>(pin_);
        words_[1] = static_cast<uint32_t>(static_cast<uint64_t>(pin_) >> 32);
    }

  private:
    T& pin_;
    uint32_t words_[2] = {0, 0};
};

// Wider ports are arrays of words already: the harness works on them in place.
template <std::size_t N>
class Pin<VlWide<N>> {
  public:
    explicit Pin(VlWide<N>& pin) : pin_(pin) {}
    static constexpr unsigned max_bits = 32 * N;
    static constexpr unsigned min_bits = 32 * N - 31;
    uint32_t* words() { return pin_.data(); }
    void drive() {}
    void sample() {}

  private:
    VlWide<N>& pin_;
};

template <class T>
using PinOf = Pin<std::remove_reference_t<T>>;

// Detects a fabric whose ports differ from the design's.
template <class P>
constexpr bool fits(unsigned bits) {
    return P::min_bits <= bits && bits <= P::max_bits;
}

constexpr unsigned kTimePerCycle = 10;

class VerilatedModel final : public Model {
  public:
    explicit VerilatedModel(uint64_t seed) {
        // Registers hold noise until reset, so that a missing reset is found.
        context_.randReset(2);
        context_.randSeed(static_cast<int>(seed % 0x7fffffffu) + 1);
        context_.traceEverOn(MESHKV_TRACED);
        const Watch watch(termination_);
        top_ = std::make_unique<Vdut>(&context_, "TOP");
        pins_ = std::make_unique<Pins>(*top_);
        Pins& p = *pins_;
        ports_ = Ports{p.rx_valid.words(),  p.rx_dest.words(),    p.rx_head.words(),
                       p.rx_data.words(),   p.tx_credit.words(),  p.rx_credit.words(),
                       p.tx_valid.words(),  p.tx_head.words(),    p.tx_data.words(),
                       p.vc_busy.words(),   p.stat_index.words(), p.stat_data.words()};
        top_->clk = 1;
        hold(true);
    }

    ~VerilatedModel() override {
        // Verilator removes a dying model's scopes from the thread's context, which may by now
        // be that of another instance, or of one that is gone.
        Verilated::threadContextp(&context_);
        wave_stop();
        const Watch watch(termination_);
        top_->final();
        pins_.reset();
        top_.reset();
    }

    void tick(bool rst) override {
        const Watch watch(termination_);
        Verilated::threadContextp(&context_);
        try {
            pins_->drive();
            hold(rst);
            dump(0);
            top_->clk = 0;
            top_->eval();
            dump(kTimePerCycle / 2);
            top_->clk = 1;
            top_->eval();
            pins_->sample();
        } catch (const Fatal&) {
            // vl_fatal has noted the reason.
        }
        time_ += kTimePerCycle;
        if (!termination_.stopped) termination_.flush();
    }

    bool stopped() const override { return termination_.stopped; }

    std::string message() const override { return termination_.message(); }

    void restart_time() override {
        wave_stop();
        time_ = 0;
    }

#if MESHKV_TRACED
    std::string wave_start(const char* path) override {
        wave_stop();
        wave_ = std::make_unique<VerilatedFstC>();
        // Set before the file opens: the header carries it.
        wave_->set_time_unit("1ns");
        wave_->set_time_resolution("1ns");
        top_->trace(wave_.get(), MESHKV_TRACE_DEPTH);
        wave_->open(path);
        if (wave_->isOpen()) return {};
        wave_.reset();
        return std::string("cannot write the wave file ") + path;
    }

    void wave_stop() override {
        if (!wave_) return;
        dump(0);  // Includes the state after the last edge.
        wave_->close();
        wave_.reset();
    }

  private:
    // Only a dump needs the wires to settle before the clock falls.
    void dump(unsigned offset) {
        if (!wave_) return;
        if (offset == 0 && !termination_.stopped) top_->eval();
        wave_->dump(time_ + offset);
    }
#else
    std::string wave_start(const char*) override {
        return "this library was built without waves";
    }
    void wave_stop() override {}

  private:
    void dump(unsigned) {}
#endif

    // Every tile has a reset of its own; all change together.
    void hold(bool rst) {
        uint32_t* words = pins_->rst.words();
        for (unsigned t = 0; t < MESHKV_TILES; ++t) {
            const uint32_t bit = uint32_t{1} << t % 32;
            words[t / 32] = rst ? words[t / 32] | bit : words[t / 32] & ~bit;
        }
        pins_->rst.drive();
    }

    struct Pins {
        explicit Pins(Vdut& t)
            : rst(t.rst), rx_valid(t.rx_valid), rx_dest(t.rx_dest), rx_head(t.rx_head), rx_data(t.rx_data),
              tx_credit(t.tx_credit), rx_credit(t.rx_credit), tx_valid(t.tx_valid),
              tx_head(t.tx_head), tx_data(t.tx_data), vc_busy(t.vc_busy),
              stat_index(t.stat_index), stat_data(t.stat_data) {
            sample();
        }
        void drive() {
            rx_valid.drive();
            rx_dest.drive();
            rx_head.drive();
            rx_data.drive();
            tx_credit.drive();
        }
        void sample() {
            rx_credit.sample();
            tx_valid.sample();
            tx_head.sample();
            tx_data.sample();
            vc_busy.sample();
            stat_index.sample();
            stat_data.sample();
        }
        PinOf<decltype(Vdut::rst)> rst;
        PinOf<decltype(Vdut::rx_valid)> rx_valid;
        PinOf<decltype(Vdut::rx_dest)> rx_dest;
        PinOf<decltype(Vdut::rx_head)> rx_head;
        PinOf<decltype(Vdut::rx_data)> rx_data;
        PinOf<decltype(Vdut::tx_credit)> tx_credit;
        PinOf<decltype(Vdut::rx_credit)> rx_credit;
        PinOf<decltype(Vdut::tx_valid)> tx_valid;
        PinOf<decltype(Vdut::tx_head)> tx_head;
        PinOf<decltype(Vdut::tx_data)> tx_data;
        PinOf<decltype(Vdut::vc_busy)> vc_busy;
        PinOf<decltype(Vdut::stat_index)> stat_index;
        PinOf<decltype(Vdut::stat_data)> stat_data;

        static_assert(fits<decltype(rst)>(MESHKV_TILES), "rst");
        static_assert(fits<decltype(rx_valid)>(MESHKV_TILES * MESHKV_VCS), "rx_valid");
        static_assert(fits<decltype(rx_dest)>(MESHKV_TILES * MESHKV_DEST_WIDTH), "rx_dest");
        static_assert(fits<decltype(rx_head)>(MESHKV_TILES * MESHKV_HEAD_WIDTH), "rx_head");
        static_assert(fits<decltype(rx_data)>(MESHKV_TILES * MESHKV_FLIT_WIDTH), "rx_data");
        static_assert(fits<decltype(tx_credit)>(MESHKV_TILES * MESHKV_VCS), "tx_credit");
        static_assert(fits<decltype(rx_credit)>(MESHKV_TILES * MESHKV_VCS), "rx_credit");
        static_assert(fits<decltype(tx_valid)>(MESHKV_TILES * MESHKV_VCS), "tx_valid");
        static_assert(fits<decltype(tx_head)>(MESHKV_TILES * MESHKV_HEAD_WIDTH), "tx_head");
        static_assert(fits<decltype(tx_data)>(MESHKV_TILES * MESHKV_FLIT_WIDTH), "tx_data");
        static_assert(fits<decltype(vc_busy)>(MESHKV_TILES * 5 * MESHKV_VCS), "vc_busy");
        static_assert(fits<decltype(stat_index)>(5), "stat_index");
        static_assert(fits<decltype(stat_data)>(MESHKV_TILES * 32), "stat_data");
    };

    VerilatedContext context_;
    Termination termination_;
    std::unique_ptr<Vdut> top_;
    std::unique_ptr<Pins> pins_;
#if MESHKV_TRACED
    std::unique_ptr<VerilatedFstC> wave_;
#endif
    uint64_t time_ = 0;
};

}  // namespace

std::unique_ptr<Model> make_model(uint64_t seed) { return std::make_unique<VerilatedModel>(seed); }

}  // namespace meshkv
