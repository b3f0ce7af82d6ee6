/* variant: through page-locked memory of the new context, which goes with it; waits for an
 * event
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
    CUevent done;
    float *staged;
    CUdevice device;

    CUresult result = cuInit(0);
    if (result != CUDA_SUCCESS) return result;
    result = cuDeviceGet(&device, ordinal);
    if (result != CUDA_SUCCESS) return result;

    result = cuCtxCreate(&context, NULL, 0, device);
    if (result != CUDA_SUCCESS) return result;

    result = cuMemAlloc(&array, bytes);
    if (result != CUDA_SUCCESS) goto destroy;
    result = cuEventCreate(&done, CU_EVENT_DISABLE_TIMING);
    if (result != CUDA_SUCCESS) goto release;
    result = cuMemHostAlloc((void **)&staged, bytes, 0);
    if (result != CUDA_SUCCESS) goto forget;
    memcpy(staged, input, bytes);
    result = cuMemcpyHtoDAsync(array, staged, bytes, NULL);
    if (result != CUDA_SUCCESS) goto unstage;
    result = work(array, length);
    if (result != CUDA_SUCCESS) goto unstage;
    result = cuMemcpyDtoHAsync(staged, array, bytes, NULL);
    if (result == CUDA_SUCCESS) result = cuEventRecord(done, NULL);
    if (result == CUDA_SUCCESS) result = cuEventSynchronize(done);
    if (result == CUDA_SUCCESS) memcpy(output, staged, bytes);

unstage:
    if (result != CUDA_SUCCESS) (void)cuCtxSynchronize();
    keep(&result, cuMemFreeHost(staged));
forget:
    keep(&result, cuEventDestroy(done));
release:
    keep(&result, cuMemFree(array));
destroy:
    keep(&result, cuCtxDestroy(context));
    return result;
}
