/* mistake: behind a refused launch the memory goes back to its pool, and the pool stays
 * fails: DeviceSync.NothingLeaksOnFailure
 * finds: leak at "cudaMemPoolCreate"
 */
#include "lesson.h"

#include <stdint.h>

static cudaError_t make_pool(cudaMemPool_t *pool)
{
    struct cudaMemPoolProps wanted = {.allocType = cudaMemAllocationTypePinned,
                                      .location = {.type = cudaMemLocationTypeDevice}};
    const cudaError_t error = cudaGetDevice(&wanted.location.id);
    if (error != cudaSuccess) return error;
    return cudaMemPoolCreate(pool, &wanted);
}

static cudaError_t in_order(device_sync_kernel kernel, const float *input, float *output,
                            size_t length, cudaStream_t stream, float *array)
{
    const size_t bytes = length * sizeof *input;
    cudaError_t error = cudaMemcpyAsync(array, input, bytes, cudaMemcpyHostToDevice, stream);
    if (error == cudaSuccess) error = kernel(array, length, stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(output, array, bytes, cudaMemcpyDeviceToHost, stream);
    return error;
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    cudaMemPool_t pool;
    cudaError_t error, later;
    void *array;

    *sum = 0.0;
    if (length == 0) return cudaSuccess;
    if (length > SIZE_MAX / sizeof *input) return cudaErrorMemoryAllocation;

    error = make_pool(&pool);
    if (error != cudaSuccess) return error;
    error = cudaMallocFromPoolAsync(&array, length * sizeof *input, pool, stream);
    if (error == cudaSuccess) {
        error = in_order(kernel, input, output, length, stream, array);
        later = cudaFreeAsync(array, stream);
        if (error == cudaSuccess) error = later;
        later = cudaStreamSynchronize(stream);
        if (error == cudaSuccess) error = later;
        if (error != cudaSuccess) return error;
    }
    for (size_t i = 0; error == cudaSuccess && i < length; i++) *sum += output[i];
    later = cudaMemPoolDestroy(pool);
    return error == cudaSuccess ? later : error;
}
