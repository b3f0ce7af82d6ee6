/* mistake: cudaHostRegister is given floats where it counts bytes
 * fails: Streams.TheDeviceFindsNothingWrong
 * finds: out of bounds at "lane->host, bytes,"
 */
#include "lesson.h"

#include <stdint.h>
#include <stdlib.h>

#define PAGE ((size_t)4096)

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

static cudaError_t locked_memory(float **host, size_t length)
{
    if (length > (SIZE_MAX - PAGE) / sizeof(float)) return cudaErrorMemoryAllocation;
    size_t bytes = (length * sizeof(float) + PAGE - 1) / PAGE * PAGE;
    float *memory = aligned_alloc(PAGE, bytes);
    if (!memory) return cudaErrorMemoryAllocation;

    cudaError_t error = cudaHostRegister(memory, length, cudaHostRegisterDefault);
    if (error) {
        free(memory);
        return error;
    }
    *host = memory;
    return cudaSuccess;
}

static cudaError_t open_lane(struct streams_lane *lane)
{
    cudaError_t error = locked_memory(&lane->host, lane->length);
    if (!error) error = cudaMalloc((void **)&lane->device, lane->length * sizeof(float));
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
        struct streams_lane *lane = &lanes[i];
        if (lane->stream) error = keep(error, cudaStreamDestroy(lane->stream));
        if (lane->device) error = keep(error, cudaFree(lane->device));
        if (lane->host) {
            cudaError_t unlocked = cudaHostUnregister(lane->host);
            if (!unlocked) free(lane->host);
            error = keep(error, unlocked);
        }
        lane->stream = NULL;
        lane->device = NULL;
        lane->host = NULL;
    }
    return error;
}
