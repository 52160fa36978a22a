// Included before the C++ that Verilator generates: makes a failed check name its router.
//
// A message that names its instance (%m) would make every router's code differ
// by that name, and no two could share it; so %m is taken out before
// verilating, and the instance that runs is named here, when it stops.
#ifndef MESHKV_GENERATED_H
#define MESHKV_GENERATED_H

#include "verilated.h"

// A module of newer releases keeps its name in a member, one of older ones in a base class.
template <class Module>
auto meshkv_instance(const Module* module, int) -> decltype(module->vlNamep) {
    return module->vlNamep;
}
template <class Module>
auto meshkv_instance(const Module* module, long) -> decltype(module->name()) {
    return module->name();
}

#define VL_STOP_MT(file, line, hier) VL_STOP_MT(file, line, meshkv_instance(vlSelf, 0))
// What is meant for standard error ($fdisplay) belongs to the message as well.
#define VL_FWRITEF(fd, ...) VL_WRITEF(__VA_ARGS__)
#define VL_FWRITEF_NX(fd, ...) VL_WRITEF_NX(__VA_ARGS__)

#endif
