/* variant: the device memory is from a pool of the function's own, which goes with it
 */
#include "lesson.h"

#include <stdint.h>

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    const size_t bytes = length * sizeof *input;
    const struct cudaMemPoolProps properties = {
        .allocType = cudaMemAllocationTypePinned,
        .location = {.type = cudaMemLocationTypeDevice, .id = 0},
    };
    cudaMemPool_t pool = NULL;
    float *array = NULL;
    double total = 0.0;
    cudaError_t error, waited, released;

    *sum = 0.0;
    if (length == 0) return cudaSuccess;
    if (length > SIZE_MAX / sizeof *input) return cudaErrorMemoryAllocation;

    error = cudaMemPoolCreate(&pool, &properties);
    if (error != cudaSuccess) return error;
    error = cudaMallocFromPoolAsync((void **)&array, bytes, pool, stream);
    if (error != cudaSuccess) {
        (void)cudaMemPoolDestroy(pool);
        return error;
    }

    error = cudaMemcpyAsync(array, input, bytes, cudaMemcpyHostToDevice, stream);
    if (error != cudaSuccess) goto wait;
    error = kernel(array, length, stream);
    if (error != cudaSuccess) goto wait;
    error = cudaMemcpyAsync(output, array, bytes, cudaMemcpyDeviceToHost, stream);

wait:
    released = cudaFreeAsync(array, stream);
    if (error == cudaSuccess) error = released;
    waited = cudaStreamSynchronize(stream);
    if (error == cudaSuccess) error = waited;

    if (error == cudaSuccess) {
        for (size_t i = 0; i < length; i++) total += output[i];
        *sum = total;
    }

    released = cudaMemPoolDestroy(pool);
    if (error == cudaSuccess) error = released;
    return error;
}
