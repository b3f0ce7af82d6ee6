/* variant: the sum is taken in the stream, by a host function behind the copy out
 */
#include "lesson.h"

#include <stdint.h>

struct addition {
    const float *values;
    size_t length;
    double sum;
};

static void add_up(void *user)
{
    struct addition *addition = user;
    for (size_t i = 0; i < addition->length; i++) addition->sum += addition->values[i];
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    const size_t bytes = length * sizeof *input;
    float *array = NULL;
    struct addition addition = {output, length, 0.0};
    cudaError_t error, waited, released;

    *sum = 0.0;
    if (length == 0) return cudaSuccess;
    if (length > SIZE_MAX / sizeof *input) return cudaErrorMemoryAllocation;

    error = cudaMalloc((void **)&array, bytes);
    if (error != cudaSuccess) return error;

    error = cudaMemcpyAsync(array, input, bytes, cudaMemcpyHostToDevice, stream);
    if (error != cudaSuccess) goto wait;
    error = kernel(array, length, stream);
    if (error != cudaSuccess) goto wait;
    error = cudaMemcpyAsync(output, array, bytes, cudaMemcpyDeviceToHost, stream);
    if (error != cudaSuccess) goto wait;
    error = cudaLaunchHostFunc(stream, add_up, &addition);

wait:
    waited = cudaStreamSynchronize(stream);
    if (error == cudaSuccess) error = waited;

    if (error == cudaSuccess) *sum = addition.sum;

    released = cudaFree(array);
    if (error == cudaSuccess) error = released;
    return error;
}
