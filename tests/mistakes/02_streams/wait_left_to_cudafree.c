/* mistake: the wait for all lanes is left to cudaFree
 * fails: Streams.TheDeviceFindsNothingWrong
 * finds: wait that nobody promises at "lane->device, bytes,"
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

    void *scratch = NULL;
    keep(&error, cudaMalloc(&scratch, 1));
    keep(&error, cudaFree(scratch));
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
