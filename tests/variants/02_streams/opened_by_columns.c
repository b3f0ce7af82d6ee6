/* variant: all hosts, then all devices, then all streams
 * orders: 3
 */
#include "lesson.h"

#include <stdint.h>

/* Evaluates the call in any case and keeps the first error in `error`. */
#define ALSO(call)                                                                                 \
    do {                                                                                           \
        cudaError_t also_ = (call);                                                                \
        if (!error) error = also_;                                                                 \
    } while (0)

#define EACH_LANE(lane) for (struct streams_lane *lane = lanes; lane != lanes + count; ++lane)

#define EACH_LANE_UNTIL_ERROR(lane)                                                                \
    for (struct streams_lane *lane = lanes; !error && lane != lanes + count; ++lane)

#define BYTES(lane) ((lane)->length * sizeof(float))

cudaError_t streams_open(struct streams_lane lanes[], size_t count)
{
    cudaError_t error = cudaSuccess;
    EACH_LANE(lane)
    {
        lane->host = lane->device = NULL;
        lane->stream = NULL;
        if (lane->length > SIZE_MAX / sizeof(float)) error = cudaErrorMemoryAllocation;
    }

    EACH_LANE_UNTIL_ERROR(lane) error = cudaMalloc((void **)&lane->device, BYTES(lane));
    EACH_LANE_UNTIL_ERROR(lane)
    error = cudaHostAlloc((void **)&lane->host, BYTES(lane), cudaHostAllocDefault);
    EACH_LANE_UNTIL_ERROR(lane) error = cudaStreamCreate(&lane->stream);

    if (error) (void)streams_close(lanes, count);
    return error;
}

cudaError_t streams_run(struct streams_lane lanes[], size_t count, streams_kernel kernel)
{
    cudaError_t error = cudaSuccess;
    EACH_LANE_UNTIL_ERROR(lane)
    error = cudaMemcpyAsync(lane->device, lane->host, BYTES(lane), cudaMemcpyHostToDevice,
                            lane->stream);
    EACH_LANE_UNTIL_ERROR(lane) error = kernel(lane->device, lane->length, lane->stream);
    EACH_LANE_UNTIL_ERROR(lane)
    error = cudaMemcpyAsync(lane->host, lane->device, BYTES(lane), cudaMemcpyDeviceToHost,
                            lane->stream);

    EACH_LANE(lane)
    {
        cudaError_t waited = cudaStreamSynchronize(lane->stream);
        if (waited) (void)cudaDeviceSynchronize();
        ALSO(waited);
    }
    return error;
}

cudaError_t streams_close(struct streams_lane lanes[], size_t count)
{
    cudaError_t error = cudaSuccess;
    EACH_LANE(lane)
    {
        if (lane->stream) ALSO(cudaStreamDestroy(lane->stream));
        ALSO(cudaFree(lane->device));
        if (lane->host) ALSO(cudaFreeHost(lane->host));
        lane->host = lane->device = NULL;
        lane->stream = NULL;
    }
    return error;
}
