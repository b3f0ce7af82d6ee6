/* mistake: the ordinal is not looked at
 * fails: ContextCreate.FailedCallsAreReturned
 * finds: nothing, each access is in order; an error is lost on its way to the caller
 */
#include "lesson.h"

static void keep(CUresult *first, CUresult result)
{
    if (*first == CUDA_SUCCESS) *first = result;
}

CUresult context_create_round_trip(int ordinal, const float *input, float *output, size_t length,
                                   context_create_work work)
{
    (void)ordinal;
    const size_t bytes = length * sizeof *input;
    CUcontext context;
    CUdeviceptr array;
    CUdevice device;

    CUresult result = cuInit(0);
    if (result != CUDA_SUCCESS) return result;
    result = cuDeviceGet(&device, 0);
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

release:
    if (result != CUDA_SUCCESS) (void)cuCtxSynchronize();
    keep(&result, cuMemFree(array));
destroy:
    keep(&result, cuCtxDestroy(context));
    return result;
}
