/* mistake: where the context cannot be made current, it stays retained
 * fails: DeviceQuery.EveryErrorIsReturnedAndNothingLeaks
 * finds: nothing, asking in the wrong place is no access
 */
#include "lesson.h"

cudaError_t device_query_runtime(struct device_query_facts *facts, int room, int *count)
{
    cudaError_t error = cudaGetDeviceCount(count);
    if (error == cudaErrorNoDevice) {
        *count = 0;
        (void)cudaGetLastError();
        return cudaSuccess;
    }
    for (int i = 0; error == cudaSuccess && i < *count && i < room; i++) {
        struct cudaDeviceProp properties;
        struct device_query_facts *fact = &facts[i];

        error = cudaGetDeviceProperties(&properties, i);
        if (error != cudaSuccess) return error;
        for (int c = 0; c < DEVICE_QUERY_NAME; c++) fact->name[c] = properties.name[c];
        fact->major = properties.major;
        fact->minor = properties.minor;
        fact->memory = properties.totalGlobalMem;
        fact->multiprocessors = properties.multiProcessorCount;
        fact->threads_per_block = properties.maxThreadsPerBlock;
        for (int axis = 0; axis < 3; axis++) {
            fact->block[axis] = properties.maxThreadsDim[axis];
            fact->grid[axis] = properties.maxGridSize[axis];
        }
        fact->shared_per_block = (int)properties.sharedMemPerBlock;
        error = cudaDeviceGetAttribute(&fact->clock, cudaDevAttrClockRate, i);
    }
    return error;
}

static CUresult describe(struct device_query_facts *fact, CUdevice device)
{
    const struct {
        int *value;
        CUdevice_attribute attribute;
    } rows[] = {
        {&fact->major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
        {&fact->minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
        {&fact->multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
        {&fact->clock, CU_DEVICE_ATTRIBUTE_CLOCK_RATE},
        {&fact->threads_per_block, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
        {&fact->block[0], CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X},
        {&fact->block[1], CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y},
        {&fact->block[2], CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z},
        {&fact->grid[0], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X},
        {&fact->grid[1], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y},
        {&fact->grid[2], CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z},
        {&fact->shared_per_block, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK},
    };
    CUresult result = cuDeviceGetName(fact->name, DEVICE_QUERY_NAME, device);
    if (result == CUDA_SUCCESS) result = cuDeviceTotalMem(&fact->memory, device);
    for (size_t i = 0; result == CUDA_SUCCESS && i < sizeof rows / sizeof rows[0]; i++)
        result = cuDeviceGetAttribute(rows[i].value, rows[i].attribute, device);
    return result;
}

CUresult device_query_driver(struct device_query_facts *facts, int room, int *count)
{
    CUresult result = cuInit(0);
    if (result == CUDA_ERROR_NO_DEVICE) {
        *count = 0;
        return CUDA_SUCCESS;
    }
    if (result == CUDA_SUCCESS) result = cuDeviceGetCount(count);
    for (int i = 0; result == CUDA_SUCCESS && i < *count && i < room; i++) {
        CUdevice device;
        result = cuDeviceGet(&device, i);
        if (result == CUDA_SUCCESS) result = describe(&facts[i], device);
    }
    return result;
}

CUresult device_query_memory(int ordinal, size_t *free, size_t *total)
{
    CUcontext context, popped;
    CUdevice device;
    CUresult result = cuInit(0), released;

    if (result == CUDA_SUCCESS) result = cuDeviceGet(&device, ordinal);
    if (result != CUDA_SUCCESS) return result;
    result = cuDevicePrimaryCtxRetain(&context, device);
    if (result != CUDA_SUCCESS) return result;
    result = cuCtxPushCurrent(context);
    if (result != CUDA_SUCCESS) return result;
    result = cuMemGetInfo(free, total);
    released = cuCtxPopCurrent(&popped);
    if (result == CUDA_SUCCESS) result = released;
    released = cuDevicePrimaryCtxRelease(device);
    return result != CUDA_SUCCESS ? result : released;
}
