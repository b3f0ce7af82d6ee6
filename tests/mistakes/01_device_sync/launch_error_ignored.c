/* mistake: what the launch returns is thrown away
 * fails: DeviceSync.FailedCallsAreReturned
 * finds: nothing, each access is in order; an error is lost on its way to the caller
 */
#include "lesson.h"

#include <stdint.h>

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    const size_t bytes = length * sizeof *input;
    float *array = NULL;
    double total = 0.0;
    cudaError_t error, waited, released;

    *sum = 0.0;
    if (length == 0) return cudaSuccess;
    if (length > SIZE_MAX / sizeof *input) return cudaErrorMemoryAllocation;

    error = cudaMalloc((void **)&array, bytes);
    if (error != cudaSuccess) return error;

    error = cudaMemcpyAsync(array, input, bytes, cudaMemcpyHostToDevice, stream);
    if (error != cudaSuccess) goto wait;
    (void)kernel(array, length, stream);
    error = cudaMemcpyAsync(output, array, bytes, cudaMemcpyDeviceToHost, stream);

wait:
    waited = cudaStreamSynchronize(stream);
    if (error == cudaSuccess) error = waited;

    if (error == cudaSuccess) {
        for (size_t i = 0; i < length; i++) total += output[i];
        *sum = total;
    }

    released = cudaFree(array);
    if (error == cudaSuccess) error = released;
    return error;
}
