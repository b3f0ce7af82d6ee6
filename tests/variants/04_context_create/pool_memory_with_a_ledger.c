/* variant: memory from a pool, streams, and a ledger of errors; what cuMemFreeAsync could not free
 * is freed by cuMemFree, and every clean-up is looked at
 */
#include "lesson.h"

#include <stdbool.h>
#include <stdint.h>

struct ledger {
    CUresult first;
};

/* Enters a result in the ledger; true as long as this call itself went well. */
static bool entered(struct ledger *ledger, CUresult result)
{
    if (ledger->first == CUDA_SUCCESS) ledger->first = result;
    return result == CUDA_SUCCESS;
}

static void in_stream(struct ledger *ledger, CUstream stream, const float *input, float *output,
                      size_t length, context_create_work work)
{
    const size_t bytes = length * sizeof(float);
    CUdeviceptr array;

    if (!entered(ledger, cuMemAllocAsync(&array, bytes, stream))) return;

    /* The array exists, and is filled, before work is told of it: its kernel is in another stream.
     */
    if (entered(ledger, cuMemcpyHtoDAsync(array, input, bytes, stream)) &&
        entered(ledger, cuStreamSynchronize(stream)) && entered(ledger, work(array, length)) &&
        entered(ledger, cuCtxSynchronize()))
        entered(ledger, cuMemcpyDtoHAsync(output, array, bytes, stream));

    /* Whatever happened, nobody may be using the array when it goes, and destroying the context
     * would not free memory that came from a pool. */
    entered(ledger, cuCtxSynchronize());
    if (!entered(ledger, cuMemFreeAsync(array, stream))) entered(ledger, cuMemFree(array));
    entered(ledger, cuStreamSynchronize(stream));
}

CUresult context_create_round_trip(int ordinal, const float *input, float *output, size_t length,
                                   context_create_work work)
{
    struct ledger ledger = {CUDA_SUCCESS};
    CUdevice device;
    CUcontext context, popped;
    CUstream stream;

    if (!entered(&ledger, cuInit(0)) || !entered(&ledger, cuDeviceGet(&device, ordinal)) ||
        !entered(&ledger, cuCtxCreate(&context, NULL, 0, device)))
        return ledger.first;

    if (length > SIZE_MAX / sizeof(float)) {
        entered(&ledger, CUDA_ERROR_OUT_OF_MEMORY);
    } else if (entered(&ledger, cuStreamCreate(&stream, CU_STREAM_DEFAULT))) {
        in_stream(&ledger, stream, input, output, length, work);
        entered(&ledger, cuStreamDestroy(stream));
    }

    entered(&ledger, cuCtxPopCurrent(&popped));
    entered(&ledger, cuCtxDestroy(context));
    return ledger.first;
}
