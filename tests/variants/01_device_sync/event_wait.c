/* variant: waits for an event behind the copy out
 */
#include "lesson.h"

#include <stdint.h>

/* Waits for what is in `stream` now. */
static cudaError_t wait_for(cudaStream_t stream)
{
    cudaEvent_t event = NULL;
    cudaError_t destroyed, error = cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    if (error == cudaSuccess) error = cudaEventRecord(event, stream);
    if (error != cudaSuccess) {
        (void)cudaStreamSynchronize(stream); /* without an event, but not without waiting */
        if (event != NULL) (void)cudaEventDestroy(event);
        return error;
    }
    error = cudaEventSynchronize(event);
    destroyed = cudaEventDestroy(event);
    return error == cudaSuccess ? destroyed : error;
}

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
    error = kernel(array, length, stream);
    if (error != cudaSuccess) goto wait;
    error = cudaMemcpyAsync(output, array, bytes, cudaMemcpyDeviceToHost, stream);

wait:
    waited = wait_for(stream);
    if (error == cudaSuccess) error = waited;

    if (error == cudaSuccess) {
        for (size_t i = 0; i < length; i++) total += output[i];
        *sum = total;
    }

    released = cudaFree(array);
    if (error == cudaSuccess) error = released;
    return error;
}
