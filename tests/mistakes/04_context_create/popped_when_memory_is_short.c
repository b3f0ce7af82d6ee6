/* mistake: the context is popped, not destroyed, when there is no memory
 * fails: ContextCreate.TheContextIsDestroyedOnFailure
 * finds: leak at "device)"
 */
#include "lesson.h"

#include <stdint.h>

CUresult context_create_round_trip(int ordinal, const float *input, float *output, size_t length,
                                   context_create_work work)
{
    CUdevice device;
    CUcontext context, popped;
    CUdeviceptr array;
    CUresult error, next;

    if ((error = cuInit(0)) != CUDA_SUCCESS) return error;
    if ((error = cuDeviceGet(&device, ordinal)) != CUDA_SUCCESS) return error;
    if ((error = cuCtxCreate(&context, NULL, 0, device)) != CUDA_SUCCESS) return error;

    if (length > SIZE_MAX / sizeof *input)
        error = CUDA_ERROR_OUT_OF_MEMORY;
    else
        error = cuMemAlloc(&array, length * sizeof *input);
    if (error != CUDA_SUCCESS) {
        cuCtxPopCurrent(&popped);
        return error;
    }

    error = cuMemcpyHtoD(array, input, length * sizeof *input);
    if (error == CUDA_SUCCESS) error = work(array, length);
    if (error == CUDA_SUCCESS) error = cuMemcpyDtoH(output, array, length * sizeof *input);

    next = cuMemFree(array);
    if (error == CUDA_SUCCESS) error = next;
    next = cuCtxPopCurrent(&popped);
    if (error == CUDA_SUCCESS) error = next;
    next = cuCtxDestroy(context);
    if (error == CUDA_SUCCESS) error = next;
    return error;
}
