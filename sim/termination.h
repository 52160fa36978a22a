// The end of a verilated model: $stop, $finish and fatal errors, and the text it prints.
//
// Verilator's own versions of these hooks end the process, and the Rust program with it. Here
// they leave a note for the owner of the model.
#ifndef MESHKV_TERMINATION_H
#define MESHKV_TERMINATION_H

#include <string>

namespace meshkv {

// Reason why a model stopped, and the text it printed before.
struct Termination {
    bool stopped = false;
    std::string reason;
    std::string printed;

    std::string message() const;
    // Prints $display text without a $stop, for debugging, to standard error: standard output
    // is the program's.
    void flush();
};

// Thrown by vl_fatal only, whose caller does not expect to continue.
struct Fatal {};

// Directs stops and prints of the calling thread to `termination` while it lives. Verilator's
// hooks do not say which model calls them.
class Watch {
  public:
    explicit Watch(Termination& termination);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;
};

}  // namespace meshkv

#endif
