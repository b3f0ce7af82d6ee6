/* mistake: asks a thousand times and then goes on as if the work were done
 * fails: DeviceSync.TheHostWaitsAsLongAsItTakes
 * finds: wait that nobody promises at "cudaError_t freed = cudaFree(device)"
 */
#include "lesson.h"

#include <sched.h>
#include <stdint.h>

#define PATIENCE 1000

static cudaError_t wait_for(cudaStream_t stream)
{
    for (int polls = 0; polls < PATIENCE; polls++) {
        cudaError_t answer = cudaStreamQuery(stream);
        if (answer != cudaErrorNotReady) return answer;
        sched_yield();
    }
    return cudaSuccess;
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
    if (!error) error = wait_for(stream);
    if (error) {
        if (cudaStreamSynchronize(stream)) cudaDeviceSynchronize();
    } else {
        for (size_t i = 0; i < length; i++) *sum += output[i];
    }

    cudaError_t freed = cudaFree(device);
    return error ? error : freed;
}
