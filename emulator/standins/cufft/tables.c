/* The tables in device memory that the passes of a plan read, filled by kernels. */
#include "emulator/standins/cufft/fft.h"

#include <stdlib.h>

enum { ENTRY = 2 * sizeof(double), ALIGNMENT = 256 };

static size_t rounded(size_t entries)
{
    return (entries * ENTRY + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static uint32_t low_entries(uint32_t n)
{
    return n < 1u << FFT_LOW_BITS ? n : 1u << FFT_LOW_BITS;
}

static uint32_t high_entries(uint32_t n)
{
    return n > 1u << FFT_LOW_BITS ? (n - 1) / (1u << FFT_LOW_BITS) + 1 : 0;
}

static CUresult fill(const char *kernel, CUstream stream, const void *to, uint32_t entries,
                     uint32_t n, uint32_t stride)
{
    const struct fft_table table = {
        .to = (void *)(uintptr_t)to, .entries = entries, .n = n, .stride = stride};
    return fft_launch(kernel, NULL, entries, stream, &table);
}

/* The spectrum of the filter: the table of the filter, transformed. */
static CUresult fill_filter(const struct fft_plan *plan, int axis, struct fft_steps *steps,
                            CUstream stream)
{
    const struct fft_axis *a = &plan->axis[axis];
    void *buffer[FFT_BUFFERS] = {0};
    CUdeviceptr other;
    CUresult result = cuMemAlloc(&other, rounded(a->padded));
    if (result != CUDA_SUCCESS) return result;
    steps->count = 0;
    const enum fft_buffer last = fft_describe_wide(steps, a->padded, 1, axis, false);
    buffer[FFT_WIDE_0] = buffer[FFT_WIDE_1] = (void *)(uintptr_t)other;
    buffer[last] = (void *)(uintptr_t)a->filter;
    result = fill("filter_table", stream, buffer[FFT_WIDE_0], a->padded, a->n, 1);
    for (int k = 0; k < steps->count && result == CUDA_SUCCESS; k++)
        result = fft_launch_step(plan, &steps->step[k], buffer, false, stream);
    const CUresult waited = cuStreamSynchronize(stream), freed = cuMemFree(other);
    if (result == CUDA_SUCCESS) result = waited;
    return result == CUDA_SUCCESS ? freed : result;
}

/* Allocates and fills the tables of one axis. */
static CUresult make(struct fft_plan *plan, int axis, struct fft_steps *steps, CUstream stream)
{
    struct fft_axis *a = &plan->axis[axis];
    const uint32_t n = a->padded != 0 ? a->padded : a->n;
    const uint32_t low = low_entries(n), high = high_entries(n);
    CUresult result =
        cuMemAlloc(&a->memory, rounded(low) + rounded(high) + (a->padded != 0 ? rounded(a->n) : 0) +
                                   rounded(a->padded));
    if (result != CUDA_SUCCESS) return result;
    const unsigned char *next = (const unsigned char *)(uintptr_t)a->memory;
    a->roots.low = next;
    next += rounded(low);
    result = fill("roots", stream, a->roots.low, low, n, 1);
    if (high > 0) a->roots.high = next;
    next += rounded(high);
    if (high > 0 && result == CUDA_SUCCESS)
        result = fill("roots", stream, a->roots.high, high, n, 1u << FFT_LOW_BITS);
    if (a->padded == 0 || result != CUDA_SUCCESS) return result;
    a->chirp = next;
    a->filter = next + rounded(a->n);
    result = fill("chirp", stream, a->chirp, a->n, a->n, 1);
    return result == CUDA_SUCCESS ? fill_filter(plan, axis, steps, stream) : result;
}

/* The tables of an earlier axis of the same length serve again. */
static bool share(struct fft_plan *plan, int axis)
{
    for (int k = 0; k < axis; k++) {
        if (plan->axis[k].n != plan->axis[axis].n) continue;
        plan->axis[axis] = plan->axis[k];
        plan->axis[axis].memory = 0;
        return true;
    }
    return false;
}

enum fft_status fft_make_tables(struct fft_plan *plan)
{
    CUstream stream = NULL;
    struct fft_steps *steps = calloc(1, sizeof *steps);
    if (steps == NULL) return FFT_ALLOC_FAILED;
    CUresult result = cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    for (int axis = 0; axis < FFT_MOST_AXES && result == CUDA_SUCCESS; axis++)
        if (!share(plan, axis)) result = make(plan, axis, steps, stream);
    if (result == CUDA_SUCCESS) result = cuStreamSynchronize(stream);
    if (stream != NULL) cuStreamDestroy(stream);
    free(steps);
    return fft_status_of(result, FFT_SETUP_FAILED);
}
