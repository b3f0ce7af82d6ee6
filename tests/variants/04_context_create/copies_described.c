/* variant: copies described by a structure; a context that lets the host sleep while it waits
 */
#include "lesson.h"

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
    CUDA_MEMCPY2D copy = {.WidthInBytes = bytes, .Height = 1};

    CUresult result = cuInit(0);
    if (result != CUDA_SUCCESS) return result;
    result = cuDeviceGet(&device, ordinal);
    if (result != CUDA_SUCCESS) return result;

    result = cuCtxCreate(&context, NULL, CU_CTX_SCHED_BLOCKING_SYNC, device);
    if (result != CUDA_SUCCESS) return result;

    result = cuMemAlloc(&array, bytes);
    if (result != CUDA_SUCCESS) goto destroy;
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = input;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = array;
    result = cuMemcpy2D(&copy);
    if (result != CUDA_SUCCESS) goto release;
    result = work(array, length);
    if (result != CUDA_SUCCESS) goto release;
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = array;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = output;
    result = cuMemcpy2D(&copy);

release:
    if (result != CUDA_SUCCESS) (void)cuCtxSynchronize();
    keep(&result, cuMemFree(array));
destroy:
    keep(&result, cuCtxDestroy(context));
    return result;
}
