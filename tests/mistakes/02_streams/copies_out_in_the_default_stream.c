/* mistake: the copies out are in the default stream
 * fails: Streams.EveryArrayHasItsOwnStream
 * finds: nothing, the default stream waits for the lanes
 */
#include "lesson.h"

#include <stdint.h>

static cudaError_t keep(cudaError_t first, cudaError_t next)
{
    return first ? first : next;
}

static cudaError_t open_lane(struct streams_lane *lane)
{
    if (lane->length > SIZE_MAX / sizeof(float)) return cudaErrorMemoryAllocation;
    size_t bytes = lane->length * sizeof(float);
    cudaError_t error = cudaStreamCreate(&lane->stream);
    if (!error) error = cudaHostAlloc((void **)&lane->host, bytes, cudaHostAllocPortable);
    if (!error) error = cudaMalloc((void **)&lane->device, bytes);
    return error;
}

cudaError_t streams_open(struct streams_lane lanes[], size_t count)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count && !error; i++) error = open_lane(&lanes[i]);
    if (error) streams_close(lanes, count);
    return error;
}

cudaError_t streams_run(struct streams_lane lanes[], size_t count, streams_kernel kernel)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count && !error; i++)
        error = cudaMemcpyAsync(lanes[i].device, lanes[i].host, lanes[i].length * sizeof(float),
                                cudaMemcpyHostToDevice, lanes[i].stream);
    for (size_t i = 0; i < count && !error; i++)
        error = kernel(lanes[i].device, lanes[i].length, lanes[i].stream);
    for (size_t i = 0; i < count && !error; i++)
        error = cudaMemcpyAsync(lanes[i].host, lanes[i].device, lanes[i].length * sizeof(float),
                                cudaMemcpyDeviceToHost, 0);

    cudaError_t waited = cudaStreamSynchronize(0);
    for (size_t i = 0; i < count; i++)
        waited = keep(waited, cudaStreamSynchronize(lanes[i].stream));
    if (waited) cudaDeviceSynchronize();
    return keep(error, waited);
}

cudaError_t streams_close(struct streams_lane lanes[], size_t count)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count; i++) {
        struct streams_lane *lane = &lanes[i];
        if (lane->stream) error = keep(error, cudaStreamDestroy(lane->stream));
        if (lane->device) error = keep(error, cudaFree(lane->device));
        if (lane->host) error = keep(error, cudaFreeHost(lane->host));
        lane->stream = NULL;
        lane->device = NULL;
        lane->host = NULL;
    }
    return error;
}
