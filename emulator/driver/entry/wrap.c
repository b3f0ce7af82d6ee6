/* The supported public names of libcuda.so.1: one wrapper per row of driver.def. */
#include "emulator/driver/entry/entry.h"

#define PUBLIC __attribute__((visibility("default")))

#define ROW(name, implementation, since, needs)                                                    \
    PUBLIC CUresult CUDAAPI name PARAMETERS_##implementation                                       \
    {                                                                                              \
        CUresult outcome = driver_enter(#name, needs, __builtin_return_address(0));                \
        if (outcome == CUDA_SUCCESS) outcome = driver_##implementation ARGUMENTS_##implementation; \
        return driver_leave(outcome);                                                              \
    }
#include "emulator/driver/core/driver.def"
