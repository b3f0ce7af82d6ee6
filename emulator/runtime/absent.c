/* The functions that are exported but not supported. Each takes any arguments, reports its name and
 * returns cudaErrorNotSupported, so the real prototypes are not needed (and would not fit). */
#include "emulator/driver/driver.h"
#include "emulator/runtime/error.h"

#define ABSENT(symbol)                                                                             \
    __attribute__((visibility("default"))) cudaError_t symbol(void)                                \
    {                                                                                              \
        return runtime_keep_error((cudaError_t)overlap_unsupported(                                \
            #symbol, __builtin_return_address(0), 0, cudaErrorNotSupported));                      \
    }
#include "emulator/runtime/absent.def"
#if RUNTIME_MAJOR == 12
#include "emulator/runtime/absent12.def"
#endif
