/* mistake: the primary context, which everybody in the process shares, is taken for one of its own
 * fails: ContextCreate.OneContextPerCall
 * finds: nothing, the context is a right one, only everybody's
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

    result = cuDevicePrimaryCtxRetain(&context, device);
    if (result != CUDA_SUCCESS) return result;
    result = cuCtxPushCurrent(context);
    if (result != CUDA_SUCCESS) {
        (void)cuDevicePrimaryCtxRelease(device);
        return result;
    }

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
    keep(&result, cuCtxPopCurrent(NULL));
    keep(&result, cuDevicePrimaryCtxRelease(device));
    return result;
}
