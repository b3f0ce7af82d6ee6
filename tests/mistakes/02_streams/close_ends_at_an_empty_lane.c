/* mistake: streams_close takes the first lane without pointers for the end of the lanes
 * fails: Streams.FailuresLeaveAllInOrder
 * finds: nothing, the lanes that were made are still in the caller's hands
 */
#include "lesson.h"
#include <string.h>

static void release(struct streams_lane *l, cudaError_t *first)
{
    cudaError_t e;
    if (l->stream) {
        e = cudaStreamDestroy(l->stream);
        if (*first == cudaSuccess) *first = e;
        l->stream = NULL;
    }
    if (l->device) {
        e = cudaFree(l->device);
        if (*first == cudaSuccess) *first = e;
        l->device = NULL;
    }
    if (l->host) {
        e = cudaFreeHost(l->host);
        if (*first == cudaSuccess) *first = e;
        l->host = NULL;
    }
}

cudaError_t streams_open(struct streams_lane lanes[], size_t count)
{
    cudaError_t err = cudaSuccess, ignored = cudaSuccess;
    size_t i;
    for (i = 0; i < count; i++) {
        if ((err = cudaStreamCreate(&lanes[i].stream)) != cudaSuccess) break;
        if ((err = cudaMallocHost((void **)&lanes[i].host, sizeof(float) * lanes[i].length)) !=
            cudaSuccess)
            break;
        if ((err = cudaMalloc((void **)&lanes[i].device, sizeof(float) * lanes[i].length)) !=
            cudaSuccess)
            break;
    }
    if (err != cudaSuccess) {
        for (i = 0; i < count; i++) release(&lanes[i], &ignored);
    }
    return err;
}

cudaError_t streams_run(struct streams_lane lanes[], size_t count, streams_kernel kernel)
{
    cudaError_t err = cudaSuccess;
    for (size_t i = 0; i < count; i++) {
        struct streams_lane *l = &lanes[i];
        size_t bytes = sizeof(float) * l->length;
        err = cudaMemcpyAsync(l->device, l->host, bytes, cudaMemcpyHostToDevice, l->stream);
        if (err != cudaSuccess) break;
        err = kernel(l->device, l->length, l->stream);
        if (err != cudaSuccess) break;
        err = cudaMemcpyAsync(l->host, l->device, bytes, cudaMemcpyDeviceToHost, l->stream);
        if (err != cudaSuccess) break;
    }
    for (size_t i = 0; i < count; i++) {
        cudaError_t e = cudaStreamSynchronize(lanes[i].stream);
        if (err == cudaSuccess) err = e;
    }
    return err;
}

cudaError_t streams_close(struct streams_lane lanes[], size_t count)
{
    cudaError_t err = cudaSuccess;
    for (size_t i = 0; i < count && lanes[i].host; i++) release(&lanes[i], &err);
    return err;
}
