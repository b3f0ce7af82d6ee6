/* mistake: the host function that adds up is queued before the copy out
 * fails: DeviceSync.TheSumIsRight
 * finds: nothing, the host function and the copy are ordered, the wrong way round
 */
#include "lesson.h"

#include <stdint.h>

struct adding {
    const float *values;
    size_t length;
    double total;
};

static void CUDART_CB add_up(void *user)
{
    struct adding *job = user;
    double total = 0.0;
    for (size_t i = 0; i < job->length; i++) total += job->values[i];
    job->total = total;
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    if (length == 0) {
        *sum = 0.0;
        return cudaSuccess;
    }
    if (length > SIZE_MAX / sizeof(float)) return cudaErrorMemoryAllocation;

    struct adding job = {output, length, 0.0};
    size_t bytes = length * sizeof(float);
    void *device;
    cudaError_t error = cudaMalloc(&device, bytes);
    if (error) return error;

    error = cudaMemcpyAsync(device, input, bytes, cudaMemcpyHostToDevice, stream);
    if (!error) error = kernel(device, length, stream);
    if (!error) error = cudaLaunchHostFunc(stream, add_up, &job);
    if (!error) error = cudaMemcpyAsync(output, device, bytes, cudaMemcpyDeviceToHost, stream);

    cudaError_t waited = cudaStreamSynchronize(stream);
    if (waited) cudaDeviceSynchronize();
    cudaError_t freed = cudaFree(device);

    *sum = job.total;
    if (error) return error;
    return waited ? waited : freed;
}
