// Two threads that do one job together, round after round: the caller, and a helper if it has a
// core to run on.
//
// The helper waits for the next round by spinning, which costs less than a cycle of the fabric.
// After about a millisecond it sleeps, so that nothing burns between steps. A round does not
// wait for it to wake; it joins a later one. If another program uses its core, it is left out
// for a while: waiting for a thread that is not running costs a hundred rounds.
#ifndef MESHKV_WORKER_PAIR_H
#define MESHKV_WORKER_PAIR_H

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace meshkv {

class WorkerPair {
  public:
    class Job {
      public:
        // Part 0 is the caller's; `parts` is 1 or 2. Must not throw.
        virtual void part(unsigned index, unsigned parts) = 0;

      protected:
        ~Job() = default;
    };

    // Without a helper if the system gives no more threads.
    WorkerPair(Job& job, bool helped);
    ~WorkerPair();
    WorkerPair(const WorkerPair&) = delete;
    WorkerPair& operator=(const WorkerPair&) = delete;

    // Does the job once.
    void run();
    // Within a part: waits until all parts of this round have come here.
    void meet(unsigned index, unsigned parts);

  private:
    using Clock = std::chrono::steady_clock;

    bool ask();
    void help();
    bool wait_for_round(uint64_t round);
    void sleep();

    Job& job_;
    std::thread helper_;
    // Of the caller: whether it works alone, and until when.
    bool alone_ = false;
    Clock::time_point alone_until_;
    // Each on a cache line of its own, since different threads write them.
    alignas(64) std::atomic<uint64_t> round_{0};
    alignas(64) std::atomic<unsigned> arrived_{0};
    alignas(64) std::atomic<uint64_t> met_{0};
    alignas(64) std::atomic<bool> ready_{false};   // The helper is awake and not yet taken.
    alignas(64) std::atomic<bool> asleep_{false};  // It is not, and has not been called.
    std::atomic<bool> ending_{false};
    bool called_ = false;  // Under the mutex.
    std::mutex mutex_;
    std::condition_variable wake_;
};

}  // namespace meshkv

#endif
