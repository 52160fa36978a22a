// Schedule of the edges of two unrelated clocks. The network's edges are evenly spaced. PaD's
// have a period of their own, and each is shifted by a random jitter.
#ifndef MESHKV_CLOCKS_H
#define MESHKV_CLOCKS_H

#include <cstdint>
#include <vector>

#include "shim.h"

namespace meshkv {

// Clocks at one evaluation of a model, and PaD's reset.
struct Step {
    uint64_t time;  // fs
    bool clk;
    bool pe_clk;
    bool pe_rst;
};

class Schedule {
  public:
    // Without waves, an edge that no logic depends on is merged with the next one that matters.
    explicit Schedule(bool every_edge) : every_edge_(every_edge) {}

    // Sets the clocks from the next period on.
    void set(const meshkv_clocks& clocks) {
        clocks_ = clocks;
        base_ = begin_;
        random_ = clocks.seed;
        edges_ = 0;
        place_edge();
    }

    uint64_t now() const { return begin_; }
    void restart_time() {
        edge_at_ -= begin_;
        base_ -= begin_;
        begin_ = 0;
    }

    // Steps of the next period of the network's clock, which falls in the middle and rises at
    // the end.
    const std::vector<Step>& period(bool rst) {
        steps_.clear();
        const uint64_t middle = begin_ + clocks_.noc_fs / 2;
        const uint64_t end = begin_ + clocks_.noc_fs;
        edges_until(middle, rst);
        clk_ = false;
        push(middle);
        edges_until(end, rst);
        clk_ = true;
        push(end);
        begin_ = end;
        return steps_;
    }

  private:
    // Adds a step for each edge of the other clock before `end`; one at `end` belongs to the
    // step there.
    void edges_until(uint64_t end, bool rst) {
        while (static_cast<int64_t>(edge_at_ - end) <= 0) {
            const bool rises = edges_ % 2 != 0;
            // The model must have seen the clock low before it rises.
            if (rises && !shown_) push(edge_at_);
            pe_clk_ = rises;
            shown_ = false;
            if (!rises) pe_rst_ = rst;
            if (edge_at_ != end && (rises || every_edge_)) push(edge_at_);
            ++edges_;
            place_edge();
        }
    }

    void push(uint64_t time) {
        steps_.push_back({time, clk_, pe_clk_, pe_rst_});
        shown_ = true;
    }

    void place_edge() {
        edge_at_ = base_ + clocks_.phase_fs + edges_ * (clocks_.pe_fs / 2);
        if (clocks_.jitter_fs == 0) return;
        // SplitMix64.
        uint64_t z = (random_ += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        edge_at_ += (z ^ (z >> 31)) % (2 * clocks_.jitter_fs + 1) - clocks_.jitter_fs;
    }

    const bool every_edge_;
    meshkv_clocks clocks_{};
    std::vector<Step> steps_;
    uint64_t begin_ = 0;    // start of the next period
    uint64_t base_ = 0;     // start of these clocks
    uint64_t edges_ = 0;    // edges since base_; even ones fall
    uint64_t edge_at_ = 0;  // time of the next edge
    uint64_t random_ = 0;
    bool clk_ = true;
    bool pe_clk_ = false;
    bool pe_rst_ = true;
    bool shown_ = true;     // A step has the present value of the other clock.
};

}  // namespace meshkv

#endif
