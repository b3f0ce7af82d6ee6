/* mistake: the copy out is in a stream of the function's own
 * fails: DeviceSync.AllTheWorkIsInTheGivenStream
 * finds: nothing, it is ordered, by an event
 */
#include "lesson.h"

#include <stdint.h>

static cudaError_t wait_for(cudaStream_t stream)
{
    cudaError_t error = cudaStreamSynchronize(stream);
    if (error) cudaDeviceSynchronize();
    return error;
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    *sum = 0.0;
    if (length == 0) return cudaSuccess;
    if (length > SIZE_MAX / sizeof(float)) return cudaErrorMemoryAllocation;

    const size_t bytes = length * sizeof(float);
    float *device = NULL;
    cudaStream_t out = NULL;
    cudaEvent_t computed = NULL;

    cudaError_t error = cudaMalloc((void **)&device, bytes);
    if (!error) error = cudaStreamCreateWithFlags(&out, cudaStreamNonBlocking);
    if (!error) error = cudaEventCreateWithFlags(&computed, cudaEventDisableTiming);
    if (error) goto release;

    error = cudaMemcpyAsync(device, input, bytes, cudaMemcpyHostToDevice, stream);
    if (!error) error = kernel(device, length, stream);
    if (!error) error = cudaEventRecord(computed, stream);
    if (!error) error = cudaStreamWaitEvent(out, computed, 0);
    if (!error) error = cudaMemcpyAsync(output, device, bytes, cudaMemcpyDeviceToHost, out);
    if (!error) {
        error = wait_for(out);
    } else {
        wait_for(stream);
        wait_for(out);
    }

    if (!error)
        for (size_t i = 0; i < length; i++) *sum += output[i];

release:;
    cudaError_t late = cudaSuccess;
    if (computed) late = cudaEventDestroy(computed);
    if (!error) error = late;
    if (out) late = cudaStreamDestroy(out);
    if (!error) error = late;
    late = cudaFree(device);
    return error ? error : late;
}
