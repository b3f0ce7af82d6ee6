/* The functions that are exported and not supported. Their true prototypes are not needed, and do
 * not fit: each takes anything, says its name and returns cudaErrorNotSupported. */
#include "emulator/driver/driver.h"
#include "emulator/runtime/error.h"

#define ABSENT(symbol)                                                                             \
    __attribute__((visibility("default"))) cudaError_t symbol(void)                                \
    {                                                                                              \
        return runtime_keep_error((cudaError_t)overlap_unsupported(                                \
            #symbol, __builtin_return_address(0), 0, cudaErrorNotSupported));                      \
    }
#include "emulator/runtime/absent.def"
