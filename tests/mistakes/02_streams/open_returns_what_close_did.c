/* mistake: streams_open returns what its clean-up returned
 * fails: Streams.FailuresLeaveAllInOrder
 * finds: nothing, what is returned is the wrong call's answer
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

static size_t bytes_of(const struct streams_lane *lane)
{
    return lane->length > SIZE_MAX / sizeof(float) ? SIZE_MAX : lane->length * sizeof(float);
}

cudaError_t streams_open(struct streams_lane lanes[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (cudaMallocHost((void **)&lanes[i].host, bytes_of(&lanes[i]))) goto undo;
    for (size_t i = 0; i < count; i++)
        if (cudaMalloc((void **)&lanes[i].device, bytes_of(&lanes[i]))) goto undo;
    for (size_t i = 0; i < count; i++)
        if (cudaStreamCreateWithFlags(&lanes[i].stream, cudaStreamNonBlocking)) goto undo;
    return cudaSuccess;

undo:
    return streams_close(lanes, count);
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
