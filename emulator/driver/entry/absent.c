/* The public names of libcuda.so.1 that are not supported: one function per row of
 * entry/absent.def, which reports its own name. This file does not include cuda.h, since the
 * parameters do not matter. */
#include "emulator/driver/driver.h"

enum { CUDA_ERROR_NOT_SUPPORTED = 801 };

#define ABSENT(name, since)                                                                        \
    __attribute__((visibility("default"))) int name(void);                                         \
    int name(void)                                                                                 \
    {                                                                                              \
        return overlap_unsupported(#name, __builtin_return_address(0), OVERLAP_CALL_DRIVER,        \
                                   CUDA_ERROR_NOT_SUPPORTED);                                      \
    }
#include "emulator/driver/entry/absent.def"
