// Drives the tiles' side of every local link of one fabric, cycle by cycle.
//
// Per period c, in this order: flits from the routers are collected, flits are offered, the
// clock ticks. A tile behaves like registered logic: a credit seen in period c is spent from
// c+1 on, and a flit seen in period c returns its credit in c+1.
#ifndef MESHKV_HARNESS_H
#define MESHKV_HARNESS_H

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "model.h"
#include "queue.h"
#include "shim.h"

namespace meshkv {

class Harness {
  public:
    explicit Harness(std::unique_ptr<Model> model);

    int32_t reset();
    void inject(const meshkv_flit& flit);
    int32_t step(uint64_t cycles);

    const uint32_t* take_ejections(std::size_t* count);
    const meshkv_entry* take_entries(std::size_t* count);
    void record(bool ejections, bool entries);
    void stall(uint32_t tile, uint64_t probability, uint64_t seed);
    void watchdog(uint64_t cycles) { watchdog_ = cycles; }

    uint64_t cycle() const { return cycle_; }
    const meshkv_totals& totals() const { return totals_; }
    const uint32_t* counters() const { return counters_.data(); }
    const uint32_t* vc_busy() const { return model_->ports().vc_busy; }
    uint32_t credit(uint32_t tile, uint32_t vc) const { return credits_[tile * vcs_ + vc]; }
    bool credits_home() const;
    bool drained() const;
    Model& model() { return *model_; }
    const Model& model() const { return *model_; }

    std::string message;

  private:
    static constexpr uint32_t kQueues = 3;

    // A tile that does not take everything at once.
    struct Stall {
        uint32_t tile;
        uint64_t probability;  // Of 2^32.
        uint64_t seed;
        uint64_t random;       // State of the draw; the seed again after a reset.
        uint32_t next_vc;
    };

    int32_t period();
    void collect_credits();
    void collect_flits();
    void eject(std::size_t bit);
    void consume_slowly();
    void offer_flits();
    bool offer(uint32_t tile, uint32_t queue_index);
    uint32_t choose_vc(uint32_t tile, const Queue& queue, uint32_t mask) const;
    bool anything_inside() const;
    bool any_vc_busy() const;
    void broken(const std::string& what);

    std::unique_ptr<Model> model_;
    const meshkv_geometry geometry_;
    const uint32_t tiles_;
    const uint32_t vcs_;
    const std::size_t dest_words_;
    const std::size_t head_words_;
    const std::size_t data_words_;
    const std::size_t valid_words_;

    uint64_t cycle_ = 0;
    meshkv_totals totals_{};
    int32_t ended_ = MESHKV_OK;  // Once not OK, nothing runs until a reset, or for good.

    std::vector<Queue> queues_;           // tile * kQueues + queue
    std::vector<uint32_t> next_queue_;    // tile: start of the round robin
    std::vector<uint32_t> queued_;        // tile: flits in its queues
    std::vector<uint32_t> credits_;       // tile * vcs + vc: free slots of the router
    std::vector<uint32_t> held_;          // tile * vcs + vc: slots in use at a stalled tile
    std::vector<uint32_t> freed_;         // bits: slots freed in the last period
    std::vector<uint32_t> returned_;      // bits: credits seen in this period
    std::vector<Stall> stalls_;
    std::vector<bool> stalled_;           // tile: has an entry in stalls_

    bool record_ejections_ = true;
    bool record_entries_ = false;
    bool ejections_taken_ = false;
    bool entries_taken_ = false;
    std::vector<uint32_t> ejections_;
    std::vector<meshkv_entry> entries_;
    std::vector<uint32_t> counters_;      // counter * tiles + tile

    uint64_t watchdog_ = 0;
    bool moved_ = false;                  // A flit or a credit moved in this period.
    bool ready_flit_ = false;             // A flit could not enter although ready.
    uint64_t still_ = 0;                  // Periods without movement.
    uint64_t quiet_ = 0;                  // Periods without movement and without a busy VC.
};

}  // namespace meshkv

#endif
