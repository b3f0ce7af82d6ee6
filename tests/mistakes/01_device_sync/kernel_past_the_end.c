/* mistake: the kernel is given one element more than there is
 * fails: DeviceSync.TheDeviceFindsNothingWrong
 * finds: out of bounds at "error = kernel(array,"
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
    error = kernel(array, length + 1, stream);
    if (error != cudaSuccess) goto wait;
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
