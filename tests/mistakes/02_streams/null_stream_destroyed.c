/* mistake: a stream that is NULL already is given to cudaStreamDestroy
 * fails: Streams.FailuresLeaveAllInOrder
 * finds: nothing, the call says itself that NULL is no stream
 */
#include "lesson.h"

#include <stdint.h>

#define RELEASE(how, what)                                                                         \
    do {                                                                                           \
        cudaError_t released = how(what);                                                          \
        if (!error) error = released;                                                              \
        (what) = NULL;                                                                             \
    } while (0)

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

static cudaError_t open_lane(struct streams_lane *lane)
{
    if (lane->length > SIZE_MAX / sizeof(float)) return cudaErrorMemoryAllocation;
    size_t bytes = lane->length * sizeof(float);
    cudaError_t error = cudaMallocHost((void **)&lane->host, bytes);
    if (!error) error = cudaMalloc((void **)&lane->device, bytes);
    if (!error) error = cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking);
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
    for (size_t i = 0; i < count && !error; i++) error = issue(&lanes[i], kernel);
    return keep(error, wait_for_all(lanes, count));
}

cudaError_t streams_close(struct streams_lane lanes[], size_t count)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count; i++) {
        RELEASE(cudaFreeHost, lanes[i].host);
        RELEASE(cudaFree, lanes[i].device);
        RELEASE(cudaStreamDestroy, lanes[i].stream);
    }
    return error;
}
