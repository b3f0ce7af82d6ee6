/* variant: two host threads issue half of the lanes each, and wait for them
 */
#include "lesson.h"

#include <threads.h>

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

struct share {
    struct streams_lane *lanes;
    size_t first, count;
    streams_kernel kernel;
    cudaError_t error;
};

/* Every second lane. */
static int run_share(void *user)
{
    struct share *share = user;
    cudaError_t error = cudaSuccess;

    for (size_t i = share->first; i < share->count && error == cudaSuccess; i += 2) {
        const struct streams_lane *lane = &share->lanes[i];
        const size_t bytes = lane->length * sizeof(float);
        error =
            cudaMemcpyAsync(lane->device, lane->host, bytes, cudaMemcpyHostToDevice, lane->stream);
        if (error == cudaSuccess) error = share->kernel(lane->device, lane->length, lane->stream);
        if (error == cudaSuccess)
            error = cudaMemcpyAsync(lane->host, lane->device, bytes, cudaMemcpyDeviceToHost,
                                    lane->stream);
    }
    for (size_t i = share->first; i < share->count; i += 2)
        keep(&error, cudaStreamSynchronize(share->lanes[i].stream));
    share->error = error;
    return 0;
}

cudaError_t streams_run(struct streams_lane lanes[], size_t count, streams_kernel kernel)
{
    struct share even = {lanes, 0, count, kernel, cudaSuccess};
    struct share odd = {lanes, 1, count, kernel, cudaSuccess};
    thrd_t thread;
    const int started = thrd_create(&thread, run_share, &odd);

    run_share(&even);
    if (started == thrd_success)
        thrd_join(thread, NULL);
    else
        run_share(&odd);
    return even.error != cudaSuccess ? even.error : odd.error;
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
