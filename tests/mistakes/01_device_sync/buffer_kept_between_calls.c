/* mistake: device memory is kept from call to call, and never given back
 * fails: DeviceSync.NothingLeaks
 * finds: leak at "void **)"
 */
#include "lesson.h"

#include <pthread.h>
#include <stdint.h>

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static float *buffer;
static size_t room;

static cudaError_t reserve(size_t length)
{
    if (length <= room) return cudaSuccess;
    if (length > SIZE_MAX / sizeof(float)) return cudaErrorMemoryAllocation;

    cudaError_t error = cudaFree(buffer);
    buffer = NULL;
    room = 0;
    if (!error) error = cudaMalloc((void **)&buffer, length * sizeof(float));
    if (!error) room = length;
    return error;
}

static cudaError_t run(device_sync_kernel kernel, const float *input, float *output, size_t length,
                       cudaStream_t stream)
{
    size_t bytes = length * sizeof(float);
    cudaError_t error = cudaMemcpyAsync(buffer, input, bytes, cudaMemcpyHostToDevice, stream);
    if (!error) error = kernel(buffer, length, stream);
    if (!error) error = cudaMemcpyAsync(output, buffer, bytes, cudaMemcpyDeviceToHost, stream);

    cudaError_t waited = cudaStreamSynchronize(stream);
    if (waited) cudaDeviceSynchronize();
    return error ? error : waited;
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    *sum = 0.0;
    if (length == 0) return cudaSuccess;

    pthread_mutex_lock(&one_at_a_time);
    cudaError_t error = reserve(length);
    if (!error) error = run(kernel, input, output, length, stream);
    pthread_mutex_unlock(&one_at_a_time);

    if (!error)
        for (size_t i = 0; i < length; i++) *sum += output[i];
    return error;
}
