// How a verilated model ends: $stop, $finish, fatal errors, and what it prints.
//
// Verilator's own versions of these hooks end the process, which would take the
// Rust program along. Here they become a note that the model's owner reads.
#ifndef MESHKV_TERMINATION_H
#define MESHKV_TERMINATION_H

#include <string>

namespace meshkv {

// Why a model stopped, and what it printed on the way.
struct Termination {
    bool stopped = false;
    std::string reason;
    std::string printed;

    std::string message() const;
    // $display without a $stop is for whoever debugs; standard output is not ours.
    void flush();
};

// Thrown by vl_fatal only: the code that calls it does not expect to go on.
struct Fatal {};

// While it lives, what the calling thread evaluates ends and prints into `termination`:
// Verilator's hooks do not say which model calls them.
class Watch {
  public:
    explicit Watch(Termination& termination);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
};

}  // namespace meshkv

#endif
