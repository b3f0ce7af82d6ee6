/* mistake: the context is taken off the stack while work runs
 * fails: ContextCreate.TheWorkIsInTheNewContext
 * finds: use after free at "length)"
 */
#include "lesson.h"

#include <stdint.h>

struct trip {
    const float *input;
    float *output;
    size_t bytes;
    CUdeviceptr array;
};

static CUresult there(struct trip *trip)
{
    CUresult error = cuMemAlloc(&trip->array, trip->bytes);
    if (error) {
        trip->array = 0;
        return error;
    }
    return cuMemcpyHtoD(trip->array, trip->input, trip->bytes);
}

static CUresult back(struct trip *trip)
{
    return cuMemcpyDtoH(trip->output, trip->array, trip->bytes);
}

static CUresult drop(struct trip *trip)
{
    return trip->array ? cuMemFree(trip->array) : CUDA_SUCCESS;
}

static CUresult with(CUcontext context, CUresult (*section)(struct trip *), struct trip *trip)
{
    CUcontext popped;
    CUresult error = cuCtxPushCurrent(context);
    if (error) return error;
    error = section(trip);
    CUresult off = cuCtxPopCurrent(&popped);
    return error ? error : off;
}

CUresult context_create_round_trip(int ordinal, const float *input, float *output, size_t length,
                                   context_create_work work)
{
    struct trip trip = {input, output, length * sizeof *input, 0};
    CUdevice device;
    CUcontext context, popped;
    CUresult error, later;

    if ((error = cuInit(0))) return error;
    if ((error = cuDeviceGet(&device, ordinal))) return error;
    if (length > SIZE_MAX / sizeof *input) return CUDA_ERROR_OUT_OF_MEMORY;
    if ((error = cuCtxCreate(&context, NULL, 0, device))) return error;

    error = cuCtxPopCurrent(&popped);
    if (!error) error = with(context, there, &trip);
    if (!error) error = work(trip.array, length);
    if (!error) error = with(context, back, &trip);
    if (trip.array) {
        later = with(context, drop, &trip);
        if (!error) error = later;
    }
    later = cuCtxDestroy(context);
    return error ? error : later;
}
