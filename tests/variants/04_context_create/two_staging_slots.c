/* variant: both copies through two page-locked buffers in turn
 * orders: 3
 */
#include "lesson.h"

#include <stdint.h>
#include <string.h>

enum { SLOTS = 2 };
static const size_t slot_bytes = (size_t)1 << 20;

struct pipe {
    char *slot[SLOTS];
    CUevent free_again[SLOTS]; /* recorded behind the last copy that uses the slot */
};

static CUresult open_pipe(struct pipe *pipe)
{
    CUresult error = CUDA_SUCCESS;
    for (int s = 0; s < SLOTS && !error; s++) {
        void *memory = NULL;
        error = cuMemAllocHost(&memory, slot_bytes);
        if (error) break;
        pipe->slot[s] = memory;
        CUevent event;
        error = cuEventCreate(&event, CU_EVENT_DISABLE_TIMING);
        if (!error) pipe->free_again[s] = event;
    }
    return error;
}

static CUresult close_pipe(struct pipe *pipe)
{
    CUresult first = CUDA_SUCCESS;
    for (int s = SLOTS - 1; s >= 0; s--) {
        CUresult error = CUDA_SUCCESS;
        if (pipe->free_again[s]) error = cuEventDestroy(pipe->free_again[s]);
        if (!first) first = error;
        if (pipe->slot[s]) error = cuMemFreeHost(pipe->slot[s]);
        if (!first) first = error;
    }
    return first;
}

static size_t size_of_part(size_t part, size_t bytes)
{
    size_t left = bytes - part * slot_bytes;
    return left < slot_bytes ? left : slot_bytes;
}

static CUresult pour_in(struct pipe *pipe, CUdeviceptr array, const void *from, size_t bytes)
{
    const size_t parts = (bytes - 1) / slot_bytes + 1;
    for (size_t part = 0; part < parts; part++) {
        const int s = (int)(part % SLOTS);
        const size_t size = size_of_part(part, bytes);
        CUresult error = CUDA_SUCCESS;
        if (part >= SLOTS) error = cuEventSynchronize(pipe->free_again[s]);
        if (error) return error;
        memcpy(pipe->slot[s], (const char *)from + part * slot_bytes, size);
        error = cuMemcpyHtoDAsync(array + part * slot_bytes, pipe->slot[s], size, NULL);
        if (!error) error = cuEventRecord(pipe->free_again[s], NULL);
        if (error) return error;
    }
    return CUDA_SUCCESS;
}

/* Part n is on its way while part n - 1 is handed over. Everything is in the default stream, behind
 * the copies in (whose slots are used again) and behind the kernel of work. */
static CUresult pour_out(struct pipe *pipe, CUdeviceptr array, void *to, size_t bytes)
{
    const size_t parts = (bytes - 1) / slot_bytes + 1;
    for (size_t part = 0; part <= parts; part++) {
        CUresult error = CUDA_SUCCESS;
        if (part < parts) {
            const int s = (int)(part % SLOTS);
            error = cuMemcpyDtoHAsync(pipe->slot[s], array + part * slot_bytes,
                                      size_of_part(part, bytes), NULL);
            if (!error) error = cuEventRecord(pipe->free_again[s], NULL);
        }
        if (!error && part > 0) {
            const int s = (int)((part - 1) % SLOTS);
            error = cuEventSynchronize(pipe->free_again[s]);
            if (!error)
                memcpy((char *)to + (part - 1) * slot_bytes, pipe->slot[s],
                       size_of_part(part - 1, bytes));
        }
        if (error) return error;
    }
    return CUDA_SUCCESS;
}

static CUresult in_context(const float *input, float *output, size_t length,
                           context_create_work work)
{
    struct pipe pipe = {{NULL}, {NULL}};
    CUdeviceptr array;
    CUresult error, later;

    if (length > SIZE_MAX / sizeof *input) return CUDA_ERROR_OUT_OF_MEMORY;
    const size_t bytes = length * sizeof *input;
    error = cuMemAlloc(&array, bytes);
    if (error) return error;

    error = open_pipe(&pipe);
    if (!error) error = pour_in(&pipe, array, input, bytes);
    if (!error) error = work(array, length);
    if (!error) error = pour_out(&pipe, array, output, bytes);

    /* After an error something may still be using the slots and the array. */
    later = cuCtxSynchronize();
    if (!error) error = later;
    later = close_pipe(&pipe);
    if (!error) error = later;
    later = cuMemFree(array);
    return error ? error : later;
}

CUresult context_create_round_trip(int ordinal, const float *input, float *output, size_t length,
                                   context_create_work work)
{
    CUdevice device;
    CUcontext context, popped;
    CUresult error, later;

    error = cuInit(0);
    if (error) return error;
    error = cuDeviceGet(&device, ordinal);
    if (error) return error;
    error = cuCtxCreate(&context, NULL, CU_CTX_SCHED_BLOCKING_SYNC, device);
    if (error) return error;

    error = in_context(input, output, length, work);
    later = cuCtxPopCurrent(&popped);
    if (!error) error = later;
    later = cuCtxDestroy(context);
    return error ? error : later;
}
