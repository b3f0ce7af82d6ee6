/* mistake: the copy out is in a non-blocking stream, which does not wait for work's kernel
 * fails: ContextCreate.TheDataComesBack
 * finds: race at "TRY(cuMemcpyDtoHAsync("
 */
#include "lesson.h"

#include <stdint.h>

#define TRY(call)                                                                                  \
    do {                                                                                           \
        CUresult error_ = (call);                                                                  \
        if (first == CUDA_SUCCESS) first = error_;                                                 \
    } while (0)

CUresult context_create_round_trip(int ordinal, const float *input, float *output, size_t length,
                                   context_create_work work)
{
    CUresult first = CUDA_SUCCESS;
    CUdevice device;
    CUcontext context, popped;
    CUstream copies = NULL;
    CUdeviceptr array = 0;

    TRY(cuInit(0));
    if (!first) TRY(cuDeviceGet(&device, ordinal));
    if (!first) TRY(cuCtxCreate(&context, NULL, 0, device));
    if (first) return first;

    size_t bytes = length * sizeof *input;
    if (length > SIZE_MAX / sizeof *input) first = CUDA_ERROR_OUT_OF_MEMORY;
    if (!first) TRY(cuStreamCreate(&copies, CU_STREAM_NON_BLOCKING));
    if (!first) TRY(cuMemAlloc(&array, bytes));

    if (!first) TRY(cuMemcpyHtoDAsync(array, input, bytes, copies));
    if (!first) TRY(cuStreamSynchronize(copies));
    if (!first) TRY(work(array, length));
    if (!first) TRY(cuMemcpyDtoHAsync(output, array, bytes, copies));
    if (!first) TRY(cuStreamSynchronize(copies));

    if (array) TRY(cuMemFree(array));
    if (copies) TRY(cuStreamDestroy(copies));
    TRY(cuCtxPopCurrent(&popped));
    TRY(cuCtxDestroy(context));
    return first;
}
