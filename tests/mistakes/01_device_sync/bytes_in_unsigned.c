/* mistake: the size in bytes is cut to 32 bits
 * fails: DeviceSync.FailedCallsAreReturned
 * finds: nothing, the launch for so many floats is refused
 */
#include "lesson.h"

#include <stdint.h>

struct transfer {
    float *device;
    unsigned bytes;
    cudaStream_t stream;
};

static cudaError_t begin(struct transfer *t, size_t length, cudaStream_t stream)
{
    if (length > SIZE_MAX / sizeof(float)) return cudaErrorMemoryAllocation;
    t->device = NULL;
    t->bytes = (unsigned)(length * sizeof(float));
    t->stream = stream;
    return cudaMalloc((void **)&t->device, t->bytes);
}

static cudaError_t up(const struct transfer *t, const float *from)
{
    return cudaMemcpyAsync(t->device, from, t->bytes, cudaMemcpyHostToDevice, t->stream);
}

static cudaError_t down(const struct transfer *t, float *to)
{
    return cudaMemcpyAsync(to, t->device, t->bytes, cudaMemcpyDeviceToHost, t->stream);
}

static cudaError_t end(const struct transfer *t, cudaError_t error)
{
    cudaError_t waited = cudaStreamSynchronize(t->stream);
    if (waited) cudaDeviceSynchronize();
    cudaError_t freed = cudaFree(t->device);
    if (!error) error = waited;
    if (!error) error = freed;
    return error;
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    *sum = 0.0;
    if (!length) return cudaSuccess;

    struct transfer t;
    cudaError_t error = begin(&t, length, stream);
    if (error) return error;

    error = up(&t, input);
    if (!error) error = kernel(t.device, length, stream);
    if (!error) error = down(&t, output);
    error = end(&t, error);

    if (!error)
        for (size_t i = 0; i < length; i++) *sum += output[i];
    return error;
}
