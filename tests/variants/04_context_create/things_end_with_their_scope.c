/* variant: the compiler's cleanup attribute takes down what was made
 * orders: 3
 */
#include "lesson.h"

#include <stdint.h>

struct context_guard {
    CUcontext context;
    CUresult *first;
};

struct memory_guard {
    CUdeviceptr pointer;
    CUresult *first;
};

static CUresult note(CUresult *first, CUresult error)
{
    if (*first == CUDA_SUCCESS) *first = error;
    return error;
}

static void leave_context(struct context_guard *guard)
{
    CUcontext popped;
    if (!guard->context) return;
    note(guard->first, cuCtxPopCurrent(&popped));
    note(guard->first, cuCtxDestroy(guard->context));
}

static void leave_memory(struct memory_guard *guard)
{
    if (!guard->pointer) return;
    note(guard->first, cuCtxSynchronize());
    note(guard->first, cuMemFree(guard->pointer));
}

/* Everything that is guarded is gone when this has returned; *first has the first error then, also
 * one of the guards'. */
static void guarded(CUresult *first, int ordinal, const float *input, float *output, size_t length,
                    context_create_work work)
{
    CUdevice device;
    if (note(first, cuInit(0))) return;
    if (note(first, cuDeviceGet(&device, ordinal))) return;

    CUcontext context;
    if (note(first, cuCtxCreate(&context, NULL, 0, device))) return;
    __attribute__((cleanup(leave_context), unused)) struct context_guard own = {context, first};

    CUdeviceptr array;
    if (length > SIZE_MAX / sizeof *input) {
        note(first, CUDA_ERROR_OUT_OF_MEMORY);
        return;
    }
    if (note(first, cuMemAlloc(&array, length * sizeof *input))) return;
    __attribute__((cleanup(leave_memory), unused)) struct memory_guard memory = {array, first};

    if (note(first, cuMemcpyHtoD(array, input, length * sizeof *input))) return;
    if (note(first, work(array, length))) return;
    note(first, cuMemcpyDtoH(output, array, length * sizeof *input));
}

CUresult context_create_round_trip(int ordinal, const float *input, float *output, size_t length,
                                   context_create_work work)
{
    CUresult first = CUDA_SUCCESS;
    guarded(&first, ordinal, input, output, length, work);
    return first;
}
