/* mistake: what a lane had got is forgotten when the rest cannot be had
 * fails: Streams.EveryErrorIsReturnedAndNothingLeaks
 * finds: leak at "&lane.host,"
 */
#include "lesson.h"

#include <stdint.h>

static cudaError_t keep(cudaError_t first, cudaError_t next)
{
    return first ? first : next;
}

static cudaError_t wait_for_all(const struct streams_lane lanes[], size_t count)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count; i++) error = keep(error, cudaStreamSynchronize(lanes[i].stream));
    if (error) cudaDeviceSynchronize();
    return error;
}

static cudaError_t issue(const struct streams_lane *lane, streams_kernel kernel)
{
    size_t bytes = lane->length * sizeof(float);
    cudaError_t error =
        cudaMemcpyAsync(lane->device, lane->host, bytes, cudaMemcpyHostToDevice, lane->stream);
    if (!error) error = kernel(lane->device, lane->length, lane->stream);
    if (!error)
        error =
            cudaMemcpyAsync(lane->host, lane->device, bytes, cudaMemcpyDeviceToHost, lane->stream);
    return error;
}

cudaError_t streams_open(struct streams_lane lanes[], size_t count)
{
    cudaError_t error = cudaSuccess;
    size_t made = 0;
    for (; made < count; made++) {
        struct streams_lane lane = {.length = lanes[made].length};
        size_t bytes = lane.length * sizeof(float);
        if (lane.length > SIZE_MAX / sizeof(float)) error = cudaErrorMemoryAllocation;
        if (!error) error = cudaMallocHost((void **)&lane.host, bytes);
        if (!error) error = cudaMalloc((void **)&lane.device, bytes);
        if (!error) error = cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking);
        if (error) break;
        lanes[made] = lane;
    }
    if (error) streams_close(lanes, made);
    return error;
}

cudaError_t streams_run(struct streams_lane lanes[], size_t count, streams_kernel kernel)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count && !error; i++) error = issue(&lanes[i], kernel);
    return keep(error, wait_for_all(lanes, count));
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
