#include "team.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <system_error>

namespace meshkv {
namespace {

// About 20 us of spinning for the next round, and 100 us for the rest of this one.
constexpr unsigned kRoundSpins = 1000;
constexpr unsigned kMeetSpins = 5000;
// A thread that lets others wait so long is not running.
constexpr std::chrono::microseconds kLost{300};
// Rounds that the caller then does alone: twice as many each time, until all goes well so long.
constexpr unsigned kLeastAlone = 500;
constexpr unsigned kMostAlone = 8000;
constexpr unsigned kForgiven = 4000;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

}  // namespace

Team::Team(Job& job, unsigned parts) : job_(job), penalty_(kLeastAlone) {
    // Signals are for the program's own threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        for (unsigned index = 1; index < parts; ++index)
            threads_.emplace_back([this, index] { work(index); });
    } catch (const std::system_error&) {
        // The work falls to those that could be had.
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Team::~Team() {
    ending_ = true;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        round_.fetch_add(1);
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void Team::run() {
    if (threads_.empty()) return job_.part(0, 1);
    if (alone_ == 0) return run_together();
    --alone_;
    job_.part(0, 1);
}

void Team::run_together() {
    lost_ = false;
    // Sequentially consistent with wait_for_round: either the sleeper sees the
    // new round or it is seen here.
    round_.fetch_add(1);
    if (asleep_.load() != 0) {
        const std::lock_guard<std::mutex> lock(mutex_);
        wake_.notify_all();
    }
    const auto parts = static_cast<unsigned>(threads_.size()) + 1;
    job_.part(0, parts);
    meet(0, parts);
    judge();
}

// Decides whether the next rounds are done together.
void Team::judge() {
    if (!lost_) {
        if (++together_ == kForgiven) penalty_ = kLeastAlone;
        return;
    }
    alone_ = penalty_;
    penalty_ = std::min(2 * penalty_, kMostAlone);
    together_ = 0;
}

void Team::meet(unsigned index, unsigned parts) {
    if (parts == 1) return;
    const uint64_t met = met_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == parts) {
        arrived_.store(0, std::memory_order_relaxed);
        met_.store(met + 1, std::memory_order_release);
        return;
    }
    const auto all_here = [this, met] { return met_.load(std::memory_order_acquire) != met; };
    for (unsigned turn = 0; turn < kMeetSpins; ++turn) {
        if (all_here()) return;
        relax();
    }
    const auto start = std::chrono::steady_clock::now();
    while (!all_here()) sched_yield();
    if (index == 0 && std::chrono::steady_clock::now() - start > kLost) lost_ = true;
}

void Team::work(unsigned index) {
    for (uint64_t round = 1; wait_for_round(round); ++round) {
        const auto parts = static_cast<unsigned>(threads_.size()) + 1;
        job_.part(index, parts);
        meet(index, parts);
    }
}

// False when the team ends.
bool Team::wait_for_round(uint64_t round) {
    const auto begun = [this, round] { return round_.load() >= round; };
    for (unsigned turn = 0; turn < kRoundSpins && !begun(); ++turn) relax();
    if (!begun()) {
        std::unique_lock<std::mutex> lock(mutex_);
        asleep_.fetch_add(1);
        wake_.wait(lock, begun);
        asleep_.fetch_sub(1);
    }
    return !ending_.load();
}

}  // namespace meshkv
