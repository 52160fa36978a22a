#include "team.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <system_error>

namespace meshkv {
namespace {

// About 20 us of waiting on the core, then some turns for whoever else wants it.
constexpr unsigned kSpins = 1000;
constexpr unsigned kYields = 50;

void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// One turn of a wait for something that is about to happen.
void wait_briefly(unsigned turn) {
    if (turn < kSpins)
        relax();
    else
        sched_yield();
}

}  // namespace

Team::Team(Job& job, unsigned parts) : job_(job) {
    // Signals are for the program's own threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        for (unsigned index = 1; index < parts; ++index)
            threads_.emplace_back([this, index] { work(index); });
    } catch (const std::system_error&) {
        // The parts of those that could not be had fall to the others: see parts().
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
    if (threads_.empty()) return job_.part(0);
    // Sequentially consistent with wait_for_round: either the sleeper sees the
    // new round or it is seen here.
    round_.fetch_add(1);
    if (asleep_.load() != 0) {
        const std::lock_guard<std::mutex> lock(mutex_);
        wake_.notify_all();
    }
    job_.part(0);
    meet();
}

void Team::meet() {
    if (threads_.empty()) return;
    const uint64_t met = met_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == parts()) {
        arrived_.store(0, std::memory_order_relaxed);
        met_.store(met + 1, std::memory_order_release);
        return;
    }
    for (unsigned turn = 0; met_.load(std::memory_order_acquire) == met; ++turn) wait_briefly(turn);
}

void Team::work(unsigned index) {
    for (uint64_t round = 1; wait_for_round(round); ++round) {
        job_.part(index);
        meet();
    }
}

// False when the team ends.
bool Team::wait_for_round(uint64_t round) {
    const auto begun = [this, round] { return round_.load() >= round; };
    for (unsigned turn = 0; turn < kSpins + kYields && !begun(); ++turn) wait_briefly(turn);
    if (!begun()) {
        std::unique_lock<std::mutex> lock(mutex_);
        asleep_.fetch_add(1);
        wake_.wait(lock, begun);
        asleep_.fetch_sub(1);
    }
    return !ending_.load();
}

}  // namespace meshkv
