// Included before all code that is compiled against Verilator's runtime. Prints go to the shim,
// because standard output belongs to the program's JSON.
#ifndef MESHKV_VERILATOR_HOOKS_H
#define MESHKV_VERILATOR_HOOKS_H

int meshkv_printf(const char* format, ...) __attribute__((format(printf, 1, 2)));
#define VL_PRINTF meshkv_printf

#define VL_USER_STOP
#define VL_USER_FINISH
#define VL_USER_FATAL
// Time belongs to the context; no global function provides it.
#define VL_TIME_CONTEXT

#endif
