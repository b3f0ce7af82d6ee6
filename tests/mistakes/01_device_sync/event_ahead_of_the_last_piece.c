/* mistake: the event that is waited for stands before the last piece of the copy out
 * fails: DeviceSync.TheDeviceFindsNothingWrong
 * finds: race at "i = 0;"
 */
#include "lesson.h"

#include <stdint.h>

#define PIECE ((size_t)1 << 16)

static cudaError_t keep(cudaError_t first, cudaError_t next)
{
    return first ? first : next;
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    *sum = 0.0;
    if (length == 0) return cudaSuccess;
    if (length > SIZE_MAX / sizeof(float)) return cudaErrorMemoryAllocation;

    float *device = NULL;
    cudaEvent_t done = NULL;
    const size_t bytes = length * sizeof(float);

    cudaError_t error = cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
    if (error) return error;
    error = cudaMalloc((void **)&device, bytes);
    if (error) {
        cudaEventDestroy(done);
        return error;
    }

    error = cudaMemcpyAsync(device, input, bytes, cudaMemcpyHostToDevice, stream);
    if (!error) error = kernel(device, length, stream);

    for (size_t at = 0; at < length && !error; at += PIECE) {
        size_t piece = length - at < PIECE ? length - at : PIECE;
        if (at + piece == length) error = cudaEventRecord(done, stream);
        if (!error)
            error = cudaMemcpyAsync(output + at, device + at, piece * sizeof(float),
                                    cudaMemcpyDeviceToHost, stream);
    }

    if (!error) error = cudaEventSynchronize(done);
    if (error) {
        if (cudaStreamSynchronize(stream)) cudaDeviceSynchronize();
    } else {
        double total = 0.0;
        for (size_t i = 0; i < length; i++) total += output[i];
        *sum = total;
    }

    error = keep(error, cudaEventDestroy(done));
    error = keep(error, cudaFree(device));
    return error;
}
