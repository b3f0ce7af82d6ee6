/* mistake: a context that could not be made is popped: the caller's goes instead
 * fails: ContextCreate.EveryErrorIsReturnedAndNothingLeaks
 * finds: nothing, the pop is a legal call
 */
#include "lesson.h"

#include <stdint.h>

CUresult context_create_round_trip(int ordinal, const float *input, float *output, size_t length,
                                   context_create_work work)
{
    CUdevice device;
    CUcontext context = NULL, popped = NULL;
    CUdeviceptr array = 0;
    size_t bytes;
    CUresult status, cleanup;

    if ((status = cuInit(0)) != CUDA_SUCCESS) return status;
    if ((status = cuDeviceGet(&device, ordinal)) != CUDA_SUCCESS) return status;

    if ((status = cuCtxCreate(&context, NULL, 0, device)) != CUDA_SUCCESS) goto done;
    if (__builtin_mul_overflow(length, sizeof(float), &bytes)) {
        status = CUDA_ERROR_OUT_OF_MEMORY;
        goto done;
    }
    if ((status = cuMemAlloc(&array, bytes)) != CUDA_SUCCESS) goto done;
    if ((status = cuMemcpyHtoD(array, input, bytes)) != CUDA_SUCCESS) goto done;
    if ((status = work(array, length)) != CUDA_SUCCESS) goto done;
    status = cuMemcpyDtoH(output, array, bytes);

done:
    if (array) {
        (void)cuCtxSynchronize();
        cleanup = cuMemFree(array);
        if (status == CUDA_SUCCESS) status = cleanup;
    }
    cleanup = cuCtxPopCurrent(&popped);
    if (status == CUDA_SUCCESS) status = cleanup;
    if (context) {
        cleanup = cuCtxDestroy(context);
        if (status == CUDA_SUCCESS) status = cleanup;
    }
    return status;
}
