/* variant: asynchronous copies in a stream of its own, which goes with the context; nested instead
 * of goto
 */
#include "lesson.h"

/* In the new context: the stream and the memory are left to its end. */
static CUresult inside(const float *input, float *output, size_t length, context_create_work work)
{
    const size_t bytes = length * sizeof *input;
    CUstream stream;
    CUdeviceptr array;
    CUresult result = cuStreamCreate(&stream, CU_STREAM_DEFAULT);

    if (result == CUDA_SUCCESS) result = cuMemAlloc(&array, bytes);
    if (result == CUDA_SUCCESS) result = cuMemcpyHtoDAsync(array, input, bytes, stream);
    /* An ordinary stream: the default stream, in which work is, waits for it, and it for that. */
    if (result == CUDA_SUCCESS) result = work(array, length);
    if (result == CUDA_SUCCESS) result = cuMemcpyDtoHAsync(output, array, bytes, stream);
    if (result == CUDA_SUCCESS) return cuStreamSynchronize(stream);
    (void)cuCtxSynchronize(); /* what was asked for before the failure still runs */
    return result;
}

CUresult context_create_round_trip(int ordinal, const float *input, float *output, size_t length,
                                   context_create_work work)
{
    CUcontext context;
    CUdevice device;
    CUresult result = cuInit(0);

    if (result == CUDA_SUCCESS) result = cuDeviceGet(&device, ordinal);
    if (result == CUDA_SUCCESS) result = cuCtxCreate(&context, NULL, 0, device);
    if (result == CUDA_SUCCESS) {
        CUresult destroyed;
        result = inside(input, output, length, work);
        destroyed = cuCtxDestroy(context);
        if (result == CUDA_SUCCESS) result = destroyed;
    }
    return result;
}
