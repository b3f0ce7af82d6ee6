/* mistake: for no elements the last error is returned, which an earlier call left
 * fails: DeviceSync.FailedCallsAreReturned
 * finds: nothing, the error is of a call of the caller's
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
    if (length == 0) return cudaGetLastError();
    /* The product would begin again at 0, and a small array would be allocated for a long one. */
    if (length > SIZE_MAX / sizeof *input) return cudaErrorMemoryAllocation;

    error = cudaMalloc((void **)&array, bytes);
    if (error != cudaSuccess) return error; /* nothing was made, nothing was asked for */

    /* Three requests into one stream, and no wait in between: a stream runs what it is given in the
     * order in which it was given. A wait here would tell the device nothing that it does not know;
     * it would only make it stand idle until the host has woken up and come back. */
    error = cudaMemcpyAsync(array, input, bytes, cudaMemcpyHostToDevice, stream);
    if (error != cudaSuccess) goto wait;
    error = kernel(array, length, stream);
    if (error != cudaSuccess) goto wait;
    error = cudaMemcpyAsync(output, array, bytes, cudaMemcpyDeviceToHost, stream);

wait:
    /* The one wait. The host is about to read `output`, which no stream orders against it; `input`
     * and `output` go back to the caller and `array` back to the device, and all of that is wrong
     * while the device still works on them. So it stands on the way out of a failure, too: the copy
     * in may be under way when the launch is refused.
     *
     * It is also where an error of the kernel itself comes to light. The launch was long ago
     * answered with success; a kernel that wrote where it may not says so here. */
    waited = cudaStreamSynchronize(stream);
    if (error == cudaSuccess) error = waited;

    if (error == cudaSuccess) {
        for (size_t i = 0; i < length; i++) total += output[i];
        *sum = total;
    }

    released = cudaFree(array);
    if (error == cudaSuccess) /* the first error is the one that explains the others */
        error = released;
    return error;
}
