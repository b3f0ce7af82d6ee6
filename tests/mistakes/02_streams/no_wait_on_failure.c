/* mistake: a refused launch returns at once, while the lanes issued before it are at work
 * fails: Streams.FailuresLeaveAllInOrder
 * finds: nothing, where it fails, the caller waits before it touches anything
 */
#include "lesson.h"

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
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        error = cudaMemcpyAsync(lanes[i].device, lanes[i].host, lanes[i].length * sizeof(float),
                                cudaMemcpyHostToDevice, lanes[i].stream);
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        error = kernel(lanes[i].device, lanes[i].length, lanes[i].stream);
    for (size_t i = 0; i < count && error == cudaSuccess; i++)
        error = cudaMemcpyAsync(lanes[i].host, lanes[i].device, lanes[i].length * sizeof(float),
                                cudaMemcpyDeviceToHost, lanes[i].stream);

    if (error != cudaSuccess) return error;
    for (size_t i = 0; i < count; i++) keep(&error, cudaStreamSynchronize(lanes[i].stream));
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
