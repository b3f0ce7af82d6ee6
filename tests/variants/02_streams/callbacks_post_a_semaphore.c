/* variant: a callback behind each lane posts, and the host waits for all of them
 * orders: 3
 */
#include "lesson.h"

#include <errno.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>

struct countdown {
    atomic_size_t left;
    sem_t none_left;
};

static void one_less(struct countdown *countdown)
{
    if (atomic_fetch_sub(&countdown->left, 1) == 1) sem_post(&countdown->none_left);
}

/* Is called also when the device has failed. */
static void CUDART_CB lane_done(cudaStream_t stream, cudaError_t status, void *user)
{
    (void)stream;
    (void)status;
    one_less(user);
}

static cudaError_t issue(const struct streams_lane *lane, streams_kernel kernel)
{
    size_t bytes = lane->length * sizeof(float);
    cudaError_t error =
        cudaMemcpyAsync(lane->device, lane->host, bytes, cudaMemcpyHostToDevice, lane->stream);
    if (error) return error;
    error = kernel(lane->device, lane->length, lane->stream);
    if (error) return error;
    return cudaMemcpyAsync(lane->host, lane->device, bytes, cudaMemcpyDeviceToHost, lane->stream);
}

cudaError_t streams_open(struct streams_lane lanes[], size_t count)
{
    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count && !error; i++) {
        struct streams_lane *lane = &lanes[i];
        if (lane->length > SIZE_MAX / sizeof(float)) error = cudaErrorMemoryAllocation;
        if (!error) error = cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking);
        if (!error) error = cudaMallocHost((void **)&lane->host, lane->length * sizeof(float));
        if (!error) error = cudaMalloc((void **)&lane->device, lane->length * sizeof(float));
    }
    if (error) (void)streams_close(lanes, count);
    return error;
}

cudaError_t streams_run(struct streams_lane lanes[], size_t count, streams_kernel kernel)
{
    struct countdown countdown;
    if (sem_init(&countdown.none_left, 0, 0)) return cudaErrorUnknown;
    atomic_init(&countdown.left, 1); /* the host's own: not zero while it still issues */

    cudaError_t error = cudaSuccess;
    for (size_t i = 0; i < count && !error; i++) {
        error = issue(&lanes[i], kernel);
        if (error) break;
        atomic_fetch_add(&countdown.left, 1);
        error = cudaStreamAddCallback(lanes[i].stream, lane_done, &countdown, 0);
        if (error) atomic_fetch_sub(&countdown.left, 1);
    }
    one_less(&countdown);
    while (sem_wait(&countdown.none_left) && errno == EINTR) continue;

    /* All are done, or nearly (a lane that failed half way): this hardly waits, it asks how. */
    cudaError_t waited = cudaSuccess;
    for (size_t i = 0; i < count; i++) {
        cudaError_t this = cudaStreamSynchronize(lanes[i].stream);
        if (!waited) waited = this;
    }
    if (waited) (void)cudaDeviceSynchronize();

    sem_destroy(&countdown.none_left);
    return error ? error : waited;
}

cudaError_t streams_close(struct streams_lane lanes[], size_t count)
{
    cudaError_t error = cudaSuccess, next;
    for (size_t i = 0; i < count; i++) {
        if (lanes[i].stream && (next = cudaStreamDestroy(lanes[i].stream)) && !error) error = next;
        if (lanes[i].device && (next = cudaFree(lanes[i].device)) && !error) error = next;
        if (lanes[i].host && (next = cudaFreeHost(lanes[i].host)) && !error) error = next;
        lanes[i].stream = NULL;
        lanes[i].device = NULL;
        lanes[i].host = NULL;
    }
    return error;
}
