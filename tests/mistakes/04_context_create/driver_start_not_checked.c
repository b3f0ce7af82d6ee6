/* mistake: what cuInit returns is not looked at
 * fails: ContextCreate.EveryErrorIsReturnedAndNothingLeaks
 * finds: nothing, the driver starts
 */
#include "lesson.h"

/* Keeps the first error: it is the one that explains the others. */
static void keep(CUresult *first, CUresult result)
{
    if (*first == CUDA_SUCCESS) *first = result;
}

CUresult context_create_round_trip(int ordinal, const float *input, float *output, size_t length,
                                   context_create_work work)
{
    const size_t bytes = length * sizeof *input;
    CUcontext context;
    CUdeviceptr array;
    CUdevice device;

    /* Before anything else; the runtime API does this by itself, here it is ours to do. A second
     * time does no harm. */
    CUresult result = cuInit(0);
    /* An ordinal is a number that people count with, a CUdevice is what the driver counts with. */
    result = cuDeviceGet(&device, ordinal);
    if (result != CUDA_SUCCESS) return result;

    /* From here on there is something to take down. The new context is pushed on this thread's
     * stack by being made: it is current, and what was current lies below it. */
    result = cuCtxCreate(&context, NULL, 0, device);
    if (result != CUDA_SUCCESS) return result;

    result = cuMemAlloc(&array, bytes);
    if (result != CUDA_SUCCESS) goto destroy;
    result = cuMemcpyHtoD(array, input, bytes);
    if (result != CUDA_SUCCESS) goto release;
    result = work(array, length);
    if (result != CUDA_SUCCESS) goto release;
    /* Waits for the kernel, which is in the same (default) stream, and for the copy. An error of
     * the kernel comes to light here. */
    result = cuMemcpyDtoH(output, array, bytes);

release:
    /* After a failure nobody has waited yet: work's kernel may still run, and an error that came
     * behind it does not end it. The first error is known already. */
    if (result != CUDA_SUCCESS) (void)cuCtxSynchronize();
    keep(&result, cuMemFree(array));
destroy:
    /* Destroys and, because the context is current to this thread, pops it. A pop alone would leave
     * it alive, with its memory and its share of the device, and nobody would know its name. */
    keep(&result, cuCtxDestroy(context));
    return result;
}
