/* mistake: the stream is asked until the answer is success, which an error never becomes
 * fails: DeviceSync.TheKernelsOwnErrorIsReturned
 * finds: out of bounds at "while ("
 */
#include "lesson.h"

#include <sched.h>
#include <stdint.h>

static void wait_for(cudaStream_t stream)
{
    while (cudaStreamQuery(stream) != cudaSuccess) sched_yield();
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

    wait_for(stream);

    if (!error)
        for (size_t i = 0; i < length; i++) *sum += output[i];

    cudaError_t freed = cudaFree(device);
    return error ? error : freed;
}
