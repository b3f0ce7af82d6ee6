/* cutedsl: stands in front of the runtime of NVIDIA's CuTe DSL (libcute_dsl_runtime.so of
 * nvidia-cutlass-dsl), which contains a CUDA runtime without names. What the DSL compiles calls
 * that library's functions, each of which is called as the function of CUDA that it passes its
 * arguments on to, with a _ in front; so the device's gets them. Functions that are not here are
 * that library's own, and the device names what they ask for.
 *
 * Source: the calls, with their types, in the LLVM dialect of MLIR that the DSL shows of a compiled
 * function (CUTE_DSL_KEEP=ir), and in its tvm_ffi_provider.py, of nvidia-cutlass-dsl 4.8.1.
 */
#include "emulator/front/behind.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <pthread.h>

#define PASS_ON(result, function, parameters, arguments)                                           \
    PUBLIC result _##function parameters;                                                          \
    result _##function parameters                                                                  \
    {                                                                                              \
        return function arguments;                                                                 \
    }

/* clang-format off */
PASS_ON(cudaError_t, cudaGetDeviceCount, (int *count), (count))
PASS_ON(cudaError_t, cudaGetDevice, (int *device), (device))
PASS_ON(cudaError_t, cudaSetDevice, (int device), (device))
PASS_ON(cudaError_t, cudaDeviceGetAttribute, (int *value, enum cudaDeviceAttr name, int device),
        (value, name, device))
PASS_ON(cudaError_t, cudaLibraryLoadData,
        (cudaLibrary_t *library, const void *code, enum cudaJitOption *jit, void **jit_values,
         unsigned jit_count, enum cudaLibraryOption *options, void **values, unsigned count),
        (library, code, jit, jit_values, jit_count, options, values, count))
PASS_ON(cudaError_t, cudaLibraryUnload, (cudaLibrary_t library), (library))
PASS_ON(cudaError_t, cudaLibraryGetKernel,
        (cudaKernel_t *kernel, cudaLibrary_t library, const char *name), (kernel, library, name))
PASS_ON(cudaError_t, cudaFuncSetAttribute,
        (const void *function, enum cudaFuncAttribute name, int value), (function, name, value))
PASS_ON(cudaError_t, cudaKernelSetAttributeForDevice,
        (cudaKernel_t kernel, enum cudaFuncAttribute name, int value, int device),
        (kernel, name, value, device))
PASS_ON(CUresult, cuKernelGetAttribute,
        (int *value, CUfunction_attribute name, CUkernel kernel, CUdevice device),
        (value, name, kernel, device))
PASS_ON(cudaError_t, cudaOccupancyMaxActiveBlocksPerMultiprocessor,
        (int *count, const void *function, int threads, size_t shared),
        (count, function, threads, shared))
PASS_ON(CUresult, cuTensorMapEncodeTiled,
        (CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
         const cuuint64_t *sizes, const cuuint64_t *strides, const cuuint32_t *box,
         const cuuint32_t *steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
         CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill),
        (map, type, rank, address, sizes, strides, box, steps, interleave, swizzle, promotion, fill))
/* clang-format on */

/* The DSL's launches have the six sizes one by one, or the structure of the runtime. */
PUBLIC cudaError_t _cudaLaunchKernel(const void *kernel, unsigned grid_x, unsigned grid_y,
                                     unsigned grid_z, unsigned block_x, unsigned block_y,
                                     unsigned block_z, void **arguments, size_t shared,
                                     cudaStream_t stream);
cudaError_t _cudaLaunchKernel(const void *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                              unsigned block_x, unsigned block_y, unsigned block_z,
                              void **arguments, size_t shared, cudaStream_t stream)
{
    const cudaLaunchConfig_t config = {.gridDim = {grid_x, grid_y, grid_z},
                                       .blockDim = {block_x, block_y, block_z},
                                       .dynamicSmemBytes = shared,
                                       .stream = stream};
    return cudaLaunchKernelExC(&config, kernel, arguments);
}

PUBLIC cudaError_t _cudaLaunchKernelEx(const cudaLaunchConfig_t *config, const void *kernel,
                                       void **arguments);
cudaError_t _cudaLaunchKernelEx(const cudaLaunchConfig_t *config, const void *kernel,
                                void **arguments)
{
    return cudaLaunchKernelExC(config, kernel, arguments);
}

/* ---- functions that are compiled for TVM's interface ----------------------------------------- */

/* What is compiled brings these along: they load its machine code, and get its kernel ready on a
 * device. The first two have an error of CUDA's as their result. */
typedef int load_function(cudaLibrary_t *library);
typedef int prepare_function(cudaLibrary_t *library, int device);
typedef void raise_function(const char *kind, const char *message);

PUBLIC int cuda_dialect_init_library_once(cudaLibrary_t *state, load_function *load,
                                          prepare_function *prepare, raise_function *raise_error);
PUBLIC void cuda_dialect_unload_library_once(cudaLibrary_t *state);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static cudaError_t load_for_all(cudaLibrary_t *library, load_function *load,
                                prepare_function *prepare)
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error == cudaSuccess) error = (cudaError_t)load(library);
    for (int i = 0; error == cudaSuccess && i < count; i++)
        error = (cudaError_t)prepare(library, i);
    return error;
}

int cuda_dialect_init_library_once(cudaLibrary_t *state, load_function *load,
                                   prepare_function *prepare, raise_function *raise_error)
{
    cudaError_t error = cudaSuccess;
    cudaLibrary_t library = NULL;
    pthread_mutex_lock(&lock);
    if (*state == NULL) error = load_for_all(&library, load, prepare);
    if (*state == NULL && error == cudaSuccess) *state = library;
    pthread_mutex_unlock(&lock);
    if (error != cudaSuccess) raise_error("RuntimeError", cudaGetErrorString(error));
    return (int)error;
}

void cuda_dialect_unload_library_once(cudaLibrary_t *state)
{
    pthread_mutex_lock(&lock);
    const cudaLibrary_t library = *state;
    *state = NULL;
    pthread_mutex_unlock(&lock);
    if (library != NULL) cudaLibraryUnload(library);
}
