/* variant: the copy out in pieces, each added up by a host function behind it
 * orders: 3
 */
#include "lesson.h"

#include <stdint.h>

#define PIECE ((size_t)256 * 1024)

/* One for all the pieces: host functions of one stream run one after the other, in its order. */
struct running_sum {
    const float *next, *end;
    double total;
};

static size_t piece_of(size_t left)
{
    return left < PIECE ? left : PIECE;
}

static void CUDART_CB add_piece(void *user)
{
    struct running_sum *so_far = user;
    const float *stop = so_far->next + piece_of((size_t)(so_far->end - so_far->next));
    while (so_far->next != stop) so_far->total += *so_far->next++;
}

static cudaError_t issue(device_sync_kernel kernel, float *device, const float *input,
                         float *output, size_t length, cudaStream_t stream,
                         struct running_sum *so_far)
{
    cudaError_t error = cudaSuccess;
    for (size_t at = 0; !error && at < length; at += piece_of(length - at))
        error = cudaMemcpyAsync(device + at, input + at, piece_of(length - at) * sizeof(float),
                                cudaMemcpyHostToDevice, stream);

    if (!error) error = kernel(device, length, stream);

    for (size_t at = 0; !error && at < length; at += piece_of(length - at)) {
        error = cudaMemcpyAsync(output + at, device + at, piece_of(length - at) * sizeof(float),
                                cudaMemcpyDeviceToHost, stream);
        if (!error) error = cudaLaunchHostFunc(stream, add_piece, so_far);
    }
    return error;
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    *sum = 0.0;
    if (length == 0) return cudaSuccess;
    if (length > SIZE_MAX / sizeof(float)) return cudaErrorMemoryAllocation;

    float *device = NULL;
    cudaError_t error = cudaMalloc((void **)&device, length * sizeof(float));
    if (error) return error;

    struct running_sum so_far = {output, output + length, 0.0};
    cudaError_t results[3];
    results[0] = issue(kernel, device, input, output, length, stream, &so_far);
    results[1] = cudaStreamSynchronize(stream);
    if (results[1]) (void)cudaDeviceSynchronize();
    results[2] = cudaFree(device);

    *sum = so_far.total;
    for (int i = 0; i < 3 && !error; i++) error = results[i];
    return error;
}
