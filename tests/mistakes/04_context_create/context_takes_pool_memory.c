/* mistake: memory from a pool is left to the context, which does not free it
 * fails: ContextCreate.TheContextIsDestroyedOnFailure
 * finds: leak at "cuMemAllocAsync("
 */
#include "lesson.h"

#include <stdint.h>

/* Everything in the default stream, like work's own kernel: each step starts when the one before
 * it has ended, and one wait at the end is enough. */
static CUresult stream_ordered(const float *input, float *output, size_t length,
                               context_create_work work)
{
    CUdeviceptr array = 0;
    CUresult error;

    if (length > SIZE_MAX / sizeof *input) return CUDA_ERROR_OUT_OF_MEMORY;
    error = cuMemAllocAsync(&array, length * sizeof *input, NULL);
    if (error) return error;

    error = cuMemcpyHtoDAsync(array, input, length * sizeof *input, NULL);
    if (!error) error = work(array, length);
    if (!error) error = cuMemcpyDtoHAsync(output, array, length * sizeof *input, NULL);
    if (error) return error; /* the context is about to go anyway */

    error = cuMemFreeAsync(array, NULL);
    CUresult waited = cuStreamSynchronize(NULL);
    return error ? error : waited;
}

CUresult context_create_round_trip(int ordinal, const float *input, float *output, size_t length,
                                   context_create_work work)
{
    CUdevice device;
    CUcontext context, popped;
    CUresult error, popping, destroying;

    if ((error = cuInit(0))) return error;
    if ((error = cuDeviceGet(&device, ordinal))) return error;
    if ((error = cuCtxCreate(&context, NULL, 0, device))) return error;

    error = stream_ordered(input, output, length, work);
    popping = cuCtxPopCurrent(&popped);
    destroying = cuCtxDestroy(context);
    if (error) return error;
    return popping ? popping : destroying;
}
