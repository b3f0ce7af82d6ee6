/* mistake: device memory comes from the default stream and is used in the one given
 * fails: DeviceSync.TheDeviceFindsNothingWrong
 * finds: freed in use at "cudaFreeAsync(device"
 */
#include "lesson.h"

#include <stdint.h>

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    if (length == 0) {
        *sum = 0;
        return cudaSuccess;
    }
    if (length > SIZE_MAX / sizeof *input) return cudaErrorMemoryAllocation;

    const size_t bytes = length * sizeof *input;
    float *device = NULL;
    cudaError_t error = cudaMallocAsync((void **)&device, bytes, 0);
    if (error != cudaSuccess) return error;

    error = cudaMemcpyAsync(device, input, bytes, cudaMemcpyHostToDevice, stream);
    if (error == cudaSuccess) error = kernel(device, length, stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(output, device, bytes, cudaMemcpyDeviceToHost, stream);

    cudaError_t freed = cudaFreeAsync(device, stream);
    cudaError_t waited = cudaStreamSynchronize(stream);
    if (waited != cudaSuccess) cudaDeviceSynchronize();
    if (freed != cudaSuccess) cudaFree(device);

    if (error == cudaSuccess) error = freed;
    if (error == cudaSuccess) error = waited;
    if (error != cudaSuccess) return error;

    double total = 0;
    for (const float *p = output; p < output + length; p++) total += *p;
    *sum = total;
    return cudaSuccess;
}
