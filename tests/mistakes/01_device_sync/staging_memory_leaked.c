/* mistake: page-locked staging memory is kept when there is no device memory
 * fails: DeviceSync.EveryErrorIsReturnedAndNothingLeaks
 * finds: leak at "&staging,"
 */
#include "lesson.h"

#include <stdint.h>
#include <string.h>

static cudaError_t through(float *staging, float *device, device_sync_kernel kernel,
                           const float *input, float *output, size_t length, cudaStream_t stream)
{
    size_t bytes = length * sizeof(float);
    memcpy(staging, input, bytes);

    cudaError_t error = cudaMemcpyAsync(device, staging, bytes, cudaMemcpyHostToDevice, stream);
    if (!error) error = kernel(device, length, stream);
    if (!error) error = cudaMemcpyAsync(output, device, bytes, cudaMemcpyDeviceToHost, stream);

    cudaError_t waited = cudaStreamSynchronize(stream);
    if (waited) cudaDeviceSynchronize();
    return error ? error : waited;
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    *sum = 0.0;
    if (length == 0) return cudaSuccess;
    if (length > SIZE_MAX / sizeof(float)) return cudaErrorMemoryAllocation;

    float *staging = NULL, *device = NULL;
    cudaError_t error = cudaMallocHost((void **)&staging, length * sizeof(float));
    if (error) return error;
    error = cudaMalloc((void **)&device, length * sizeof(float));
    if (error) return error;

    error = through(staging, device, kernel, input, output, length, stream);
    if (!error)
        for (size_t i = 0; i < length; i++) *sum += output[i];

    cudaError_t late = cudaFree(device);
    if (!error) error = late;
    late = cudaFreeHost(staging);
    return error ? error : late;
}
