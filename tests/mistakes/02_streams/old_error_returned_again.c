/* mistake: the first error is kept in a static variable and never forgotten
 * fails: Streams.FailuresLeaveAllInOrder
 * finds: nothing, the error that is returned is an old one
 */
#include "lesson.h"

#include <stdbool.h>
#include <stdint.h>

static cudaError_t trouble;

/* True as long as nothing has gone wrong. */
static bool fine(cudaError_t error)
{
    if (error && !trouble) trouble = error;
    return error == cudaSuccess;
}

static bool open_lane(struct streams_lane *lane)
{
    if (lane->length > SIZE_MAX / sizeof(float)) return fine(cudaErrorMemoryAllocation);
    size_t bytes = lane->length * sizeof(float);
    return fine(cudaMallocHost((void **)&lane->host, bytes)) &&
           fine(cudaMalloc((void **)&lane->device, bytes)) &&
           fine(cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking));
}

cudaError_t streams_open(struct streams_lane lanes[], size_t count)
{
    trouble = cudaSuccess;
    for (size_t i = 0; i < count; i++)
        if (!open_lane(&lanes[i])) {
            cudaError_t why = trouble;
            streams_close(lanes, count);
            return why;
        }
    return trouble;
}

cudaError_t streams_run(struct streams_lane lanes[], size_t count, streams_kernel kernel)
{
    for (size_t i = 0; i < count; i++) {
        struct streams_lane *lane = &lanes[i];
        size_t bytes = lane->length * sizeof(float);
        bool issued = fine(cudaMemcpyAsync(lane->device, lane->host, bytes, cudaMemcpyHostToDevice,
                                           lane->stream)) &&
                      fine(kernel(lane->device, lane->length, lane->stream)) &&
                      fine(cudaMemcpyAsync(lane->host, lane->device, bytes, cudaMemcpyDeviceToHost,
                                           lane->stream));
        if (!issued) break;
    }

    bool waited = true;
    for (size_t i = 0; i < count; i++)
        if (!fine(cudaStreamSynchronize(lanes[i].stream))) waited = false;
    if (!waited) cudaDeviceSynchronize();
    return trouble;
}

cudaError_t streams_close(struct streams_lane lanes[], size_t count)
{
    trouble = cudaSuccess;
    for (size_t i = 0; i < count; i++) {
        if (lanes[i].stream) fine(cudaStreamDestroy(lanes[i].stream));
        fine(cudaFree(lanes[i].device));
        if (lanes[i].host) fine(cudaFreeHost(lanes[i].host));
        lanes[i].stream = NULL;
        lanes[i].device = NULL;
        lanes[i].host = NULL;
    }
    return trouble;
}
