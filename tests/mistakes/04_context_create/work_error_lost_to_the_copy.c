/* mistake: the copy out's success overwrites work's error
 * fails: ContextCreate.FailedCallsAreReturned
 * finds: nothing, an error that is lost spoils no memory
 */
#include "lesson.h"

#include <stdint.h>

static CUresult use(CUdeviceptr array, const float *input, float *output, size_t length,
                    context_create_work work)
{
    CUresult error = cuMemcpyHtoD(array, input, length * sizeof(float));
    if (error) return error;

    error = work(array, length);
    /* Its kernel may still run. Nobody touches the array before it has ended. */
    CUresult finished = cuCtxSynchronize();
    if (finished == CUDA_SUCCESS)
        error = cuMemcpyDtoH(output, array, length * sizeof(float));
    else if (error == CUDA_SUCCESS)
        error = finished;
    return error;
}

static CUresult allocate_and_use(const float *input, float *output, size_t length,
                                 context_create_work work)
{
    if (length > SIZE_MAX / sizeof(float)) return CUDA_ERROR_OUT_OF_MEMORY;

    CUdeviceptr array;
    CUresult error = cuMemAlloc(&array, length * sizeof(float));
    if (error) return error;

    error = use(array, input, output, length, work);
    CUresult freed = cuMemFree(array);
    return error ? error : freed;
}

CUresult context_create_round_trip(int ordinal, const float *input, float *output, size_t length,
                                   context_create_work work)
{
    CUdevice device;
    CUcontext context, popped;

    CUresult error = cuInit(0);
    if (error) return error;
    error = cuDeviceGet(&device, ordinal);
    if (error) return error;
    error = cuCtxCreate(&context, NULL, 0, device);
    if (error) return error;

    error = allocate_and_use(input, output, length, work);
    CUresult off = cuCtxPopCurrent(&popped);
    CUresult gone = cuCtxDestroy(context);
    if (!error) error = off;
    return error ? error : gone;
}
