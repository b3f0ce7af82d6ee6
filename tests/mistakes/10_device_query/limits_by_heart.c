/* mistake: the limits of a launch are known by heart, and no device is asked for them
 * fails: DeviceQuery.EveryDeviceIsDescribed
 * finds: nothing, a wrong value is no access
 */
#include "lesson.h"

static void limits(struct device_query_facts *fact)
{
    fact->threads_per_block = 1024;
    fact->block[0] = 1024;
    fact->block[1] = 1024;
    fact->block[2] = 64;
    fact->grid[0] = 2147483647;
    fact->grid[1] = 65535;
    fact->grid[2] = 65535;
    fact->shared_per_block = 48 * 1024;
}

cudaError_t device_query_runtime(struct device_query_facts *facts, int room, int *count)
{
    cudaError_t error = cudaGetDeviceCount(count);
    if (error == cudaErrorNoDevice) {
        /* An answer, and no failure: *count has not been written, and the runtime has kept the
         * error for whoever asks it next. */
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
        limits(fact);
        /* CUDA 13 has taken clockRate out of cudaDeviceProp; the attribute is still there. */
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
    };
    CUresult result = cuDeviceGetName(fact->name, DEVICE_QUERY_NAME, device);
    if (result == CUDA_SUCCESS) result = cuDeviceTotalMem(&fact->memory, device);
    limits(fact);
    for (size_t i = 0; result == CUDA_SUCCESS && i < sizeof rows / sizeof rows[0]; i++)
        result = cuDeviceGetAttribute(rows[i].value, rows[i].attribute, device);
    return result;
}

CUresult device_query_driver(struct device_query_facts *facts, int room, int *count)
{
    /* Without a device the driver does not even start. */
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
    /* If it is alive, this counts one user more; if not, it begins to live, until the release. */
    result = cuDevicePrimaryCtxRetain(&context, device);
    if (result != CUDA_SUCCESS) return result;
    result = cuCtxPushCurrent(context);
    if (result == CUDA_SUCCESS) {
        result = cuMemGetInfo(free, total);
        released = cuCtxPopCurrent(&popped);
        if (result == CUDA_SUCCESS) result = released;
    }
    released = cuDevicePrimaryCtxRelease(device);
    return result != CUDA_SUCCESS ? result : released;
}
