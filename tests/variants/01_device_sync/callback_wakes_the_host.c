/* variant: a callback behind the copy out wakes the host, which sleeps on a condition
 * orders: 3
 */
#include "lesson.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct bell {
    pthread_mutex_t lock;
    pthread_cond_t rung;
    bool has_rung;
    cudaError_t status;
};

static void CUDART_CB ring(cudaStream_t stream, cudaError_t status, void *user)
{
    struct bell *bell = user;
    (void)stream;
    pthread_mutex_lock(&bell->lock);
    bell->status = status;
    bell->has_rung = true;
    pthread_cond_signal(&bell->rung);
    pthread_mutex_unlock(&bell->lock);
}

/* Sleeps until everything in the stream has ended, well or not. */
static cudaError_t sleep_until_done(cudaStream_t stream)
{
    struct bell bell = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, cudaSuccess};

    cudaError_t error = cudaStreamAddCallback(stream, ring, &bell, 0);
    if (!error) {
        pthread_mutex_lock(&bell.lock);
        while (!bell.has_rung) pthread_cond_wait(&bell.rung, &bell.lock);
        pthread_mutex_unlock(&bell.lock);
        error = bell.status;
    }
    if (error && cudaStreamSynchronize(stream)) (void)cudaDeviceSynchronize();

    pthread_cond_destroy(&bell.rung);
    pthread_mutex_destroy(&bell.lock);
    return error;
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    *sum = 0.0;
    if (length == 0) return cudaSuccess;
    if (length > SIZE_MAX / sizeof(float)) return cudaErrorMemoryAllocation;

    size_t bytes = length * sizeof(float);
    float *device = NULL;
    cudaError_t error = cudaMalloc((void **)&device, bytes);
    if (error) return error;

    error = cudaMemcpyAsync(device, input, bytes, cudaMemcpyHostToDevice, stream);
    if (!error) error = kernel(device, length, stream);
    if (!error) error = cudaMemcpyAsync(output, device, bytes, cudaMemcpyDeviceToHost, stream);

    cudaError_t slept = sleep_until_done(stream);
    if (!error) error = slept;

    if (!error)
        for (size_t i = 0; i < length; i++) *sum += output[i];

    cudaError_t freed = cudaFree(device);
    return error ? error : freed;
}
