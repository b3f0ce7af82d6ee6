/* mistake: memory is freed when its context has gone
 * fails: ContextCreate.TheDeviceFindsNothingWrong
 * finds: double free at "array)"
 */
#include "lesson.h"

#include <stdint.h>

CUresult context_create_round_trip(int ordinal, const float *input, float *output, size_t length,
                                   context_create_work work)
{
    CUdevice device;
    CUcontext context = NULL;
    CUdeviceptr array = 0;
    CUresult error;

    error = cuInit(0);
    if (!error) error = cuDeviceGet(&device, ordinal);
    if (!error) error = cuCtxCreate(&context, NULL, 0, device);

    if (!error && length > SIZE_MAX / sizeof(float)) error = CUDA_ERROR_OUT_OF_MEMORY;
    if (!error) error = cuMemAlloc(&array, length * sizeof(float));
    if (!error) error = cuMemcpyHtoD(array, input, length * sizeof(float));
    if (!error) error = work(array, length);
    if (!error) error = cuMemcpyDtoH(output, array, length * sizeof(float));
    if (array != 0) (void)cuCtxSynchronize();

    if (context) {
        CUcontext popped;
        CUresult off = cuCtxPopCurrent(&popped);
        CUresult gone = cuCtxDestroy(context);
        if (!error) error = off ? off : gone;
    }
    if (array) cuMemFree(array);
    return error;
}
