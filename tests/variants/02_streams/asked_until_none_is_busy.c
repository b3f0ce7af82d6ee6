/* variant: streams with priorities, issued and released by halves; on return all have been asked in
 * turn, also one that gave an error
 * orders: 3
 */
#include "lesson.h"

#include <stdint.h>
#include <threads.h>

typedef cudaError_t (*step)(struct streams_lane *lane, streams_kernel kernel);

static cudaError_t step_in(struct streams_lane *l, streams_kernel kernel)
{
    (void)kernel;
    return cudaMemcpyAsync(l->device, l->host, l->length * sizeof *l->host, cudaMemcpyDefault,
                           l->stream);
}

static cudaError_t step_kernel(struct streams_lane *l, streams_kernel kernel)
{
    return kernel(l->device, l->length, l->stream);
}

static cudaError_t step_out(struct streams_lane *l, streams_kernel kernel)
{
    (void)kernel;
    return cudaMemcpyAsync(l->host, l->device, l->length * sizeof *l->host, cudaMemcpyDefault,
                           l->stream);
}

static const step steps[] = {step_in, step_kernel, step_out};

/* Applies `f` to each lane, in order, halving; deep as the logarithm. Stops at an error. */
static cudaError_t each(struct streams_lane *l, size_t n, step f, streams_kernel kernel)
{
    if (n == 0) return cudaSuccess;
    if (n == 1) return f(l, kernel);
    cudaError_t left = each(l, n / 2, f, kernel);
    return left ? left : each(l + n / 2, n - n / 2, f, kernel);
}

static cudaError_t step_all(struct streams_lane *l, streams_kernel kernel)
{
    for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
        cudaError_t e = steps[s](l, kernel);
        if (e) return e;
    }
    return cudaSuccess;
}

static cudaError_t step_make(struct streams_lane *l, streams_kernel kernel)
{
    (void)kernel;
    int least = 0, greatest = 0;
    if (l->length > SIZE_MAX / sizeof *l->host) return cudaErrorMemoryAllocation;
    cudaError_t e = cudaDeviceGetStreamPriorityRange(&least, &greatest);
    if (e) return e;
    e = cudaStreamCreateWithPriority(&l->stream, cudaStreamNonBlocking, greatest);
    if (e) return l->stream = NULL, e;
    e = cudaMalloc((void **)&l->device, l->length * sizeof *l->device);
    if (e) return l->device = NULL, e;
    e = cudaHostAlloc((void **)&l->host, l->length * sizeof *l->host, cudaHostAllocPortable);
    if (e) return l->host = NULL, e;
    return cudaSuccess;
}

cudaError_t streams_open(struct streams_lane lanes[], size_t count)
{
    cudaError_t e = each(lanes, count, step_make, NULL);
    if (e) (void)streams_close(lanes, count); /* those not reached are all NULL */
    return e;
}

cudaError_t streams_run(struct streams_lane lanes[], size_t count, streams_kernel kernel)
{
    cudaError_t first = each(lanes, count, step_all, kernel);
    size_t busy;

    do {
        busy = 0;
        for (size_t i = 0; i < count; i++) {
            cudaError_t q = cudaStreamQuery(lanes[i].stream);
            if (q == cudaErrorNotReady) {
                busy++;
                (void)cudaGetLastError(); /* remembered as an error, but none */
            } else if (q && !first) {
                first = q;
            }
        }
        if (busy) thrd_yield();
    } while (busy);
    return first;
}

cudaError_t streams_close(struct streams_lane lanes[], size_t count)
{
    if (count > 1) {
        cudaError_t left = streams_close(lanes, count / 2);
        cudaError_t right = streams_close(lanes + count / 2, count - count / 2);
        return left ? left : right;
    }
    cudaError_t e[3] = {cudaSuccess, cudaSuccess, cudaSuccess};
    if (count == 1) {
        if (lanes->stream) e[0] = cudaStreamDestroy(lanes->stream);
        if (lanes->device) e[1] = cudaFree(lanes->device);
        if (lanes->host) e[2] = cudaFreeHost(lanes->host);
        lanes->stream = NULL;
        lanes->device = lanes->host = NULL;
    }
    return e[0] ? e[0] : e[1] ? e[1] : e[2];
}
