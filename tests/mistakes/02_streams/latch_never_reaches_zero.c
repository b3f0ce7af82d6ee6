/* mistake: the host sleeps until all lanes have reported, and some were never given work
 * fails: Streams.FailuresLeaveAllInOrder
 * finds: invalid launch at "while ("
 */
#include "lesson.h"

#include <pthread.h>
#include <stdint.h>

struct latch {
    pthread_mutex_t lock;
    pthread_cond_t zero;
    size_t left;
};

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

static void CUDART_CB count_down(void *user)
{
    struct latch *latch = user;
    pthread_mutex_lock(&latch->lock);
    if (--latch->left == 0) pthread_cond_signal(&latch->zero);
    pthread_mutex_unlock(&latch->lock);
}

static cudaError_t open_lane(struct streams_lane *lane)
{
    if (lane->length > SIZE_MAX / sizeof(float)) return cudaErrorMemoryAllocation;
    size_t bytes = lane->length * sizeof(float);
    cudaError_t error = cudaMallocHost((void **)&lane->host, bytes);
    if (!error) error = cudaMalloc((void **)&lane->device, bytes);
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
    struct latch latch = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, count};
    cudaError_t error = cudaSuccess;

    for (size_t i = 0; i < count && !error; i++) {
        error = issue(&lanes[i], kernel);
        if (!error) error = cudaLaunchHostFunc(lanes[i].stream, count_down, &latch);
    }

    pthread_mutex_lock(&latch.lock);
    while (latch.left > 0) pthread_cond_wait(&latch.zero, &latch.lock);
    pthread_mutex_unlock(&latch.lock);

    return keep(error, wait_for_all(lanes, count));
}

cudaError_t streams_close(struct streams_lane lanes[], size_t count)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count; i++) {
        struct streams_lane *lane = &lanes[i];
        if (lane->stream) error = keep(error, cudaStreamDestroy(lane->stream));
        if (lane->device) error = keep(error, cudaFree(lane->device));
        if (lane->host) error = keep(error, cudaFreeHost(lane->host));
        lane->stream = NULL;
        lane->device = NULL;
        lane->host = NULL;
    }
    return error;
}
