/* variant: each layer makes one thing, calls the next, and takes it down
 * orders: 3
 */
#include "lesson.h"

#include <stdint.h>

struct trip {
    const float *input;
    float *output;
    size_t length;
    context_create_work work;
};

static CUresult first_of(CUresult earlier, CUresult later)
{
    return earlier == CUDA_SUCCESS ? later : earlier;
}

static CUresult with_array(const struct trip *trip, CUdeviceptr array)
{
    const size_t bytes = trip->length * sizeof(float);

    CUresult result = cuMemcpyHtoD(array, trip->input, bytes);
    if (result == CUDA_SUCCESS) result = trip->work(array, trip->length);
    if (result == CUDA_SUCCESS) result = cuMemcpyDtoH(trip->output, array, bytes);
    return result;
}

static CUresult with_context(const struct trip *trip)
{
    CUdeviceptr array;

    if (trip->length > SIZE_MAX / sizeof(float)) return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult result = cuMemAlloc(&array, trip->length * sizeof(float));
    if (result != CUDA_SUCCESS) return result;

    result = with_array(trip, array);
    result = first_of(result, cuCtxSynchronize());
    return first_of(result, cuMemFree(array));
}

static CUresult with_device(const struct trip *trip, CUdevice device)
{
    CUcontext context, current = NULL;

    CUresult result = cuCtxCreate(&context, NULL, 0, device);
    if (result != CUDA_SUCCESS) return result;

    result = with_context(trip);
    result = first_of(result, cuCtxDestroy(context));

    /* cuCtxDestroy pops what it destroys. If it did not get that far, ours is still on top, and
     * the handle is all that is compared. */
    if (cuCtxGetCurrent(&current) == CUDA_SUCCESS && current == context)
        result = first_of(result, cuCtxPopCurrent(&current));
    return result;
}

CUresult context_create_round_trip(int ordinal, const float *input, float *output, size_t length,
                                   context_create_work work)
{
    const struct trip trip = {input, output, length, work};
    CUdevice device;

    CUresult result = cuInit(0);
    if (result == CUDA_SUCCESS) result = cuDeviceGet(&device, ordinal);
    return result == CUDA_SUCCESS ? with_device(&trip, device) : result;
}
