/* mistake: the sum is made before the thread that waits is joined
 * fails: DeviceSync.TheDeviceFindsNothingWrong
 * finds: race at "i = 0;"
 */
#include "lesson.h"

#include <pthread.h>
#include <stdint.h>

struct watch {
    int device;
    cudaStream_t stream;
    cudaError_t error;
};

static void *watch_stream(void *user)
{
    struct watch *watch = user;
    watch->error = cudaSetDevice(watch->device);
    if (!watch->error) watch->error = cudaStreamSynchronize(watch->stream);
    return NULL;
}

static double add_up(const float *values, size_t length)
{
    double total = 0.0;
    for (size_t i = 0; i < length; i++) total += values[i];
    return total;
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    if (length == 0) {
        *sum = 0.0;
        return cudaSuccess;
    }
    if (length > SIZE_MAX / sizeof(float)) return cudaErrorMemoryAllocation;

    struct watch watch = {.stream = stream, .error = cudaSuccess};
    cudaError_t error = cudaGetDevice(&watch.device);
    if (error) return error;

    size_t bytes = length * sizeof(float);
    float *device = NULL;
    error = cudaMalloc((void **)&device, bytes);
    if (error) return error;
    error = cudaMemcpyAsync(device, input, bytes, cudaMemcpyHostToDevice, stream);
    if (!error) error = kernel(device, length, stream);
    if (!error) error = cudaMemcpyAsync(output, device, bytes, cudaMemcpyDeviceToHost, stream);

    pthread_t watcher;
    int started = pthread_create(&watcher, NULL, watch_stream, &watch) == 0;
    if (!started) watch_stream(&watch);

    double total = error ? 0.0 : add_up(output, length);

    if (started) pthread_join(watcher, NULL);
    if (!error) error = watch.error;
    if (watch.error && cudaStreamSynchronize(stream)) cudaDeviceSynchronize();

    cudaError_t freed = cudaFree(device);
    if (!error) error = freed;
    *sum = total;
    return error;
}
