/* mistake: cudaStreamWaitEvent, which makes a stream wait, is taken for a wait of the host's
 * fails: DeviceSync.TheDeviceFindsNothingWrong
 * finds: race at "total += output[i]"
 */
#include "lesson.h"

#include <stdint.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        error = (call);                                                                            \
        if (error != cudaSuccess) goto failed;                                                     \
    } while (0)

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    cudaError_t error = cudaSuccess, released;
    cudaEvent_t done = NULL;
    float *device = NULL;
    double total = 0.0;

    *sum = 0.0;
    if (length == 0) return cudaSuccess;
    if (length > SIZE_MAX / sizeof(float)) return cudaErrorMemoryAllocation;

    CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    CHECK(cudaMalloc((void **)&device, length * sizeof(float)));
    CHECK(cudaMemcpyAsync(device, input, length * sizeof(float), cudaMemcpyHostToDevice, stream));
    CHECK(kernel(device, length, stream));
    CHECK(cudaMemcpyAsync(output, device, length * sizeof(float), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaEventRecord(done, stream));
    CHECK(cudaStreamWaitEvent(stream, done, 0));

    for (size_t i = 0; i < length; i++) total += output[i];
    *sum = total;
    goto release;

failed:
    if (cudaStreamSynchronize(stream)) cudaDeviceSynchronize();
release:
    released = cudaFree(device);
    if (!error) error = released;
    if (done) {
        released = cudaEventDestroy(done);
        if (!error) error = released;
    }
    return error;
}
