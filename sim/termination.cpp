// Verilator's hooks; its runtime is compiled with VL_USER_STOP, _FINISH and _FATAL (verilator_hooks.h).
#include "termination.h"

#include <cstdarg>
#include <cstdio>

#include "verilator_hooks.h"

namespace meshkv {
namespace {

thread_local Termination* t_termination = nullptr;

void end(const char* filename, int linenum, const char* hier, const char* what) {
    if (t_termination == nullptr || t_termination->stopped) return;  // The first reason is the cause.
    t_termination->stopped = true;
    t_termination->reason = what;
    if (filename != nullptr && filename[0] != 0)
        t_termination->reason += std::string(" at ") + filename + ":" + std::to_string(linenum);
    if (hier != nullptr && hier[0] != 0) t_termination->reason += std::string(" in ") + hier;
}

}  // namespace

std::string Termination::message() const {
    std::string text = reason;
    if (!printed.empty()) text += "\n" + printed;
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

void Termination::flush() {
    if (printed.empty()) return;
    std::fputs(printed.c_str(), stderr);
    printed.clear();
}

Watch::Watch(Termination& termination) { t_termination = &termination; }

Watch::~Watch() { t_termination = nullptr; }

}  // namespace meshkv

void vl_stop(const char* filename, int linenum, const char* hier) {
    meshkv::end(filename, linenum, hier, "$stop");
}

void vl_finish(const char* filename, int linenum, const char* hier) {
    meshkv::end(filename, linenum, hier, "$finish");
}

void vl_fatal(const char* filename, int linenum, const char* hier, const char* msg) {
    meshkv::end(filename, linenum, hier, msg);
    throw meshkv::Fatal{};
}

// Receives every print of the runtime and of $display (VL_PRINTF, see verilator_hooks.h).
int meshkv_printf(const char* format, ...) {
    char line[1024];
    va_list args;
    va_start(args, format);
    const int length = std::vsnprintf(line, sizeof line, format, args);
    va_end(args);
    // A model that prints each cycle must not fill the memory before it stops.
    constexpr std::size_t kKept = 16384;
    if (meshkv::t_termination == nullptr)
        std::fputs(line, stderr);
    else if (meshkv::t_termination->printed.size() < kKept)
        meshkv::t_termination->printed += line;
    return length;
}
