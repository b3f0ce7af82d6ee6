/* mistake: asks the runtime for its last error at the end, instead of keeping what each call
 * returned
 * fails: DeviceSync.FailedCallsAreReturned
 * finds: nothing, an error that the launcher alone gave is lost
 */
#include "lesson.h"

#include <stdbool.h>
#include <stdint.h>

#define STEP(call)                                                                                 \
    do {                                                                                           \
        if (going) going = !(call);                                                                \
    } while (0)

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    *sum = 0.0;
    if (length == 0) return cudaSuccess;
    if (length > SIZE_MAX / sizeof(float)) return cudaErrorMemoryAllocation;

    const size_t bytes = length * sizeof(float);
    float *device = NULL;
    bool going = true;

    cudaGetLastError();
    STEP(cudaMalloc((void **)&device, bytes));
    STEP(cudaMemcpyAsync(device, input, bytes, cudaMemcpyHostToDevice, stream));
    STEP(kernel(device, length, stream));
    STEP(cudaMemcpyAsync(output, device, bytes, cudaMemcpyDeviceToHost, stream));

    if (cudaStreamSynchronize(stream)) {
        going = false;
        cudaDeviceSynchronize();
    }
    if (going)
        for (size_t i = 0; i < length; i++) *sum += output[i];

    cudaFree(device);
    return cudaGetLastError();
}
