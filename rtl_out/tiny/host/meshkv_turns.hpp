// Turns of threads at a device: each waits until all that came before it are done.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace meshkv {

class Turns {
public:
    // A turn, from its begin until it goes out of scope.
    class Turn {
    public:
        explicit Turn(Turns &of) : of_(of) {}
        Turn(const Turn &) = delete;
        Turn &operator=(const Turn &) = delete;
        ~Turn() {
            std::lock_guard<std::mutex> lock(of_.mutex_);
            ++of_.now_;
            of_.over_.notify_all();
        }

    private:
        Turns &of_;
    };

    // Waits for the caller's turn. A thread that has one must not ask for another.
    Turn take() {
        std::unique_lock<std::mutex> lock(mutex_);
        const uint64_t mine = next_++;
        over_.wait(lock, [&] { return now_ == mine; });
        return Turn(*this);
    }

private:
    std::mutex mutex_;
    std::condition_variable over_;
    uint64_t next_ = 0, now_ = 0;
};

}  // namespace meshkv
