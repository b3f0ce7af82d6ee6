/* mistake: the pieces of one allocation are rounded down, into each other
 * fails: Streams.TheDeviceFindsNothingWrong
 * finds: race at "lane->host, bytes,"
 * finds: race at "kernel("
 */
#include "lesson.h"

#include <stdint.h>

#define ALIGNMENT ((size_t)256)

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

static cudaError_t slab_size(const struct streams_lane lanes[], size_t count, size_t *size)
{
    *size = 0;
    for (size_t i = 0; i < count; i++) {
        if (lanes[i].length > (SIZE_MAX - ALIGNMENT - *size) / sizeof(float))
            return cudaErrorMemoryAllocation;
        *size += lanes[i].length * sizeof(float);
        if (*size > SIZE_MAX - 2 * ALIGNMENT) return cudaErrorMemoryAllocation;
        *size += ALIGNMENT;
    }
    return cudaSuccess;
}

/* The whole slab is lanes[0].device. */
cudaError_t streams_open(struct streams_lane lanes[], size_t count)
{
    if (count == 0) return cudaSuccess;

    char *slab = NULL;
    size_t size, at = 0;
    cudaError_t error = slab_size(lanes, count, &size);
    if (!error) error = cudaMalloc((void **)&slab, size);
    if (error) return error;

    for (size_t i = 0; i < count; i++) {
        lanes[i].device = (float *)(slab + at);
        at += lanes[i].length * sizeof(float);
        at = at / ALIGNMENT * ALIGNMENT;
    }
    for (size_t i = 0; i < count && !error; i++) {
        error = cudaMallocHost((void **)&lanes[i].host, lanes[i].length * sizeof(float));
        if (!error) error = cudaStreamCreateWithFlags(&lanes[i].stream, cudaStreamNonBlocking);
    }
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
    if (count > 0 && lanes[0].device) error = cudaFree(lanes[0].device);
    for (size_t i = 0; i < count; i++) {
        if (lanes[i].stream) error = keep(error, cudaStreamDestroy(lanes[i].stream));
        if (lanes[i].host) error = keep(error, cudaFreeHost(lanes[i].host));
        lanes[i].stream = NULL;
        lanes[i].host = NULL;
        lanes[i].device = NULL;
    }
    return error;
}
