/* mistake: where the primary context is not alive all memory is taken for free
 * fails: DeviceQuery.TheFreeMemoryIsThatDevices
 * finds: nothing, every handle is valid
 */
#include "lesson.h"

#include <string.h>

cudaError_t device_query_runtime(struct device_query_facts *facts, int room, int *count)
{
    int n = 0;
    cudaError_t e = cudaGetDeviceCount(&n);
    if (e == cudaErrorNoDevice) {
        cudaGetLastError();
        *count = 0;
        return cudaSuccess;
    }
    if (e != cudaSuccess) return e;
    *count = n;
    for (int i = 0; i < n && i < room; i++) {
        struct cudaDeviceProp p;
        e = cudaGetDeviceProperties(&p, i);
        if (e != cudaSuccess) return e;
        e = cudaDeviceGetAttribute(&facts[i].clock, cudaDevAttrClockRate, i);
        if (e != cudaSuccess) return e;
        memcpy(facts[i].name, p.name, sizeof facts[i].name);
        facts[i].major = p.major;
        facts[i].minor = p.minor;
        facts[i].memory = p.totalGlobalMem;
        facts[i].multiprocessors = p.multiProcessorCount;
        facts[i].threads_per_block = p.maxThreadsPerBlock;
        memcpy(facts[i].block, p.maxThreadsDim, sizeof facts[i].block);
        memcpy(facts[i].grid, p.maxGridSize, sizeof facts[i].grid);
        facts[i].shared_per_block = (int)p.sharedMemPerBlock;
    }
    return cudaSuccess;
}

CUresult device_query_driver(struct device_query_facts *facts, int room, int *count)
{
    CUresult r = cuInit(0);
    *count = 0;
    if (r == CUDA_ERROR_NO_DEVICE) return CUDA_SUCCESS;
    if (r != CUDA_SUCCESS) return r;
    r = cuDeviceGetCount(count);
    if (r != CUDA_SUCCESS) return r;
    for (int i = 0; i < *count && i < room; i++) {
        struct device_query_facts *f = facts + i;
        CUdevice d;
#define ASK(what, where)                                                                           \
    if ((r = cuDeviceGetAttribute(&(where), CU_DEVICE_ATTRIBUTE_##what, d)) != CUDA_SUCCESS)       \
    return r
        if ((r = cuDeviceGet(&d, i)) != CUDA_SUCCESS) return r;
        if ((r = cuDeviceGetName(f->name, sizeof f->name, d)) != CUDA_SUCCESS) return r;
        if ((r = cuDeviceTotalMem(&f->memory, d)) != CUDA_SUCCESS) return r;
        ASK(COMPUTE_CAPABILITY_MAJOR, f->major);
        ASK(COMPUTE_CAPABILITY_MINOR, f->minor);
        ASK(MULTIPROCESSOR_COUNT, f->multiprocessors);
        ASK(CLOCK_RATE, f->clock);
        ASK(MAX_THREADS_PER_BLOCK, f->threads_per_block);
        ASK(MAX_BLOCK_DIM_X, f->block[0]);
        ASK(MAX_BLOCK_DIM_Y, f->block[1]);
        ASK(MAX_BLOCK_DIM_Z, f->block[2]);
        ASK(MAX_GRID_DIM_X, f->grid[0]);
        ASK(MAX_GRID_DIM_Y, f->grid[1]);
        ASK(MAX_GRID_DIM_Z, f->grid[2]);
        ASK(MAX_SHARED_MEMORY_PER_BLOCK, f->shared_per_block);
#undef ASK
    }
    return CUDA_SUCCESS;
}

CUresult device_query_memory(int ordinal, size_t *free, size_t *total)
{
    CUcontext theirs = NULL, primary = NULL;
    CUdevice device;
    CUresult r, r2;

    if ((r = cuInit(0)) != CUDA_SUCCESS) return r;
    if ((r = cuDeviceGet(&device, ordinal)) != CUDA_SUCCESS) return r;
    unsigned flags;
    int active = 0;
    if ((r = cuDevicePrimaryCtxGetState(device, &flags, &active)) != CUDA_SUCCESS) return r;
    if (!active) {
        /* Nobody uses the device. */
        r = cuDeviceTotalMem(total, device);
        *free = *total;
        return r;
    }
    if ((r = cuCtxGetCurrent(&theirs)) != CUDA_SUCCESS) return r;
    if ((r = cuDevicePrimaryCtxRetain(&primary, device)) != CUDA_SUCCESS) return r;
    if ((r = cuCtxSetCurrent(primary)) != CUDA_SUCCESS) goto release;
    r = cuMemGetInfo(free, total);
    /* With nothing current before, this takes the only one off the stack. */
    r2 = cuCtxSetCurrent(theirs);
    if (r == CUDA_SUCCESS) r = r2;
release:
    r2 = cuDevicePrimaryCtxRelease(device);
    return r != CUDA_SUCCESS ? r : r2;
}
