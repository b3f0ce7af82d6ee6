/* variant: an error of work goes straight to cuMemFree, which waits for its kernel on GPUs
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

    result = cuMemAlloc(&array, bytes);
    if (result != CUDA_SUCCESS) goto destroy;
    result = cuMemcpyHtoD(array, input, bytes);
    if (result != CUDA_SUCCESS) goto release;
    result = work(array, length);
    if (result != CUDA_SUCCESS) goto release;
    result = cuMemcpyDtoH(output, array, bytes);
    if (result != CUDA_SUCCESS) (void)cuCtxSynchronize();

release:
    keep(&result, cuMemFree(array));
destroy:
    keep(&result, cuCtxDestroy(context));
    return result;
}
