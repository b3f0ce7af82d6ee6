/* variant: the context is pushed around what needs it, and popped again
 * orders: 3
 */
#include "lesson.h"

#include <stdint.h>

struct trip {
    const float *input;
    float *output;
    size_t length;
    context_create_work work;
    CUdeviceptr array; /* 0: none */
};

typedef CUresult (*section)(struct trip *);

static CUresult load(struct trip *trip)
{
    CUdeviceptr array;
    if (trip->length > SIZE_MAX / sizeof(float)) return CUDA_ERROR_OUT_OF_MEMORY;
    CUresult error = cuMemAlloc(&array, trip->length * sizeof(float));
    if (error) return error;
    trip->array = array;
    return cuMemcpyHtoD(array, trip->input, trip->length * sizeof(float));
}

static CUresult change(struct trip *trip)
{
    return trip->work(trip->array, trip->length);
}

static CUresult fetch(struct trip *trip)
{
    return cuMemcpyDtoH(trip->output, trip->array, trip->length * sizeof(float));
}

static CUresult unload(struct trip *trip)
{
    CUresult error = cuCtxSynchronize();
    CUresult later = trip->array ? cuMemFree(trip->array) : CUDA_SUCCESS;
    return error ? error : later;
}

static CUresult inside(CUcontext context, section body, struct trip *trip)
{
    CUcontext popped;
    CUresult error = cuCtxPushCurrent(context);
    if (error) return error;
    error = body(trip);
    CUresult pop = cuCtxPopCurrent(&popped);
    return error ? error : pop;
}

/* Usually finds nothing: only where a pop has failed is the context still on the stack. */
static void take_off(CUcontext context)
{
    CUcontext top = NULL;
    while (cuCtxGetCurrent(&top) == CUDA_SUCCESS && top == context)
        if (cuCtxPopCurrent(&top) != CUDA_SUCCESS) return;
}

CUresult context_create_round_trip(int ordinal, const float *input, float *output, size_t length,
                                   context_create_work work)
{
    static const section sections[] = {load, change, fetch};
    struct trip trip = {input, output, length, work, 0};
    CUdevice device;
    CUcontext context, popped;

    CUresult error = cuInit(0);
    if (error) return error;
    error = cuDeviceGet(&device, ordinal);
    if (error) return error;
    error = cuCtxCreate(&context, NULL, 0, device);
    if (error) return error;

    error = cuCtxPopCurrent(&popped);
    for (size_t i = 0; !error && i < sizeof sections / sizeof *sections; i++)
        error = inside(context, sections[i], &trip);

    CUresult later = inside(context, unload, &trip);
    if (!error) error = later;
    take_off(context);
    later = cuCtxDestroy(context);
    return error ? error : later;
}
