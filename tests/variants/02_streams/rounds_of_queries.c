/* variant: the streams are asked in turn until none has work
 * orders: 3
 */
#include "lesson.h"

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

static void release(cudaError_t *first, cudaError_t (*how)(void *), float **what)
{
    cudaError_t error = *what ? how(*what) : cudaSuccess;
    *what = NULL;
    if (*first == cudaSuccess) *first = error;
}

cudaError_t streams_open(struct streams_lane lanes[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct streams_lane *lane = &lanes[i];
        size_t bytes = 0;
        cudaError_t error = __builtin_mul_overflow(lane->length, sizeof(float), &bytes)
                                ? cudaErrorMemoryAllocation
                                : cudaMalloc((void **)&lane->device, bytes);
        if (error == cudaSuccess) error = cudaMallocHost((void **)&lane->host, bytes);
        if (error == cudaSuccess) error = cudaStreamCreate(&lane->stream);
        if (error != cudaSuccess) {
            (void)streams_close(lanes, count);
            return error;
        }
    }
    return cudaSuccess;
}

/* Until no lane answers that it is busy. An error is an answer as well: it ends the lane. */
static cudaError_t poll(const struct streams_lane lanes[], size_t count)
{
    cudaError_t error = cudaSuccess;
    bool asked_in_vain = false;
    for (size_t i = 0; i < count; i++) {
        cudaError_t answer;
        while ((answer = cudaStreamQuery(lanes[i].stream)) == cudaErrorNotReady) {
            asked_in_vain = true;
            sched_yield();
        }
        if (error == cudaSuccess) error = answer;
    }
    if (asked_in_vain && cudaPeekAtLastError() == cudaErrorNotReady) (void)cudaGetLastError();
    return error;
}

cudaError_t streams_run(struct streams_lane lanes[], size_t count, streams_kernel kernel)
{
    cudaError_t error = cudaSuccess;
    for (const struct streams_lane *lane = lanes; lane < lanes + count; lane++) {
        size_t bytes = lane->length * sizeof(float);
        error =
            cudaMemcpyAsync(lane->device, lane->host, bytes, cudaMemcpyHostToDevice, lane->stream);
        if (error != cudaSuccess) break;
        error = kernel(lane->device, lane->length, lane->stream);
        if (error != cudaSuccess) break;
        error =
            cudaMemcpyAsync(lane->host, lane->device, bytes, cudaMemcpyDeviceToHost, lane->stream);
        if (error != cudaSuccess) break;
    }

    cudaError_t polled = poll(lanes, count);
    if (polled != cudaSuccess) {
        cudaError_t settled = cudaSuccess;
        for (size_t i = 0; i < count; i++) {
            cudaError_t waited = cudaStreamSynchronize(lanes[i].stream);
            if (settled == cudaSuccess) settled = waited;
        }
        if (settled != cudaSuccess) (void)cudaDeviceSynchronize();
    }
    return error != cudaSuccess ? error : polled;
}

cudaError_t streams_close(struct streams_lane lanes[], size_t count)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count; i++) {
        if (lanes[i].stream) {
            cudaError_t destroyed = cudaStreamDestroy(lanes[i].stream);
            if (error == cudaSuccess) error = destroyed;
            lanes[i].stream = NULL;
        }
        release(&error, cudaFree, &lanes[i].device);
        release(&error, cudaFreeHost, &lanes[i].host);
    }
    return error;
}
