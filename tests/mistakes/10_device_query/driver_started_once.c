/* mistake: cuInit is called once only, and its failure is forgotten: the second question finds a
 * driver that was never started
 * fails: DeviceQuery.NoDeviceIsAnAnswer
 * finds: nothing, a wrong answer is no access
 */
#include "lesson.h"
#include <string.h>

static cudaError_t describe(struct device_query_facts *f, int device)
{
    struct cudaDeviceProp p;
    cudaError_t e = cudaGetDeviceProperties(&p, device);
    if (e) return e;
    memset(f->name, 0, sizeof f->name);
    strncpy(f->name, p.name, sizeof f->name - 1);
    f->major = p.major;
    f->minor = p.minor;
    f->memory = p.totalGlobalMem;
    f->multiprocessors = p.multiProcessorCount;
    f->threads_per_block = p.maxThreadsPerBlock;
    memcpy(f->block, p.maxThreadsDim, sizeof f->block);
    memcpy(f->grid, p.maxGridSize, sizeof f->grid);
    f->shared_per_block = (int)p.sharedMemPerBlock;
    return cudaDeviceGetAttribute(&f->clock, cudaDevAttrClockRate, device);
}

cudaError_t device_query_runtime(struct device_query_facts *facts, int room, int *count)
{
    int n = 0;
    cudaError_t e = cudaGetDeviceCount(&n);
    if (e == cudaErrorNoDevice) {
        cudaGetLastError();
        *count = 0;
        return cudaSuccess;
    }
    if (e) return e;
    for (int i = 0; i < n && i < room; i++)
        if ((e = describe(&facts[i], i))) return e;
    *count = n;
    return cudaSuccess;
}

static CUresult describe_by_driver(struct device_query_facts *f, int ordinal)
{
    const struct {
        CUdevice_attribute attribute;
        int *where;
    } wanted[] = {
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &f->major},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &f->minor},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &f->multiprocessors},
        {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &f->clock},
        {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &f->threads_per_block},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, &f->block[0]},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, &f->block[1]},
        {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, &f->block[2]},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, &f->grid[0]},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, &f->grid[1]},
        {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, &f->grid[2]},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, &f->shared_per_block},
    };
    CUdevice device;
    CUresult e = cuDeviceGet(&device, ordinal);
    if (!e) e = cuDeviceGetName(f->name, sizeof f->name, device);
    if (!e) e = cuDeviceTotalMem(&f->memory, device);
    for (size_t i = 0; !e && i < sizeof wanted / sizeof *wanted; i++)
        e = cuDeviceGetAttribute(wanted[i].where, wanted[i].attribute, device);
    return e;
}

static CUresult start(void)
{
    static int started;
    if (started) return CUDA_SUCCESS;
    started = 1;
    return cuInit(0);
}

CUresult device_query_driver(struct device_query_facts *facts, int room, int *count)
{
    int n = 0;
    CUresult e = start();
    if (!e) e = cuDeviceGetCount(&n);
    if (e == CUDA_ERROR_NO_DEVICE) {
        *count = 0;
        return CUDA_SUCCESS;
    }
    for (int i = 0; !e && i < n && i < room; i++) e = describe_by_driver(&facts[i], i);
    if (!e) *count = n;
    return e;
}

CUresult device_query_memory(int ordinal, size_t *free, size_t *total)
{
    CUdevice device;
    CUcontext context, popped;
    CUresult end, e = start();
    if (!e) e = cuDeviceGet(&device, ordinal);
    if (!e) e = cuDevicePrimaryCtxRetain(&context, device);
    if (e) return e;
    e = cuCtxPushCurrent(context);
    if (!e) {
        e = cuMemGetInfo(free, total);
        end = cuCtxPopCurrent(&popped);
        if (!e) e = end;
    }
    end = cuDevicePrimaryCtxRelease(device);
    return e ? e : end;
}
