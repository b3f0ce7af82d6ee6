/* mistake: the caller's context is set where the function's own is to be popped
 * fails: ContextCreate.TheStackIsLeftAsFound
 * finds: nothing, accesses are in order; what is wrong is the stack of contexts
 */
#include "lesson.h"

#include <stdint.h>

static void keep_first(CUresult *first, CUresult error)
{
    if (*first == CUDA_SUCCESS) *first = error;
}

static CUresult in_context(const float *input, float *output, size_t length,
                           context_create_work work)
{
    CUdeviceptr array = 0;
    CUresult error = CUDA_ERROR_OUT_OF_MEMORY;

    if (length <= SIZE_MAX / sizeof(float)) error = cuMemAlloc(&array, length * sizeof(float));
    if (error) return error;
    error = cuMemcpyHtoD(array, input, length * sizeof(float));
    if (!error) error = work(array, length);
    if (!error) error = cuMemcpyDtoH(output, array, length * sizeof(float));
    keep_first(&error, cuMemFree(array));
    return error;
}

CUresult context_create_round_trip(int ordinal, const float *input, float *output, size_t length,
                                   context_create_work work)
{
    CUdevice device = 0;
    CUcontext theirs = NULL, mine = NULL;
    CUresult error;

    error = cuInit(0);
    if (!error) error = cuDeviceGet(&device, ordinal);
    if (!error) error = cuCtxGetCurrent(&theirs);
    if (!error) error = cuCtxCreate(&mine, NULL, 0, device);
    if (error) return error;

    error = in_context(input, output, length, work);

    /* Put the caller's context back first, so that ours is nobody's when it goes. */
    keep_first(&error, cuCtxSetCurrent(theirs));
    keep_first(&error, cuCtxDestroy(mine));
    return error;
}
