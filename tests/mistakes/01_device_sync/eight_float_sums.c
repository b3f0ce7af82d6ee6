/* mistake: eight partial sums, all of them floats
 * fails: DeviceSync.TheSumIsRight
 * finds: nothing, the numbers are at fault
 */
#include "lesson.h"

#include <stdint.h>

#define WAYS 8

static double add_up(const float *values, size_t length)
{
    float way[WAYS] = {0};
    size_t i = 0;
    for (; i + WAYS <= length; i += WAYS)
        for (int w = 0; w < WAYS; w++) way[w] += values[i + w];

    double total = 0.0;
    for (int w = 0; w < WAYS; w++) total += way[w];
    for (; i < length; i++) total += values[i];
    return total;
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    if (length == 0) {
        *sum = 0.0;
        return cudaSuccess;
    }
    if (length > SIZE_MAX / sizeof(float)) return cudaErrorMemoryAllocation;

    cudaEvent_t done = NULL;
    float *device = NULL;
    size_t bytes = length * sizeof(float);
    cudaError_t error =
        cudaEventCreateWithFlags(&done, cudaEventBlockingSync | cudaEventDisableTiming);
    if (!error) error = cudaMalloc((void **)&device, bytes);
    if (!error) error = cudaMemcpyAsync(device, input, bytes, cudaMemcpyHostToDevice, stream);
    if (!error) error = kernel(device, length, stream);
    if (!error) error = cudaMemcpyAsync(output, device, bytes, cudaMemcpyDeviceToHost, stream);
    if (!error) error = cudaEventRecord(done, stream);
    if (!error) error = cudaEventSynchronize(done);
    if (error && cudaStreamSynchronize(stream)) cudaDeviceSynchronize();
    if (!error) *sum = add_up(output, length);

    cudaError_t late = cudaFree(device);
    if (!error) error = late;
    if (done) {
        late = cudaEventDestroy(done);
        if (!error) error = late;
    }
    return error;
}
