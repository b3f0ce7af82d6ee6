/* variant: device memory in stream order, asynchronous copies, one wait
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

    CUresult result = cuInit(0);
    if (result != CUDA_SUCCESS) return result;
    result = cuDeviceGet(&device, ordinal);
    if (result != CUDA_SUCCESS) return result;

    result = cuCtxCreate(&context, NULL, 0, device);
    if (result != CUDA_SUCCESS) return result;

    result = cuMemAllocAsync(&array, bytes, NULL);
    if (result != CUDA_SUCCESS) goto destroy;
    result = cuMemcpyHtoDAsync(array, input, bytes, NULL);
    if (result != CUDA_SUCCESS) goto release;
    result = work(array, length);
    if (result != CUDA_SUCCESS) goto release;
    result = cuMemcpyDtoHAsync(output, array, bytes, NULL);

release:
    keep(&result, cuMemFreeAsync(array, NULL));
    keep(&result, cuCtxSynchronize());
destroy:
    keep(&result, cuCtxDestroy(context));
    return result;
}
