/* variant: managed memory: the host writes and reads it itself, before and after the work
 */
#include "lesson.h"

#include <stdint.h>
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

    CUresult result = cuInit(0);
    if (result != CUDA_SUCCESS) return result;
    result = cuDeviceGet(&device, ordinal);
    if (result != CUDA_SUCCESS) return result;

    result = cuCtxCreate(&context, NULL, 0, device);
    if (result != CUDA_SUCCESS) return result;

    result = cuMemAllocManaged(&array, bytes, CU_MEM_ATTACH_GLOBAL);
    if (result != CUDA_SUCCESS) goto destroy;
    memcpy((void *)(uintptr_t)array, input, bytes);
    result = work(array, length);
    if (result != CUDA_SUCCESS) goto release;
    result = cuCtxSynchronize();
    if (result == CUDA_SUCCESS) memcpy(output, (void *)(uintptr_t)array, bytes);

release:
    if (result != CUDA_SUCCESS) (void)cuCtxSynchronize();
    keep(&result, cuMemFree(array));
destroy:
    keep(&result, cuCtxDestroy(context));
    return result;
}
