// A few threads that do one job together, again and again, each its part of it.
//
// The caller is the first of them. The others wait for the next round by
// spinning, which costs less than a cycle of the fabric, then by yielding,
// and after some tens of microseconds asleep: between steps nothing burns.
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
        virtual void part(unsigned index) = 0;

      protected:
        ~Job() = default;
    };

    // Parts 0 to parts() - 1; fewer than asked for if the system gives no more threads.
    Team(Job& job, unsigned parts);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    unsigned parts() const { return static_cast<unsigned>(threads_.size()) + 1; }
    // Does every part once. What a part throws ends the process: parts must not throw.
    void run();
    // Within a part: waits until all parts have come here.
    void meet();

  private:
    void work(unsigned index);
    bool wait_for_round(uint64_t round);

    Job& job_;
    std::vector<std::thread> threads_;
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
