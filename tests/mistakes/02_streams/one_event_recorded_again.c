/* mistake: one event for all lanes, which keeps its last record only
 * fails: Streams.TheDeviceFindsNothingWrong
 * finds: race at "lane->device, bytes,"
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
    if (count == 0) return cudaSuccess;

    cudaEvent_t done = NULL;
    cudaError_t error =
        cudaEventCreateWithFlags(&done, cudaEventDisableTiming | cudaEventBlockingSync);
    if (error) return error;

    for (size_t i = 0; i < count && !error; i++) {
        error = issue(&lanes[i], kernel);
        if (!error) error = cudaEventRecord(done, lanes[i].stream);
    }
    if (!error) error = cudaEventSynchronize(done);
    if (error) wait_for_all(lanes, count);

    return keep(error, cudaEventDestroy(done));
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
