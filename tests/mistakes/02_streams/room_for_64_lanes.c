/* mistake: there is room for 64 lanes, and those behind them are left out without a word
 * fails: Streams.FailuresLeaveAllInOrder
 * finds: nothing, the lanes that are left out are never touched
 */
#include "lesson.h"

#define MOST_LANES 64

static void keep(cudaError_t *first, cudaError_t error)
{
    if (*first == cudaSuccess) *first = error;
}

cudaError_t streams_open(struct streams_lane lanes[], size_t count)
{
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < count; i++) {
        struct streams_lane *lane = &lanes[i];
        const size_t bytes = lane->length * sizeof(float);

        error = cudaMalloc((void **)&lane->device, bytes);
        if (error != cudaSuccess) goto fail;
        error = cudaMallocHost((void **)&lane->host, bytes);
        if (error != cudaSuccess) goto fail;
        error = cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking);
        if (error != cudaSuccess) goto fail;
    }
    return cudaSuccess;

fail:
    (void)streams_close(lanes, count);
    return error;
}

cudaError_t streams_run(struct streams_lane lanes[], size_t count, streams_kernel kernel)
{
    cudaError_t waited[MOST_LANES];
    cudaError_t error = cudaSuccess;

    if (count > MOST_LANES) count = MOST_LANES;
    for (size_t i = 0; i < count && error == cudaSuccess; i++) {
        const struct streams_lane *lane = &lanes[i];
        const size_t bytes = lane->length * sizeof(float);

        error =
            cudaMemcpyAsync(lane->device, lane->host, bytes, cudaMemcpyHostToDevice, lane->stream);
        if (error == cudaSuccess) error = kernel(lane->device, lane->length, lane->stream);
        if (error == cudaSuccess)
            error = cudaMemcpyAsync(lane->host, lane->device, bytes, cudaMemcpyDeviceToHost,
                                    lane->stream);
    }

    for (size_t i = 0; i < count; i++) waited[i] = cudaStreamSynchronize(lanes[i].stream);
    for (size_t i = 0; i < count; i++) keep(&error, waited[i]);
    return error;
}

cudaError_t streams_close(struct streams_lane lanes[], size_t count)
{
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < count; i++) {
        struct streams_lane *lane = &lanes[i];

        if (lane->stream != NULL) keep(&error, cudaStreamDestroy(lane->stream));
        keep(&error, cudaFree(lane->device));
        keep(&error, cudaFreeHost(lane->host));
        lane->stream = NULL;
        lane->device = NULL;
        lane->host = NULL;
    }
    return error;
}
