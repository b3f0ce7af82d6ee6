/* Defines the exported functions, one per row. */
#include "emulator/runtime/runtime.h"

#define ROW(symbol, name, needs, stream, parameters, arguments)                                    \
    RUNTIME_EXPORT cudaError_t symbol parameters                                                   \
    {                                                                                              \
        cudaError_t error =                                                                        \
            runtime_enter(#name, __builtin_return_address(0), RUNTIME_##needs, RUNTIME_##stream);  \
        if (error == cudaSuccess) error = runtime_##name arguments;                                \
        return runtime_leave(error);                                                               \
    }
#define BY_HAND(symbol)
#include "emulator/runtime/runtime.def"
