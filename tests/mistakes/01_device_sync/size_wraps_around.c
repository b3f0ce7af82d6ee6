/* mistake: length * sizeof goes beyond what a size_t holds, and begins again at 0
 * fails: DeviceSync.FailedCallsAreReturned
 * finds: nothing, the small array is used as far as it goes
 */
#include "lesson.h"

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    const size_t bytes = length * sizeof *input;
    float *array = NULL;
    double total = 0.0;
    cudaError_t error, waited, released;

    *sum = 0.0;
    if (length == 0) return cudaSuccess;

    error = cudaMalloc((void **)&array, bytes);
    if (error != cudaSuccess) return error;

    error = cudaMemcpyAsync(array, input, bytes, cudaMemcpyHostToDevice, stream);
    if (error == cudaSuccess) error = kernel(array, length, stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(output, array, bytes, cudaMemcpyDeviceToHost, stream);

    waited = cudaStreamSynchronize(stream);
    if (error == cudaSuccess) error = waited;

    for (size_t i = 0; error == cudaSuccess && i < length; i++) total += output[i];
    *sum = total;

    released = cudaFree(array);
    return error == cudaSuccess ? released : error;
}
