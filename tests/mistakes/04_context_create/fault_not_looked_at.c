/* mistake: nobody looks at what the wait for work's kernel returns, nor at what the clean-up does
 * fails: ContextCreate.AFaultIsReturned
 * finds: nothing, the kernel that faults is work's
 */
#include "lesson.h"

#include <stdint.h>
#include <string.h>

CUresult context_create_round_trip(int ordinal, const float *input, float *output, size_t length,
                                   context_create_work work)
{
    CUdevice device;
    CUcontext context, popped;
    CUdeviceptr array = 0;
    void *pinned = NULL;
    size_t bytes = length * sizeof(float);
    CUresult error;

    error = cuInit(0);
    if (error) return error;
    error = cuDeviceGet(&device, ordinal);
    if (error) return error;
    error = cuCtxCreate(&context, NULL, 0, device);
    if (error) return error;

    if (length > SIZE_MAX / sizeof(float)) error = CUDA_ERROR_OUT_OF_MEMORY;
    if (!error) error = cuMemAlloc(&array, bytes);
    if (!error) error = cuMemAllocHost(&pinned, bytes);

    if (!error) {
        memcpy(pinned, input, bytes);
        error = cuMemcpyHtoDAsync(array, pinned, bytes, NULL);
        if (!error) error = work(array, length);
        if (!error) error = cuMemcpyDtoHAsync(pinned, array, bytes, NULL);
        cuCtxSynchronize();
        if (!error) memcpy(output, pinned, bytes);
    }

    if (pinned) cuMemFreeHost(pinned);
    if (array) cuMemFree(array);
    cuCtxPopCurrent(&popped);
    cuCtxDestroy(context);
    return error;
}
