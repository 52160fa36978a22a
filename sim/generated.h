// Included before the C++ that Verilator generates: adds the router's name to the message of a
// failed check.
//
// A message with the instance's name (%m) would make every router's code different, and routers
// could not share it. So %m is removed before verilating, and the instance is named here when
// it stops.
#ifndef MESHKV_GENERATED_H
#define MESHKV_GENERATED_H

#include "verilated.h"

// Newer releases keep the name of a module in a member, older ones in a base class.
template <class Module>
auto meshkv_instance(const Module* module, int) -> decltype(module->vlNamep) {
    return module->vlNamep;
}
template <class Module>
auto meshkv_instance(const Module* module, long) -> decltype(module->name()) {
    return module->name();
}

#define VL_STOP_MT(file, line, hier) VL_STOP_MT(file, line, meshkv_instance(vlSelf, 0))
// Text for standard error ($fdisplay) belongs to the message as well.
#define VL_FWRITEF(fd, ...) VL_WRITEF(__VA_ARGS__)
#define VL_FWRITEF_NX(fd, ...) VL_WRITEF_NX(__VA_ARGS__)

#endif
