/* variant: one stream waits for an event behind each lane, and the host for that stream alone
 */
#include "lesson.h"

static void keep(cudaError_t *first, cudaError_t error)
{
    if (*first == cudaSuccess) *first = error;
}

cudaError_t streams_open(struct streams_lane lanes[], size_t count)
{
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < count; i++) {
        struct streams_lane *lane = &lanes[i];
        const size_t bytes = lane->length * sizeof(float);

        error = cudaMalloc((void **)&lane->device, bytes);
        if (error != cudaSuccess) goto fail;
        error = cudaMallocHost((void **)&lane->host, bytes);
        if (error != cudaSuccess) goto fail;
        error = cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking);
        if (error != cudaSuccess) goto fail;
    }
    return cudaSuccess;

fail:
    (void)streams_close(lanes, count);
    return error;
}

/* Makes `joined` wait for all that the lane has been given. */
static cudaError_t join(const struct streams_lane *lane, cudaStream_t joined)
{
    cudaEvent_t done = NULL;
    cudaError_t error = cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    if (error != cudaSuccess) return error;
    error = cudaEventRecord(done, lane->stream);
    if (error == cudaSuccess) error = cudaStreamWaitEvent(joined, done, 0);
    keep(&error, cudaEventDestroy(done)); /* what waits for it goes on waiting */
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

    cudaStream_t joined = NULL;
    cudaError_t made = cudaStreamCreateWithFlags(&joined, cudaStreamNonBlocking);
    for (size_t i = 0; i < count && made == cudaSuccess; i++) made = join(&lanes[i], joined);
    if (made == cudaSuccess) made = cudaStreamSynchronize(joined);
    for (size_t i = 0; i < count && made != cudaSuccess; i++)
        (void)cudaStreamSynchronize(lanes[i].stream); /* one by one, where that did not work */
    keep(&error, made);
    if (joined != NULL) keep(&error, cudaStreamDestroy(joined));
    return error;
}

cudaError_t streams_close(struct streams_lane lanes[], size_t count)
{
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < count; i++) {
        struct streams_lane *lane = &lanes[i];

        if (lane->stream != NULL) keep(&error, cudaStreamDestroy(lane->stream));
        keep(&error, cudaFree(lane->device));
        keep(&error, cudaFreeHost(lane->host));
        lane->stream = NULL;
        lane->device = NULL;
        lane->host = NULL;
    }
    return error;
}
