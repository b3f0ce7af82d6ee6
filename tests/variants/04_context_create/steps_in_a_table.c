/* variant: a table of steps, each with what undoes it
 * orders: 3
 */
#include "lesson.h"

#include <stdint.h>

struct trip {
    int ordinal;
    const float *input;
    float *output;
    size_t length;
    context_create_work work;

    CUdevice device;
    CUcontext context;
    CUdeviceptr array;
};

static CUresult start(struct trip *t)
{
    (void)t;
    return cuInit(0);
}

static CUresult find(struct trip *t)
{
    return cuDeviceGet(&t->device, t->ordinal);
}

static CUresult create(struct trip *t)
{
    return cuCtxCreate(&t->context, NULL, 0, t->device);
}

static CUresult destroy(struct trip *t)
{
    CUcontext popped;
    CUresult pop = cuCtxPopCurrent(&popped);
    CUresult end = cuCtxDestroy(t->context);
    return pop ? pop : end;
}

static CUresult allocate(struct trip *t)
{
    if (t->length > SIZE_MAX / sizeof(float)) return CUDA_ERROR_OUT_OF_MEMORY;
    return cuMemAlloc(&t->array, t->length * sizeof(float));
}

static CUresult release(struct trip *t)
{
    CUresult wait = cuCtxSynchronize();
    CUresult end = cuMemFree(t->array);
    return wait ? wait : end;
}

static CUresult copy_in(struct trip *t)
{
    return cuMemcpyHtoD(t->array, t->input, t->length * sizeof(float));
}

static CUresult call_work(struct trip *t)
{
    return t->work(t->array, t->length);
}

static CUresult copy_out(struct trip *t)
{
    return cuMemcpyDtoH(t->output, t->array, t->length * sizeof(float));
}

static const struct {
    CUresult (*perform)(struct trip *);
    CUresult (*undo)(struct trip *);
} steps[] = {
    {start, NULL},   {find, NULL},      {create, destroy}, {allocate, release},
    {copy_in, NULL}, {call_work, NULL}, {copy_out, NULL},
};

CUresult context_create_round_trip(int ordinal, const float *input, float *output, size_t length,
                                   context_create_work work)
{
    struct trip trip = {
        .ordinal = ordinal, .input = input, .output = output, .length = length, .work = work};
    const size_t all = sizeof steps / sizeof *steps;
    CUresult first = CUDA_SUCCESS;
    size_t done = 0;

    while (done < all && (first = steps[done].perform(&trip)) == CUDA_SUCCESS) done++;

    while (done-- > 0) {
        if (!steps[done].undo) continue;
        CUresult error = steps[done].undo(&trip);
        if (first == CUDA_SUCCESS) first = error;
    }
    return first;
}
