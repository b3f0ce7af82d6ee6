/* Kernels: launch configurations, launches, attributes of functions, libraries loaded by hand. */
#include "emulator/runtime/error.h"
#include "emulator/runtime/runtime.h"

#include <stdint.h>

/* ---- the launch configuration of <<<...>>> --------------------------------------------------- */

/* Configurations nest: `k<<<grid, block>>>(f())` pushes one before it calls f(), which may launch
 * as well. */
#define DEEPEST 64

struct configuration {
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
    const void *caller; /* return address of the <<<...>>> in the submission */
};

static _Thread_local struct {
    struct configuration stack[DEEPEST];
    unsigned depth;
    const void *caller; /* of the configuration popped last; the next launch belongs to it */
} thread;

/* A result other than 0 makes the compiler's host code skip the launch. */
RUNTIME_EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                                    struct CUstream_st *stream)
{
    if (thread.depth == DEEPEST) return 1;
    thread.stack[thread.depth++] =
        (struct configuration){grid, block, shared_bytes, stream, __builtin_return_address(0)};
    return 0;
}

RUNTIME_EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes,
                                                      void *stream)
{
    if (thread.depth == 0) return cudaErrorMissingConfiguration;
    const struct configuration *top = &thread.stack[--thread.depth];
    *grid = top->grid;
    *block = top->block;
    *shared_bytes = top->shared_bytes;
    *(cudaStream_t *)stream = top->stream;
    thread.caller = top->caller;
    return cudaSuccess;
}

/* ---- launches -------------------------------------------------------------------------------- */

/* The launch configuration is checked by the driver. It finds the kernel's function in the stream's
 * context, which may be another device's. */
cudaError_t runtime_cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args,
                                     size_t sharedMem, cudaStream_t stream)
{
    CUkernel kernel;
    cudaError_t error = runtime_kernel(func, &kernel);
    if (error != cudaSuccess) return error;
    if (sharedMem > UINT32_MAX) return cudaErrorInvalidValue;
    return runtime_error(cuLaunchKernel((CUfunction)kernel, gridDim.x, gridDim.y, gridDim.z,
                                        blockDim.x, blockDim.y, blockDim.z, (unsigned)sharedMem,
                                        runtime_stream(stream), args, NULL));
}

cudaError_t runtime_cudaLaunchCooperativeKernel(const void *func, dim3 gridDim, dim3 blockDim,
                                                void **args, size_t sharedMem, cudaStream_t stream)
{
    CUkernel kernel;
    cudaError_t error = runtime_kernel(func, &kernel);
    if (error != cudaSuccess) return error;
    if (sharedMem > UINT32_MAX) return cudaErrorInvalidValue;
    return runtime_error(cuLaunchCooperativeKernel(
        (CUfunction)kernel, gridDim.x, gridDim.y, gridDim.z, blockDim.x, blockDim.y, blockDim.z,
        (unsigned)sharedMem, runtime_stream(stream), args));
}

_Static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute), "one layout");

static CUlaunchConfig driver_config_of(const cudaLaunchConfig_t *config)
{
    return (CUlaunchConfig){
        .gridDimX = config->gridDim.x,
        .gridDimY = config->gridDim.y,
        .gridDimZ = config->gridDim.z,
        .blockDimX = config->blockDim.x,
        .blockDimY = config->blockDim.y,
        .blockDimZ = config->blockDim.z,
        .sharedMemBytes = (unsigned)config->dynamicSmemBytes,
        .hStream = runtime_stream(config->stream),
        .attrs = (CUlaunchAttribute *)config->attrs,
        .numAttrs = config->numAttrs,
    };
}

cudaError_t runtime_cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func,
                                        void **args)
{
    CUkernel kernel;
    if (config == NULL) return cudaErrorInvalidValue;
    cudaError_t error = runtime_kernel(func, &kernel);
    if (error != cudaSuccess) return error;
    if (config->dynamicSmemBytes > UINT32_MAX) return cudaErrorInvalidValue;
    const CUlaunchConfig driver_config = driver_config_of(config);
    return runtime_error(cuLaunchKernelEx(&driver_config, (CUfunction)kernel, args, NULL));
}

/* Host code of <<<...>>> looks up a kernel handle once and launches by it. Here the handle is the
 * host function's address, so the lookup cannot fail and loads nothing. */
RUNTIME_EXPORT cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *symbol)
{
    *kernel = (cudaKernel_t)symbol;
    return cudaSuccess;
}

static cudaError_t launch_configured(cudaKernel_t kernel, dim3 grid, dim3 block, void **arguments,
                                     size_t shared_bytes, cudaStream_t stream,
                                     enum runtime_default_stream default_stream)
{
    cudaError_t error =
        runtime_enter("cudaLaunchKernel", thread.caller, RUNTIME_ASYNC, default_stream);
    if (error == cudaSuccess)
        error = runtime_cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
    return runtime_leave(error);
}

RUNTIME_EXPORT cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                                              void **arguments, size_t shared_bytes,
                                              cudaStream_t stream)
{
    return launch_configured(kernel, grid, block, arguments, shared_bytes, stream, RUNTIME_LEGACY);
}

RUNTIME_EXPORT cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block,
                                                   void **arguments, size_t shared_bytes,
                                                   cudaStream_t stream)
{
    return launch_configured(kernel, grid, block, arguments, shared_bytes, stream,
                             RUNTIME_PER_THREAD);
}

/* ---- attributes of functions ----------------------------------------------------------------- */

static const struct attribute {
    size_t offset;
    size_t size; /* size of the field: an int or a size_t */
    CUfunction_attribute attribute;
} attributes[] = {
#define ATTRIBUTE(field, name)                                                                     \
    {offsetof(struct cudaFuncAttributes, field),                                                   \
     sizeof(((struct cudaFuncAttributes *)NULL)->field), CU_FUNC_ATTRIBUTE_##name},
    // clang-format off
    ATTRIBUTE(sharedSizeBytes, SHARED_SIZE_BYTES)
    ATTRIBUTE(constSizeBytes, CONST_SIZE_BYTES)
    ATTRIBUTE(localSizeBytes, LOCAL_SIZE_BYTES)
    ATTRIBUTE(maxThreadsPerBlock, MAX_THREADS_PER_BLOCK)
    ATTRIBUTE(numRegs, NUM_REGS)
    ATTRIBUTE(ptxVersion, PTX_VERSION)
    ATTRIBUTE(binaryVersion, BINARY_VERSION)
    ATTRIBUTE(cacheModeCA, CACHE_MODE_CA)
    ATTRIBUTE(maxDynamicSharedSizeBytes, MAX_DYNAMIC_SHARED_SIZE_BYTES)
    ATTRIBUTE(preferredShmemCarveout, PREFERRED_SHARED_MEMORY_CARVEOUT)
    ATTRIBUTE(clusterDimMustBeSet, CLUSTER_SIZE_MUST_BE_SET)
    ATTRIBUTE(requiredClusterWidth, REQUIRED_CLUSTER_WIDTH)
    ATTRIBUTE(requiredClusterHeight, REQUIRED_CLUSTER_HEIGHT)
    ATTRIBUTE(requiredClusterDepth, REQUIRED_CLUSTER_DEPTH)
    ATTRIBUTE(clusterSchedulingPolicyPreference, CLUSTER_SCHEDULING_POLICY_PREFERENCE)
    ATTRIBUTE(nonPortableClusterSizeAllowed, NON_PORTABLE_CLUSTER_SIZE_ALLOWED)
// clang-format on
#undef ATTRIBUTE
};

cudaError_t runtime_cudaFuncGetAttributes(struct cudaFuncAttributes *attr, const void *func)
{
    CUfunction function;
    if (attr == NULL) return cudaErrorInvalidValue;
    cudaError_t error = runtime_function(func, &function);
    if (error == cudaSuccess) *attr = (struct cudaFuncAttributes){0};
    for (size_t i = 0; error == cudaSuccess && i < sizeof attributes / sizeof *attributes; i++) {
        int value = 0;
        error = runtime_error(cuFuncGetAttribute(&value, attributes[i].attribute, function));
        char *field = (char *)attr + attributes[i].offset;
        if (attributes[i].size == sizeof(size_t))
            *(size_t *)field = (size_t)value;
        else
            *(int *)field = value;
    }
    return error;
}

/* Attributes and configurations have the same numbers in both APIs. */
cudaError_t runtime_cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attr, int value)
{
    CUfunction function;
    CUkernel kernel;
    cudaError_t error = runtime_function(func, &function); /* needs a context, as a launch does */
    if (error == cudaSuccess) error = runtime_kernel(func, &kernel);
    if (error != cudaSuccess) return error;
    error = runtime_error(
        cuKernelSetAttribute((CUfunction_attribute)attr, value, kernel, runtime_device()));
    if (error == cudaSuccess) runtime_forget_error(); /* as CUDA 13 does */
    return error;
}

cudaError_t runtime_cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache cacheConfig)
{
    CUfunction function;
    cudaError_t error = runtime_function(func, &function);
    if (error != cudaSuccess) return error;
    return runtime_error(cuFuncSetCacheConfig(function, (CUfunc_cache)cacheConfig));
}

cudaError_t runtime_cudaFuncSetSharedMemConfig(const void *func, enum cudaSharedMemConfig config)
{
    CUfunction function;
    cudaError_t error = runtime_function(func, &function);
    if (error != cudaSuccess) return error;
    return runtime_error(cuFuncSetSharedMemConfig(function, (CUsharedconfig)config));
}

cudaError_t runtime_cudaFuncGetName(const char **name, const void *func)
{
    CUkernel kernel;
    if (name == NULL) return cudaErrorInvalidValue;
    cudaError_t error = runtime_kernel(func, &kernel);
    return error == cudaSuccess ? runtime_error(cuKernelGetName(name, kernel)) : error;
}

cudaError_t runtime_cudaFuncGetParamInfo(const void *func, size_t paramIndex, size_t *paramOffset,
                                         size_t *paramSize)
{
    CUfunction function;
    cudaError_t error = runtime_function(func, &function);
    if (error != cudaSuccess) return error;
    error = runtime_error(cuFuncGetParamInfo(function, paramIndex, paramOffset, paramSize));
    if (error == cudaSuccess) runtime_forget_error(); /* as CUDA 13 does */
    return error;
}

/* What wants a symbol takes another address for a symbol that is unknown, not for a handle. */
static cudaError_t of_symbol(cudaError_t error)
{
    return error == cudaErrorInvalidResourceHandle ? cudaErrorInvalidDeviceFunction : error;
}

cudaError_t runtime_cudaGetFuncBySymbol(cudaFunction_t *functionPtr, const void *symbolPtr)
{
    if (functionPtr == NULL) return cudaErrorInvalidValue;
    return of_symbol(runtime_function(symbolPtr, functionPtr));
}

cudaError_t runtime_cudaGetKernel(cudaKernel_t *kernelPtr, const void *entryFuncAddr)
{
    if (kernelPtr == NULL) return cudaErrorInvalidValue;
    return of_symbol(runtime_kernel(entryFuncAddr, (CUkernel *)kernelPtr));
}

/* ---- occupancy ------------------------------------------------------------------------------- */

cudaError_t runtime_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *numBlocks, const void *func, int blockSize, size_t dynamicSMemSize, unsigned int flags)
{
    CUfunction function;
    cudaError_t error = runtime_function(func, &function);
    if (error != cudaSuccess) return error;
    return runtime_error(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        numBlocks, function, blockSize, dynamicSMemSize, flags));
}

cudaError_t runtime_cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, const void *func,
                                                                  int blockSize,
                                                                  size_t dynamicSMemSize)
{
    return runtime_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
        numBlocks, func, blockSize, dynamicSMemSize, cudaOccupancyDefault);
}

cudaError_t runtime_cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize,
                                                              const void *func, int numBlocks,
                                                              int blockSize)
{
    CUfunction function;
    cudaError_t error = runtime_function(func, &function);
    if (error != cudaSuccess) return error;
    return runtime_error(
        cuOccupancyAvailableDynamicSMemPerBlock(dynamicSmemSize, function, numBlocks, blockSize));
}

static cudaError_t ask_of_clusters(CUresult (*ask)(int *, CUfunction, const CUlaunchConfig *),
                                   int *answer, const void *func, const cudaLaunchConfig_t *config)
{
    CUfunction function;
    if (config == NULL || config->dynamicSmemBytes > UINT32_MAX) return cudaErrorInvalidValue;
    cudaError_t error = runtime_function(func, &function);
    if (error != cudaSuccess) return error;
    const CUlaunchConfig driver_config = driver_config_of(config);
    return runtime_error(ask(answer, function, &driver_config));
}

cudaError_t runtime_cudaOccupancyMaxPotentialClusterSize(int *clusterSize, const void *func,
                                                         const cudaLaunchConfig_t *launchConfig)
{
    return ask_of_clusters(cuOccupancyMaxPotentialClusterSize, clusterSize, func, launchConfig);
}

cudaError_t runtime_cudaOccupancyMaxActiveClusters(int *numClusters, const void *func,
                                                   const cudaLaunchConfig_t *launchConfig)
{
    return ask_of_clusters(cuOccupancyMaxActiveClusters, numClusters, func, launchConfig);
}

/* ---- libraries ------------------------------------------------------------------------------- */

/* Options have the same numbers in both APIs; cudaLibrary_t and cudaKernel_t are the driver's
 * handles. */
cudaError_t runtime_cudaLibraryLoadData(cudaLibrary_t *library, const void *code,
                                        enum cudaJitOption *jitOptions, void **jitOptionsValues,
                                        unsigned int numJitOptions,
                                        enum cudaLibraryOption *libraryOptions,
                                        void **libraryOptionValues, unsigned int numLibraryOptions)
{
    return runtime_error(cuLibraryLoadData(
        (CUlibrary *)library, code, (CUjit_option *)jitOptions, jitOptionsValues, numJitOptions,
        (CUlibraryOption *)libraryOptions, libraryOptionValues, numLibraryOptions));
}

cudaError_t runtime_cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *fileName,
                                            enum cudaJitOption *jitOptions, void **jitOptionsValues,
                                            unsigned int numJitOptions,
                                            enum cudaLibraryOption *libraryOptions,
                                            void **libraryOptionValues,
                                            unsigned int numLibraryOptions)
{
    return runtime_error(cuLibraryLoadFromFile(
        (CUlibrary *)library, fileName, (CUjit_option *)jitOptions, jitOptionsValues, numJitOptions,
        (CUlibraryOption *)libraryOptions, libraryOptionValues, numLibraryOptions));
}

cudaError_t runtime_cudaLibraryUnload(cudaLibrary_t library)
{
    return runtime_error(cuLibraryUnload((CUlibrary)library));
}

cudaError_t runtime_cudaLibraryGetKernel(cudaKernel_t *pKernel, cudaLibrary_t library,
                                         const char *name)
{
    return runtime_error(cuLibraryGetKernel((CUkernel *)pKernel, (CUlibrary)library, name));
}

cudaError_t runtime_cudaLibraryGetKernelCount(unsigned int *count, cudaLibrary_t lib)
{
    return runtime_error(cuLibraryGetKernelCount(count, (CUlibrary)lib));
}

cudaError_t runtime_cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned int numKernels,
                                                cudaLibrary_t lib)
{
    return runtime_error(
        cuLibraryEnumerateKernels((CUkernel *)kernels, numKernels, (CUlibrary)lib));
}

cudaError_t runtime_cudaLibraryGetGlobal(void **dptr, size_t *bytes, cudaLibrary_t library,
                                         const char *name)
{
    CUdeviceptr address = 0;
    CUresult result = cuLibraryGetGlobal(&address, bytes, (CUlibrary)library, name);
    if (result == CUDA_SUCCESS && dptr != NULL) *dptr = (void *)address;
    return runtime_error(result);
}

cudaError_t runtime_cudaKernelSetAttributeForDevice(cudaKernel_t kernel,
                                                    enum cudaFuncAttribute attr, int value,
                                                    int device)
{
    CUkernel handle;
    cudaError_t error = runtime_kernel(kernel, &handle);
    if (error != cudaSuccess) return error;
    return runtime_error(cuKernelSetAttribute((CUfunction_attribute)attr, value, handle, device));
}
