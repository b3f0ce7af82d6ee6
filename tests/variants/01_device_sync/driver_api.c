/* variant: the driver API, in the context that the runtime has made current
 */
#include "lesson.h"

#include <cuda.h>
#include <stdint.h>

/* The codes of both are the same numbers. */
static void keep(cudaError_t *first, int error)
{
    if (*first == cudaSuccess) *first = (cudaError_t)error;
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    const size_t bytes = length * sizeof *input;
    cudaError_t error = cudaSuccess;
    CUdeviceptr array;

    *sum = 0.0;
    if (length == 0) return cudaSuccess;
    if (length > SIZE_MAX / sizeof *input) return cudaErrorMemoryAllocation;

    keep(&error, cuMemAlloc(&array, bytes));
    if (error != cudaSuccess) return error;

    keep(&error, cuMemcpyHtoDAsync(array, input, bytes, stream));
    if (error == cudaSuccess) error = kernel((float *)(uintptr_t)array, length, stream);
    if (error == cudaSuccess) keep(&error, cuMemcpyDtoHAsync(output, array, bytes, stream));

    keep(&error, cuStreamSynchronize(stream));
    for (size_t i = 0; error == cudaSuccess && i < length; i++) *sum += output[i];
    keep(&error, cuMemFree(array));
    return error;
}
