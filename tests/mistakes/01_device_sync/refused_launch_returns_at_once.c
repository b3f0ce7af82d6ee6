/* mistake: returns a refused launch while the copy in is under way
 * fails: DeviceSync.FailedCallsAreReturned
 * finds: nothing, nothing touches the array beside the copy
 */
#include "lesson.h"

#include <stdint.h>

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    cudaError_t error;
    float *device = NULL;
    double total = 0.0;

    if (length == 0) goto done;
    if (length > SIZE_MAX / sizeof(float)) return cudaErrorMemoryAllocation;

    error = cudaMallocAsync((void **)&device, length * sizeof(float), stream);
    if (error) return error;

    error = cudaMemcpyAsync(device, input, length * sizeof(float), cudaMemcpyHostToDevice, stream);
    if (error) goto failed;
    error = kernel(device, length, stream);
    if (error) goto failed;
    error = cudaMemcpyAsync(output, device, length * sizeof(float), cudaMemcpyDeviceToHost, stream);
    if (error) goto failed;
    error = cudaFreeAsync(device, stream);
    if (error) {
        cudaStreamSynchronize(stream);
        cudaFree(device);
        return error;
    }
    error = cudaStreamSynchronize(stream);
    if (error) {
        cudaDeviceSynchronize();
        return error;
    }

    for (size_t i = 0; i < length; i++) total += output[i];
done:
    *sum = total;
    return cudaSuccess;

failed:
    cudaFreeAsync(device, stream);
    return error;
}
