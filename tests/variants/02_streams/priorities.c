/* variant: streams with priorities, the longest lanes first; one wait for the whole device
 */
#include "lesson.h"

static void keep(cudaError_t *first, cudaError_t error)
{
    if (*first == cudaSuccess) *first = error;
}

cudaError_t streams_open(struct streams_lane lanes[], size_t count)
{
    int least = 0, greatest = 0;
    cudaError_t error = cudaDeviceGetStreamPriorityRange(&least, &greatest);
    if (error != cudaSuccess) goto fail;

    for (size_t i = 0; i < count; i++) {
        struct streams_lane *lane = &lanes[i];
        const size_t bytes = lane->length * sizeof(float);

        error = cudaMalloc((void **)&lane->device, bytes);
        if (error != cudaSuccess) goto fail;
        error = cudaMallocHost((void **)&lane->host, bytes);
        if (error != cudaSuccess) goto fail;
        error = cudaStreamCreateWithPriority(&lane->stream, cudaStreamNonBlocking,
                                             lane->length > 1000 ? greatest : least);
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
        const size_t bytes = lanes[i].length * sizeof(float);
        keep(&error, cudaMemcpyAsync(lanes[i].device, lanes[i].host, bytes, cudaMemcpyHostToDevice,
                                     lanes[i].stream));
        keep(&error, kernel(lanes[i].device, lanes[i].length, lanes[i].stream));
        keep(&error, cudaMemcpyAsync(lanes[i].host, lanes[i].device, bytes, cudaMemcpyDeviceToHost,
                                     lanes[i].stream));
    }

    keep(&error, cudaDeviceSynchronize());
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
