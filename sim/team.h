// A few threads that do one job together, again and again, each its part of it.
//
// The caller is the first of them. The others wait for the next round by
// spinning, which costs less than a cycle of the fabric, and after some tens of
// microseconds asleep: between steps nothing burns. Where another program has
// their core, the caller works alone for a while: to wait for a thread that is
// not running costs a hundred rounds.
#ifndef MESHKV_TEAM_H
#define MESHKV_TEAM_H

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace meshkv {

class Team {
  public:
    class Job {
      public:
        // `parts` may be fewer from round to round.
        virtual void part(unsigned index, unsigned parts) = 0;

      protected:
        ~Job() = default;
    };

    // At most so many parts; fewer if the system gives no more threads.
    Team(Job& job, unsigned parts);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    // Does every part once. What a part throws ends the process: parts must not throw.
    void run();
    // Within a part: waits until all parts of this round have come here.
    void meet(unsigned index, unsigned parts);

  private:
    void work(unsigned index);
    bool wait_for_round(uint64_t round);
    void run_together();
    void judge();

    Job& job_;
    std::vector<std::thread> threads_;
    // The caller's own: rounds still to be done alone, how many the next loss
    // will cost, rounds since the last, and whether this one lost time.
    unsigned alone_ = 0;
    unsigned penalty_;
    unsigned together_ = 0;
    bool lost_ = false;
    // Each on a cache line of its own: they are written by different threads.
    alignas(64) std::atomic<uint64_t> round_{0};
    alignas(64) std::atomic<unsigned> arrived_{0};
    alignas(64) std::atomic<uint64_t> met_{0};
    alignas(64) std::atomic<unsigned> asleep_{0};
    std::atomic<bool> ending_{false};
    std::mutex mutex_;
    std::condition_variable wake_;
};

}  // namespace meshkv

#endif
