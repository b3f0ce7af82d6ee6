#include "lesson.h"
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)

cudaError_t cudaMalloc(void **memory, size_t size)
{
    if (size > (size_t)1 << 32) {
        *memory = NULL;
        return cudaErrorMemoryAllocation;
    }
    *memory = calloc(1, size);
    return *memory ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaFree(void *memory)
{
    free(memory);
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    (void)kind, (void)stream;
    memcpy(to, from, size);
    return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **arguments,
                             size_t shared, cudaStream_t stream)
{
    (void)function, (void)grid, (void)shared, (void)stream;
    if (block.x > 1024)
        return cudaErrorInvalidValue;
    if (block.x == 32)
        return cudaErrorIllegalAddress;
    float *array = *(float **)arguments[0];
    size_t length = *(size_t *)arguments[1];
    for (size_t i = 0; i < length; i++)
        array[i] += (float)(1u + (unsigned)i % 1009u);
    return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    (void)stream;
    return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    (void)stream;
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void)
{
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void)
{
    return cudaSuccess;
}

cudaError_t cudaPeekAtLastError(void)
{
    return cudaSuccess;
}

#pragma GCC visibility pop

/* The lesson's task, done as it should be. */
static cudaError_t honest(device_sync_kernel kernel, const float *input, float *output,
                          size_t length, cudaStream_t stream, double *sum)
{
    float *device = NULL;
    *sum = 0.0;
    if (length == 0)
        return cudaSuccess;
    if (length > (size_t)-1 / sizeof *device)
        return cudaErrorMemoryAllocation;
    size_t bytes = length * sizeof *device;
    cudaError_t error = cudaMalloc((void **)&device, bytes);
    if (error != cudaSuccess)
        return error;
    error = cudaMemcpyAsync(device, input, bytes, cudaMemcpyHostToDevice, stream);
    if (error == cudaSuccess)
        error = kernel(device, length, stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(output, device, bytes, cudaMemcpyDeviceToHost, stream);
    cudaError_t late = cudaStreamSynchronize(stream);
    if (error == cudaSuccess)
        error = late;
    if (error == cudaSuccess)
        for (size_t i = 0; i < length; i++)
            *sum += (double)output[i];
    late = cudaFree(device);
    return error != cudaSuccess ? error : late;
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    return honest(kernel, input, output, length, stream, sum);
}
