/* mistake: the copy out into page-locked memory is asynchronous, and its result is used at once
 * fails: ContextCreate.TheDataComesBack
 * finds: race at "memcpy(output, staging"
 */
#include "lesson.h"

#include <string.h>

static void keep(CUresult *first, CUresult result)
{
    if (*first == CUDA_SUCCESS) *first = result;
}

CUresult context_create_round_trip(int ordinal, const float *input, float *output, size_t length,
                                   context_create_work work)
{
    const size_t bytes = length * sizeof *input;
    CUcontext context;
    CUdeviceptr array;
    CUdevice device;
    void *staging;

    CUresult result = cuInit(0);
    if (result != CUDA_SUCCESS) return result;
    result = cuDeviceGet(&device, ordinal);
    if (result != CUDA_SUCCESS) return result;

    result = cuCtxCreate(&context, NULL, 0, device);
    if (result != CUDA_SUCCESS) return result;

    result = cuMemAllocHost(&staging, bytes);
    if (result != CUDA_SUCCESS) goto destroy;
    result = cuMemAlloc(&array, bytes);
    if (result != CUDA_SUCCESS) goto unpin;
    result = cuMemcpyHtoD(array, input, bytes);
    if (result != CUDA_SUCCESS) goto release;
    result = work(array, length);
    if (result != CUDA_SUCCESS) goto release;
    result = cuMemcpyDtoHAsync(staging, array, bytes, NULL);
    if (result == CUDA_SUCCESS) memcpy(output, staging, bytes);

release:
    if (result != CUDA_SUCCESS) (void)cuCtxSynchronize();
    keep(&result, cuMemFree(array));
unpin:
    keep(&result, cuMemFreeHost(staging));
destroy:
    keep(&result, cuCtxDestroy(context));
    return result;
}
