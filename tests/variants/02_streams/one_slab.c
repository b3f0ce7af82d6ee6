/* variant: one allocation on the host and one on the device, which the lanes share
 */
#include "lesson.h"

static void keep(cudaError_t *first, cudaError_t error)
{
    if (*first == cudaSuccess) *first = error;
}

/* Floats from the first lane to the i-th, each lane on a boundary of its own. */
static size_t offset_of(const struct streams_lane lanes[], size_t i)
{
    size_t offset = 0;
    for (size_t k = 0; k < i; k++) offset += (lanes[k].length + 63) / 64 * 64;
    return offset;
}

/* The first lane's pointers are the allocations'. */
cudaError_t streams_open(struct streams_lane lanes[], size_t count)
{
    const size_t bytes = offset_of(lanes, count) * sizeof(float);
    float *device = NULL, *host = NULL;
    cudaError_t error;

    if (count == 0) return cudaSuccess;
    error = cudaMalloc((void **)&device, bytes);
    if (error != cudaSuccess) return error;
    lanes[0].device = device;
    error = cudaMallocHost((void **)&host, bytes);
    if (error != cudaSuccess) goto fail;
    for (size_t i = 0; i < count; i++) {
        lanes[i].device = device + offset_of(lanes, i);
        lanes[i].host = host + offset_of(lanes, i);
        error = cudaStreamCreateWithFlags(&lanes[i].stream, cudaStreamNonBlocking);
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
        keep(&error, cudaMemcpyAsync(lanes[i].device, lanes[i].host, bytes, cudaMemcpyHostToDevice,
                                     lanes[i].stream));
        keep(&error, kernel(lanes[i].device, lanes[i].length, lanes[i].stream));
        keep(&error, cudaMemcpyAsync(lanes[i].host, lanes[i].device, bytes, cudaMemcpyDeviceToHost,
                                     lanes[i].stream));
    }

    for (size_t i = 0; i < count; i++) keep(&error, cudaStreamSynchronize(lanes[i].stream));
    return error;
}

cudaError_t streams_close(struct streams_lane lanes[], size_t count)
{
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < count; i++) {
        struct streams_lane *lane = &lanes[i];

        if (lane->stream != NULL) keep(&error, cudaStreamDestroy(lane->stream));
        if (i == 0) {
            keep(&error, cudaFree(lane->device));
            keep(&error, cudaFreeHost(lane->host));
        }
        lane->stream = NULL;
        lane->device = NULL;
        lane->host = NULL;
    }
    return error;
}
