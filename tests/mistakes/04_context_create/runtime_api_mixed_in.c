/* mistake: the copy out is left to the runtime API after the context was popped, and goes through
 * the primary one. It waits all the same, as on a GPU: it takes part in the other's default stream.
 * fails: ContextCreate.TheWorkIsInTheNewContext
 * finds: nothing, the copy is in order; what is wrong is the context that it works in
 */
#include "lesson.h"

#include <cuda_runtime_api.h>

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
    keep(&result, cuCtxPopCurrent(NULL));
    if (cudaMemcpy(output, (const void *)array, bytes, cudaMemcpyDeviceToHost) != cudaSuccess)
        keep(&result, CUDA_ERROR_INVALID_VALUE);
    keep(&result, cuCtxPushCurrent(context));

release:
    if (result != CUDA_SUCCESS) (void)cuCtxSynchronize();
    keep(&result, cuMemFree(array));
destroy:
    keep(&result, cuCtxDestroy(context));
    return result;
}
