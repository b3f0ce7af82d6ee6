/* variant: memory in stream order; after an error the end of the context is what waits
 * orders: 3
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

    result = cuMemAllocAsync(&array, bytes, CU_STREAM_LEGACY);
    if (result != CUDA_SUCCESS) goto destroy;
    result = cuMemcpyHtoDAsync(array, input, bytes, CU_STREAM_LEGACY);
    if (result == CUDA_SUCCESS) result = work(array, length);
    if (result == CUDA_SUCCESS) result = cuMemcpyDtoHAsync(output, array, bytes, CU_STREAM_LEGACY);
    keep(&result, cuMemFreeAsync(array, CU_STREAM_LEGACY));

destroy:
    keep(&result, cuCtxDestroy(context));
    return result;
}
