// The tiles' side of every local link; harness.h has the order of a period.
#include "harness.h"

#include <algorithm>

#include "bits.h"

namespace meshkv {
namespace {

// Queue record: ready cycle (2 words), VC mask with the last flag on top, then the flit.
constexpr std::size_t kQueueHeader = 3;
constexpr uint32_t kLast = 1u << 31;
// Ejection record: cycle (2 words), tile, VC, then head and data.
constexpr std::size_t kEjectionHeader = 4;

constexpr unsigned kCounters = 32;
constexpr unsigned kResetCycles = 8;
// Longer than a flit can be between two buffers, where no vc_busy bit is set for it.
constexpr uint64_t kQuietCycles = 8;

// SplitMix64: one addition of state per draw, good enough to decide a stall.
uint64_t draw(uint64_t& state) {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

template <class F>
void for_each_bit(const uint32_t* words, std::size_t count, F&& visit) {
    for (std::size_t w = 0; w < count; ++w)
        for (uint32_t rest = words[w]; rest != 0; rest &= rest - 1)
            visit(w * 32 + static_cast<unsigned>(__builtin_ctz(rest)));
}

}  // namespace

Harness::Harness(std::unique_ptr<Model> model)
    : model_(std::move(model)), geometry_(model_geometry()), tiles_(geometry_.tiles),
      vcs_(geometry_.vcs), dest_words_(words_for(geometry_.dest_width)),
      head_words_(words_for(geometry_.head_width)), data_words_(words_for(geometry_.flit_width)),
      valid_words_(words_for(static_cast<std::size_t>(tiles_) * vcs_)),
      queues_(static_cast<std::size_t>(tiles_) * kQueues), next_queue_(tiles_), queued_(tiles_),
      credits_(static_cast<std::size_t>(tiles_) * vcs_), held_(credits_.size()),
      freed_(valid_words_), returned_(valid_words_), stalled_(tiles_),
      counters_(static_cast<std::size_t>(tiles_) * kCounters) {
    for (Queue& queue : queues_)
        queue.set_record_words(kQueueHeader + dest_words_ + head_words_ + data_words_);
}

int32_t Harness::reset() {
    // A stopped model cannot be reset; a broken protocol can.
    if (model_->stopped()) return ended_ = MESHKV_STOPPED;
    ended_ = MESHKV_OK;
    for (Queue& queue : queues_) queue.clear();
    std::fill(next_queue_.begin(), next_queue_.end(), 0);
    std::fill(queued_.begin(), queued_.end(), 0);
    std::fill(credits_.begin(), credits_.end(), geometry_.vc_depth);
    std::fill(held_.begin(), held_.end(), 0);
    std::fill(freed_.begin(), freed_.end(), 0);
    for (Stall& stall : stalls_) stall.random = stall.seed;
    std::fill(counters_.begin(), counters_.end(), 0);
    ejections_.clear();
    entries_.clear();
    totals_ = {};
    cycle_ = still_ = quiet_ = 0;

    const Ports& p = model_->ports();
    std::fill_n(p.rx_valid, valid_words_, 0);
    std::fill_n(p.tx_credit, valid_words_, 0);
    model_->wave_stop();
    for (unsigned i = 0; i < kResetCycles && !model_->stopped(); ++i) model_->tick(true);
    model_->restart_time();
    if (!model_->stopped()) return MESHKV_OK;
    message = "in reset: " + model_->message();
    return ended_ = MESHKV_STOPPED;
}

void Harness::inject(const meshkv_flit& flit) {
    uint32_t* record = queues_[flit.tile * kQueues + flit.queue].push();
    record[0] = static_cast<uint32_t>(flit.ready_cycle);
    record[1] = static_cast<uint32_t>(flit.ready_cycle >> 32);
    record[2] = flit.vc_mask | (flit.last ? kLast : 0);
    record += kQueueHeader;
    std::copy_n(flit.dest, dest_words_, record);
    std::copy_n(flit.head, head_words_, record + dest_words_);
    std::copy_n(flit.data, data_words_, record + dest_words_ + head_words_);
    ++queued_[flit.tile];
    ++totals_.queued;
}

int32_t Harness::step(uint64_t cycles) {
    // Taken records live until here, so that Rust can read them in place.
    if (ejections_taken_) ejections_.clear();
    if (entries_taken_) entries_.clear();
    ejections_taken_ = entries_taken_ = false;
    for (; cycles > 0 && ended_ == MESHKV_OK; --cycles) {
        if (period() == MESHKV_STUCK) return MESHKV_STUCK;
    }
    return ended_;
}

int32_t Harness::period() {
    const Ports& p = model_->ports();
    moved_ = ready_flit_ = false;
    std::copy(freed_.begin(), freed_.end(), p.tx_credit);
    std::fill(freed_.begin(), freed_.end(), 0);
    std::copy_n(p.stat_data, tiles_, &counters_[(p.stat_index[0] % kCounters) * tiles_]);

    collect_flits();
    if (!stalls_.empty()) consume_slowly();
    // The returned credits are copied before the tick overwrites the port.
    std::copy_n(p.rx_credit, valid_words_, returned_.begin());
    offer_flits();
    collect_credits();
    quiet_ = moved_ || any_vc_busy() ? 0 : quiet_ + 1;
    if (ended_ != MESHKV_OK) return ended_;

    model_->tick(false);
    if (model_->stopped()) {
        message = "in cycle " + std::to_string(cycle_) + ": " + model_->message();
        return ended_ = MESHKV_STOPPED;
    }
    ++cycle_;

    still_ = moved_ ? 0 : still_ + 1;
    if (watchdog_ == 0 || still_ < watchdog_) return MESHKV_OK;
    still_ = 0;
    return anything_inside() ? MESHKV_STUCK : MESHKV_OK;
}

// Runs after offer_flits: a credit seen in this period is spent from the next on.
void Harness::collect_credits() {
    for_each_bit(returned_.data(), valid_words_, [this](std::size_t bit) {
        moved_ = true;
        if (++credits_[bit] > geometry_.vc_depth)
            broken("tile " + std::to_string(bit / vcs_) + " got back more credits on VC " +
                   std::to_string(bit % vcs_) + " than it has spent");
    });
}

void Harness::collect_flits() {
    const Ports& p = model_->ports();
    std::size_t last_tile = tiles_;
    for_each_bit(p.tx_valid, valid_words_, [&](std::size_t bit) {
        const std::size_t tile = bit / vcs_;
        // All VCs of a tile share the wires of head and data.
        if (tile == last_tile)
            broken("tile " + std::to_string(tile) + " was sent flits on two VCs at once");
        last_tile = tile;
        eject(bit);
    });
}

void Harness::eject(std::size_t bit) {
    const auto tile = static_cast<uint32_t>(bit / vcs_);
    const auto vc = static_cast<uint32_t>(bit % vcs_);
    moved_ = true;
    ++totals_.left;
    if (stalled_[tile]) {
        if (++held_[bit] > geometry_.vc_depth)
            broken("tile " + std::to_string(tile) + " was sent a flit on VC " +
                   std::to_string(vc) + " without a credit");
    } else {
        set_bit(freed_.data(), bit);
    }
    if (!record_ejections_) return;

    const Ports& p = model_->ports();
    const std::size_t at = ejections_.size();
    ejections_.resize(at + kEjectionHeader + head_words_ + data_words_);
    uint32_t* record = ejections_.data() + at;
    record[0] = static_cast<uint32_t>(cycle_);
    record[1] = static_cast<uint32_t>(cycle_ >> 32);
    record[2] = tile;
    record[3] = vc;
    record += kEjectionHeader;
    get_slice(p.tx_head, static_cast<std::size_t>(tile) * geometry_.head_width,
              geometry_.head_width, record);
    get_slice(p.tx_data, static_cast<std::size_t>(tile) * geometry_.flit_width,
              geometry_.flit_width, record + head_words_);
}

// A stalling tile frees at most one slot a cycle, its VCs in turn.
void Harness::consume_slowly() {
    for (Stall& stall : stalls_) {
        // Drawn every cycle, so that the pattern does not depend on the traffic.
        if ((draw(stall.random) >> 32) < stall.probability) continue;
        for (uint32_t i = 0; i < vcs_; ++i) {
            const uint32_t vc = (stall.next_vc + i) % vcs_;
            const std::size_t bit = static_cast<std::size_t>(stall.tile) * vcs_ + vc;
            if (held_[bit] == 0) continue;
            --held_[bit];
            set_bit(freed_.data(), bit);
            stall.next_vc = vc + 1;
            moved_ = true;
            break;
        }
    }
}

void Harness::offer_flits() {
    std::fill_n(model_->ports().rx_valid, valid_words_, 0);
    for (uint32_t tile = 0; tile < tiles_; ++tile) {
        if (queued_[tile] == 0) continue;
        for (uint32_t i = 0; i < kQueues; ++i) {
            const uint32_t queue = (next_queue_[tile] + i) % kQueues;
            if (!offer(tile, queue)) continue;
            next_queue_[tile] = (queue + 1) % kQueues;
            break;
        }
    }
}

// Puts the first flit of a queue on the wires if it is ready and has a credit.
bool Harness::offer(uint32_t tile, uint32_t queue_index) {
    Queue& queue = queues_[tile * kQueues + queue_index];
    if (queue.empty()) return false;
    const uint32_t* record = queue.front();
    if ((record[0] | static_cast<uint64_t>(record[1]) << 32) > cycle_) return false;
    const uint32_t mask = record[2] & ~kLast;
    const uint32_t vc = queue.vc != Queue::kNone ? queue.vc : choose_vc(tile, queue, mask);
    if (vc == Queue::kNone || credits_[tile * vcs_ + vc] == 0) {
        ready_flit_ = true;
        return false;
    }

    const Ports& p = model_->ports();
    const std::size_t t = tile;
    const uint32_t* flit = record + kQueueHeader;
    set_bit(p.rx_valid, t * vcs_ + vc);
    put_slice(p.rx_dest, t * geometry_.dest_width, geometry_.dest_width, flit);
    put_slice(p.rx_head, t * geometry_.head_width, geometry_.head_width, flit + dest_words_);
    put_slice(p.rx_data, t * geometry_.flit_width, geometry_.flit_width,
              flit + dest_words_ + head_words_);

    --credits_[tile * vcs_ + vc];
    // The rest of a packet stays on its VC; a new packet may choose again.
    queue.vc = (record[2] & kLast) != 0 ? Queue::kNone : vc;
    queue.next_vc = vc + 1;
    if (record_entries_) entries_.push_back({cycle_, queue.entered, tile, queue_index, vc, 0});
    ++queue.entered;
    queue.pop();
    --queued_[tile];
    --totals_.queued;
    ++totals_.entered;
    moved_ = true;
    return true;
}

// The VC with most credits; among equals the one after the last used, so that none idles.
uint32_t Harness::choose_vc(uint32_t tile, const Queue& queue, uint32_t mask) const {
    uint32_t best = Queue::kNone;
    uint32_t most = 0;
    for (uint32_t i = 0; i < vcs_; ++i) {
        const uint32_t vc = (queue.next_vc + i) % vcs_;
        if ((mask >> vc & 1) == 0 || credits_[tile * vcs_ + vc] <= most) continue;
        best = vc;
        most = credits_[tile * vcs_ + vc];
    }
    return best;
}

const uint32_t* Harness::take_ejections(std::size_t* count) {
    *count = ejections_taken_ ? 0 : ejections_.size() / (kEjectionHeader + head_words_ + data_words_);
    ejections_taken_ = true;
    return ejections_.data();
}

const meshkv_entry* Harness::take_entries(std::size_t* count) {
    *count = entries_taken_ ? 0 : entries_.size();
    entries_taken_ = true;
    return entries_.data();
}

void Harness::record(bool ejections, bool entries) {
    record_ejections_ = ejections;
    record_entries_ = entries;
}

void Harness::stall(uint32_t tile, uint64_t probability, uint64_t seed) {
    const auto entry = std::find_if(stalls_.begin(), stalls_.end(),
                                    [tile](const Stall& s) { return s.tile == tile; });
    // Once stalling, a tile keeps its slots counted: it may still hold flits.
    if (entry != stalls_.end()) {
        entry->probability = probability;
        entry->seed = entry->random = seed;
    } else if (probability != 0) {
        stalls_.push_back({tile, probability, seed, seed, 0});
        stalled_[tile] = true;
    }
}

bool Harness::credits_home() const {
    const auto is_full = [this](uint32_t credit) { return credit == geometry_.vc_depth; };
    const auto is_zero = [](uint32_t value) { return value == 0; };
    return std::all_of(credits_.begin(), credits_.end(), is_full) &&
           std::all_of(held_.begin(), held_.end(), is_zero) &&
           std::all_of(freed_.begin(), freed_.end(), is_zero);
}

bool Harness::drained() const {
    return totals_.queued == 0 && quiet_ >= kQuietCycles && credits_home();
}

bool Harness::any_vc_busy() const {
    const uint32_t* busy = model_->ports().vc_busy;
    const std::size_t words = words_for(static_cast<std::size_t>(tiles_) * 5 * vcs_);
    uint32_t any = 0;
    for (std::size_t w = 0; w < words; ++w) any |= busy[w];
    return any != 0;
}

bool Harness::anything_inside() const { return ready_flit_ || !credits_home() || any_vc_busy(); }

void Harness::broken(const std::string& what) {
    if (ended_ != MESHKV_OK) return;  // The first violation is the cause.
    message = "in cycle " + std::to_string(cycle_) + ": " + what;
    ended_ = MESHKV_PROTOCOL;
}

}  // namespace meshkv
