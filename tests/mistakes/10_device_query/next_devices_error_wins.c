/* mistake: an error of one device's attributes is lost in the success of the next device's
 * fails: DeviceQuery.EveryErrorIsReturnedAndNothingLeaks
 * finds: nothing, an error that is lost is no access
 */
#include "lesson.h"

#include <string.h>

/* One table for both APIs: the numbers of the attributes are the same. */
struct row {
    size_t offset;
    enum cudaDeviceAttr runtime;
    CUdevice_attribute driver;
};

#define ROW(field, runtime, driver)                                                                \
    {                                                                                              \
        offsetof(struct device_query_facts, field), cudaDevAttr##runtime,                          \
            CU_DEVICE_ATTRIBUTE_##driver                                                           \
    }

static const struct row rows[] = {
    ROW(major, ComputeCapabilityMajor, COMPUTE_CAPABILITY_MAJOR),
    ROW(minor, ComputeCapabilityMinor, COMPUTE_CAPABILITY_MINOR),
    ROW(multiprocessors, MultiProcessorCount, MULTIPROCESSOR_COUNT),
    ROW(clock, ClockRate, CLOCK_RATE),
    ROW(threads_per_block, MaxThreadsPerBlock, MAX_THREADS_PER_BLOCK),
    ROW(shared_per_block, MaxSharedMemoryPerBlock, MAX_SHARED_MEMORY_PER_BLOCK),
};

static int *field(struct device_query_facts *facts, size_t offset)
{
    return (int *)((char *)facts + offset);
}

cudaError_t device_query_runtime(struct device_query_facts *facts, int room, int *count)
{
    const size_t many = sizeof rows / sizeof rows[0];
    cudaError_t error = cudaGetDeviceCount(count);
    if (error == cudaErrorNoDevice) {
        (void)cudaGetLastError();
        *count = 0;
        return cudaSuccess;
    }
    if (error != cudaSuccess) return error;
    const int described = *count < room ? *count : room;
    for (int i = 0; i < described; i++) {
        struct cudaDeviceProp p;
        if ((error = cudaGetDeviceProperties(&p, i)) != cudaSuccess) return error;
        strncpy(facts[i].name, p.name, sizeof facts[i].name - 1);
        facts[i].name[sizeof facts[i].name - 1] = 0;
        facts[i].memory = p.totalGlobalMem;
        for (size_t r = 0; r < many && error == cudaSuccess; r++)
            error = cudaDeviceGetAttribute(field(&facts[i], rows[r].offset), rows[r].runtime, i);
        for (int axis = 0; axis < 3 && error == cudaSuccess; axis++) {
            error = cudaDeviceGetAttribute(
                &facts[i].block[axis], (enum cudaDeviceAttr)(cudaDevAttrMaxBlockDimX + axis), i);
            if (error == cudaSuccess)
                error = cudaDeviceGetAttribute(
                    &facts[i].grid[axis], (enum cudaDeviceAttr)(cudaDevAttrMaxGridDimX + axis), i);
        }
    }
    return error;
}

CUresult device_query_driver(struct device_query_facts *facts, int room, int *count)
{
    const size_t many = sizeof rows / sizeof rows[0];
    CUresult result = cuInit(0);
    int there = 0;
    if (result == CUDA_SUCCESS) result = cuDeviceGetCount(&there);
    if (result == CUDA_ERROR_NO_DEVICE) result = CUDA_SUCCESS;
    if (result != CUDA_SUCCESS) return result;
    *count = there;
    for (int i = 0; i < there && i < room && result == CUDA_SUCCESS; i++) {
        CUdevice device;
        if ((result = cuDeviceGet(&device, i)) != CUDA_SUCCESS) break;
        result = cuDeviceGetName(facts[i].name, DEVICE_QUERY_NAME, device);
        if (result == CUDA_SUCCESS) result = cuDeviceTotalMem(&facts[i].memory, device);
        for (size_t r = 0; r < many && result == CUDA_SUCCESS; r++)
            result = cuDeviceGetAttribute(field(&facts[i], rows[r].offset), rows[r].driver, device);
        for (int k = 0; k < 6 && result == CUDA_SUCCESS; k++)
            result = cuDeviceGetAttribute(
                k < 3 ? &facts[i].block[k] : &facts[i].grid[k - 3],
                (CUdevice_attribute)(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + k), device);
    }
    return result;
}

CUresult device_query_memory(int ordinal, size_t *free, size_t *total)
{
    CUdevice device;
    CUcontext context;
    CUresult first, next;

    first = cuInit(0);
    if (first == CUDA_SUCCESS) first = cuDeviceGet(&device, ordinal);
    if (first == CUDA_SUCCESS) first = cuDevicePrimaryCtxRetain(&context, device);
    if (first != CUDA_SUCCESS) return first;
    first = cuCtxPushCurrent(context);
    if (first == CUDA_SUCCESS) {
        first = cuMemGetInfo(free, total);
        next = cuCtxPopCurrent(NULL);
        if (first == CUDA_SUCCESS) first = next;
    }
    next = cuDevicePrimaryCtxRelease(device);
    if (first == CUDA_SUCCESS) first = next;
    return first;
}
