/* mistake: a host function releases the device memory
 * fails: DeviceSync.EveryElementIsRight
 * finds: call in a host function at "cudaFree(step->device)"
 * finds: leak at "bytes)"
 */
#include "lesson.h"

#include <stdint.h>

struct last_step {
    float *device;
    const float *output;
    size_t length;
    double total;
    cudaError_t freed;
    int ran;
};

static void CUDART_CB finish(void *user)
{
    struct last_step *step = user;
    for (size_t i = 0; i < step->length; i++) step->total += step->output[i];
    step->freed = cudaFree(step->device);
    step->ran = 1;
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    *sum = 0.0;
    if (length == 0) return cudaSuccess;
    if (length > SIZE_MAX / sizeof(float)) return cudaErrorMemoryAllocation;

    struct last_step step = {.output = output, .length = length};
    const size_t bytes = length * sizeof(float);
    cudaError_t error = cudaMalloc((void **)&step.device, bytes);
    if (error) return error;

    error = cudaMemcpyAsync(step.device, input, bytes, cudaMemcpyHostToDevice, stream);
    if (!error) error = kernel(step.device, length, stream);
    if (!error) error = cudaMemcpyAsync(output, step.device, bytes, cudaMemcpyDeviceToHost, stream);
    if (!error) error = cudaLaunchHostFunc(stream, finish, &step);

    cudaError_t waited = cudaStreamSynchronize(stream);
    if (waited) cudaDeviceSynchronize();
    if (!step.ran) step.freed = cudaFree(step.device);

    if (!error) error = waited;
    if (!error) error = step.freed;
    *sum = step.total;
    return error;
}
