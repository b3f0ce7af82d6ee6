/* Defines the exported functions, one per row. */
#include "emulator/runtime/runtime.h"

#if RUNTIME_MAJOR == 12
#include "emulator/runtime/twelve.h"
/* cuda_runtime_api.h declares CUDA 13's functions, of which some take other arguments: those of
 * CUDA 12 have other names in C. */
#define FUNCTION(symbol, parameters)                                                               \
    RUNTIME_EXPORT cudaError_t public_##symbol parameters __asm__(#symbol);                        \
    cudaError_t public_##symbol parameters
#define ROWS_OF_TWELVE
#else
#define FUNCTION(symbol, parameters) RUNTIME_EXPORT cudaError_t symbol parameters
#endif

#define ROW(symbol, name, needs, stream, parameters, arguments)                                    \
    ROW_OF(symbol, name, runtime_##name, needs, stream, parameters, arguments)
#define ROW_OF(symbol, name, function, needs, stream, parameters, arguments)                       \
    FUNCTION(symbol, parameters)                                                                   \
    {                                                                                              \
        cudaError_t error =                                                                        \
            runtime_enter(#name, __builtin_return_address(0), RUNTIME_##needs, RUNTIME_##stream);  \
        if (error == cudaSuccess) error = function arguments;                                      \
        return runtime_leave(error);                                                               \
    }
#define BY_HAND(symbol)
#include "emulator/runtime/runtime.def"
