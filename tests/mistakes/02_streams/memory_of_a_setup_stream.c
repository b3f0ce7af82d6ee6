/* mistake: device memory comes from a set-up stream that nothing waits for
 * fails: Streams.TheDeviceFindsNothingWrong
 * finds: race at "kernel("
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

static cudaError_t open_lane(struct streams_lane *lane, cudaStream_t setup)
{
    if (lane->length > SIZE_MAX / sizeof(float)) return cudaErrorMemoryAllocation;
    size_t bytes = lane->length * sizeof(float);
    cudaError_t error = cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking);
    if (!error) error = cudaMallocHost((void **)&lane->host, bytes);
    if (!error) error = cudaMallocAsync((void **)&lane->device, bytes, setup);
    return error;
}

cudaError_t streams_open(struct streams_lane lanes[], size_t count)
{
    cudaStream_t setup = NULL;
    cudaError_t error = cudaStreamCreateWithFlags(&setup, cudaStreamNonBlocking);
    if (error) return error;

    for (size_t i = 0; i < count && !error; i++) error = open_lane(&lanes[i], setup);

    if (error) cudaStreamSynchronize(setup);
    error = keep(error, cudaStreamDestroy(setup));
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
        struct streams_lane *lane = &lanes[i];
        if (lane->device) {
            cudaError_t freed = cudaFreeAsync(lane->device, lane->stream);
            cudaError_t waited = cudaStreamSynchronize(lane->stream);
            if (freed) cudaFree(lane->device);
            error = keep(keep(error, freed), waited);
        }
        if (lane->stream) error = keep(error, cudaStreamDestroy(lane->stream));
        if (lane->host) error = keep(error, cudaFreeHost(lane->host));
        lane->stream = NULL;
        lane->device = NULL;
        lane->host = NULL;
    }
    return error;
}
