#define _GNU_SOURCE
#include "lesson.h"
#include <dlfcn.h>
#include <string.h>

static __typeof__(&cuCtxCreate) create;
static __typeof__(&cuCtxPopCurrent) pop;
static __typeof__(&cuMemAlloc) allocate;
static __typeof__(&cuMemcpyHtoD) copy_in;
static __typeof__(&cuMemcpyDtoH) copy_out;
static __typeof__(&cuMemFree) release;

static int take(void *function, void *library, const char *versioned, const char *name, int version)
{
    void *address = NULL;
    CUdriverProcAddressQueryResult found;
    if (cuGetProcAddress(name, &address, version, 0, &found) != CUDA_SUCCESS || !address)
        address = library ? dlsym(library, versioned) : NULL;
    memcpy(function, &address, sizeof address);
    return address != NULL;
}

CUresult context_create_round_trip(int ordinal, const float *input, float *output, size_t length,
                                   context_create_work work)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    CUdevice device;
    CUcontext context;
    CUdeviceptr memory = 0;
    CUresult error = cuInit(0);
    if (error != CUDA_SUCCESS)
        return error;
    if (!take(&create, library, "cuCtxCreate_v4", "cuCtxCreate", CUDA_VERSION) ||
        !take(&pop, library, "cuCtxPopCurrent_v2", "cuCtxPopCurrent", CUDA_VERSION) ||
        !take(&allocate, library, "cuMemAlloc_v2", "cuMemAlloc", CUDA_VERSION) ||
        !take(&copy_in, library, "cuMemcpyHtoD_v2", "cuMemcpyHtoD", CUDA_VERSION) ||
        !take(&copy_out, library, "cuMemcpyDtoH_v2", "cuMemcpyDtoH", CUDA_VERSION) ||
        !take(&release, library, "cuMemFree_v2", "cuMemFree", CUDA_VERSION))
        return CUDA_ERROR_NOT_FOUND;
    error = cuDeviceGet(&device, ordinal);
    if (error != CUDA_SUCCESS)
        return error;
    error = create(&context, NULL, 0, device);
    if (error != CUDA_SUCCESS)
        return error;
    error = allocate(&memory, length * sizeof *input);
    if (error == CUDA_SUCCESS)
        error = copy_in(memory, input, length * sizeof *input);
    if (error == CUDA_SUCCESS)
        error = work(memory, length);
    if (error == CUDA_SUCCESS)
        error = copy_out(output, memory, length * sizeof *output);
    if (memory)
        release(memory);
    pop(&context); /* and it lives on */
    return error;
}
