/* variant: copies in and out in two pieces, the kernel once; adds up backwards
 */
#include "lesson.h"

#include <stdint.h>

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    const size_t bytes = length * sizeof *input, half = length / 2;
    float *array = NULL;
    double total = 0.0;
    cudaError_t error, waited, released;

    *sum = 0.0;
    if (length == 0) return cudaSuccess;
    if (length > SIZE_MAX / sizeof *input) return cudaErrorMemoryAllocation;

    error = cudaMalloc((void **)&array, bytes);
    if (error != cudaSuccess) return error;

    error = cudaMemcpyAsync(array, input, half * sizeof *input, cudaMemcpyHostToDevice, stream);
    if (error != cudaSuccess) goto wait;
    error = cudaMemcpyAsync(array + half, input + half, (length - half) * sizeof *input,
                            cudaMemcpyHostToDevice, stream);
    if (error != cudaSuccess) goto wait;
    error = kernel(array, length, stream);
    if (error != cudaSuccess) goto wait;
    error = cudaMemcpyAsync(output + half, array + half, (length - half) * sizeof *input,
                            cudaMemcpyDeviceToHost, stream);
    if (error != cudaSuccess) goto wait;
    error = cudaMemcpyAsync(output, array, half * sizeof *input, cudaMemcpyDeviceToHost, stream);

wait:
    waited = cudaStreamSynchronize(stream);
    if (error == cudaSuccess) error = waited;

    if (error == cudaSuccess) {
        for (size_t i = length; i-- > 0;) total += output[i];
        *sum = total;
    }

    released = cudaFree(array);
    if (error == cudaSuccess) error = released;
    return error;
}
