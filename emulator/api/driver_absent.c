/* The public names of libcuda.so.1 that are not supported: one function per row of
 * driver_absent.def, which names itself. Without cuda.h, since their parameters do not matter. */
#include "emulator/api/private.h"

enum { CUDA_ERROR_NOT_SUPPORTED = 801 };

#define ABSENT(name, since)                                                                        \
    __attribute__((visibility("default"))) int name(void);                                         \
    int name(void)                                                                                 \
    {                                                                                              \
        return overlap_unsupported(#name, __builtin_return_address(0), OVERLAP_CALL_DRIVER,        \
                                   CUDA_ERROR_NOT_SUPPORTED);                                      \
    }
#include "emulator/api/driver_absent.def"
