#include "emulator/standins/standins.h"

#include <cuda_runtime_api.h>
#include <pthread.h>

void standin_call_begin(const char *name, const void *caller)
{
    overlap_call_enter(name, caller, OVERLAP_CALL_LIBRARY);
}

/* The first error of the thread's present call. */
static _Thread_local CUresult met;

CUresult standin_met(CUresult error)
{
    if (met == CUDA_SUCCESS) met = error;
    return error;
}

void standin_call_end(bool fine, CUresult otherwise)
{
    const CUresult error = met != CUDA_SUCCESS ? met : otherwise;
    met = CUDA_SUCCESS;
    overlap_call_leave(fine ? CUDA_SUCCESS : (int)error);
}

void standin_absent(const char *name, const void *caller)
{
    overlap_unsupported(name, caller, 0, CUDA_ERROR_NOT_SUPPORTED);
}

void standin_lacks(const char *what)
{
    overlap_finding_unsupported(what, CUDA_ERROR_NOT_SUPPORTED);
}

void standin_misused(const char *what)
{
    overlap_finding_misuse(what, CUDA_ERROR_INVALID_VALUE);
}

void standin_waits(unsigned who, unsigned whom)
{
    overlap_call_waits(who, whom);
}

void standin_private(const void *bytes, const struct overlap_writers *writers, void *user)
{
    overlap_memory_is_private(bytes, writers, user);
}

CUresult standin_context(void)
{
    CUcontext current = NULL;
    if (cuCtxGetCurrent(&current) == CUDA_SUCCESS && current != NULL) return CUDA_SUCCESS;
    return (CUresult)cudaFree(NULL);
}

/* The kernels are a library of the process: every context finds them. */
static CUresult load(struct standin_kernels *kernels)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    if (!kernels->tried)
        kernels->loaded =
            cuLibraryLoadData(&kernels->library, kernels->ptx, NULL, NULL, 0, NULL, NULL, 0);
    kernels->tried = true;
    const CUresult loaded = kernels->loaded;
    pthread_mutex_unlock(&lock);
    return loaded;
}

static uint64_t blocks_for(uint64_t threads, unsigned block)
{
    return threads / block + (threads % block != 0);
}

CUresult standin_launch(struct standin_kernels *kernels, const char *name,
                        const struct standin_size *size, CUstream stream, const void *parameter)
{
    enum { MOST_Y = 65535 };
    const uint64_t x = blocks_for(size->x, size->block_x), y = blocks_for(size->y, size->block_y);
    void *parameters[] = {(void *)parameter};
    CUkernel kernel;
    if (x == 0 || y == 0 || size->z == 0) return CUDA_SUCCESS;
    if (x > INT32_MAX || y > MOST_Y || size->z > MOST_Y) return CUDA_ERROR_INVALID_VALUE;
    CUresult result = standin_context();
    if (result == CUDA_SUCCESS) result = load(kernels);
    if (result == CUDA_SUCCESS) result = cuLibraryGetKernel(&kernel, kernels->library, name);
    if (result != CUDA_SUCCESS) return result;
    return cuLaunchKernel((CUfunction)kernel, (unsigned)x, (unsigned)y, (unsigned)size->z,
                          size->block_x, size->block_y, 1, 0, stream, parameters, NULL);
}
