/* variant: the driver API throughout
 */
#include "lesson.h"

#include <cuda.h>
#include <stdint.h>

/* The codes of both are the same numbers. */
static void keep(cudaError_t *first, int error)
{
    if (*first == cudaSuccess) *first = (cudaError_t)error;
}

static CUdeviceptr address_of(const float *device)
{
    return (CUdeviceptr)(uintptr_t)device;
}

cudaError_t streams_open(struct streams_lane lanes[], size_t count)
{
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < count; i++) {
        struct streams_lane *lane = &lanes[i];
        const size_t bytes = lane->length * sizeof(float);

        CUdeviceptr device = 0;
        keep(&error, cuMemAlloc(&device, bytes));
        lane->device = (float *)(uintptr_t)device;
        if (error == cudaSuccess) keep(&error, cuMemAllocHost((void **)&lane->host, bytes));
        if (error == cudaSuccess)
            keep(&error, cuStreamCreate(&lane->stream, CU_STREAM_NON_BLOCKING));
        if (error != cudaSuccess) goto fail;
    }
    return cudaSuccess;

fail:
    (void)streams_close(lanes, count);
    return error;
}

cudaError_t streams_run(struct streams_lane lanes[], size_t count, streams_kernel kernel)
{
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < count && error == cudaSuccess; i++) {
        const size_t bytes = lanes[i].length * sizeof(float);
        keep(&error,
             cuMemcpyHtoDAsync(address_of(lanes[i].device), lanes[i].host, bytes, lanes[i].stream));
        keep(&error, kernel(lanes[i].device, lanes[i].length, lanes[i].stream));
        keep(&error,
             cuMemcpyDtoHAsync(lanes[i].host, address_of(lanes[i].device), bytes, lanes[i].stream));
    }

    for (size_t i = 0; i < count; i++) keep(&error, cuStreamSynchronize(lanes[i].stream));
    return error;
}

cudaError_t streams_close(struct streams_lane lanes[], size_t count)
{
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < count; i++) {
        struct streams_lane *lane = &lanes[i];

        if (lane->stream != NULL) keep(&error, cuStreamDestroy(lane->stream));
        if (lane->device != NULL) keep(&error, cuMemFree(address_of(lane->device)));
        if (lane->host != NULL) keep(&error, cuMemFreeHost(lane->host));
        lane->stream = NULL;
        lane->device = NULL;
        lane->host = NULL;
    }
    return error;
}
