#include "worker_pair.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <system_error>

namespace meshkv {
namespace {

// About a millisecond of spinning for the next round, the caller's time between two steps of a
// checked run; and 100 us for the rest of this round.
constexpr unsigned kRoundSpins = 60000;
constexpr unsigned kMeetSpins = 5000;
// A helper that is late by so much is not running.
constexpr std::chrono::microseconds kLost{300};
// Length of the pause without it, in multiples of the lost time.
constexpr int kLeftOut = 25;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

}  // namespace

WorkerPair::WorkerPair(Job& job, bool helped) : job_(job) {
    if (!helped) return;
    // Signals go to the program's own threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        helper_ = std::thread([this] { help(); });
    } catch (const std::system_error&) {
        // The caller works alone.
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

WorkerPair::~WorkerPair() {
    if (!helper_.joinable()) return;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        ending_ = true;
    }
    round_.fetch_add(1);
    wake_.notify_all();
    helper_.join();
}

void WorkerPair::run() {
    if (!ask()) return job_.part(0, 1);
    round_.fetch_add(1);
    job_.part(0, 2);
    meet(0, 2);
}

// True if the helper takes part in this round.
bool WorkerPair::ask() {
    if (!helper_.joinable()) return false;
    if (alone_ && Clock::now() < alone_until_) return false;
    alone_ = false;
    if (asleep_.load() && asleep_.exchange(false)) {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            called_ = true;
        }
        wake_.notify_all();
    }
    return ready_.load() && ready_.exchange(false);
}

void WorkerPair::meet(unsigned index, unsigned parts) {
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
    const auto start = Clock::now();
    while (!all_here()) sched_yield();
    if (index != 0) return;
    const auto end = Clock::now();
    if (end - start < kLost) return;
    alone_ = true;
    alone_until_ = end + kLeftOut * (end - start);
}

void WorkerPair::help() {
    for (uint64_t round = 1; wait_for_round(round); ++round) {
        job_.part(1, 2);
        meet(1, 2);
    }
}

// False when the pair ends.
bool WorkerPair::wait_for_round(uint64_t round) {
    const auto begun = [this, round] { return round_.load() >= round; };
    while (!ending_.load()) {
        ready_.store(true);
        for (unsigned turn = 0; turn < kRoundSpins && !begun(); ++turn) relax();
        // A helper that is no longer ready has been taken, and the round is about to begin.
        if (!begun() && ready_.exchange(false)) {
            sleep();
            continue;
        }
        while (!begun()) relax();
        return !ending_.load();
    }
    return false;
}

void WorkerPair::sleep() {
    std::unique_lock<std::mutex> lock(mutex_);
    asleep_.store(true);
    wake_.wait(lock, [this] { return called_ || ending_.load(); });
    called_ = false;
}

}  // namespace meshkv
