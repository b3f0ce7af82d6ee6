/* variant: the copy out in pieces, an event behind each; the host adds up a piece when its event is
 * reached, while the next is on its way
 */
#include "lesson.h"
#include <stdint.h>

enum { PIECES = 4 };

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    cudaEvent_t arrived[PIECES] = {NULL};
    float *array = NULL;
    cudaError_t first = cudaSuccess, e;
    double total = 0.0;

    if (length == 0) {
        *sum = 0.0;
        return cudaSuccess;
    }
    if (length > SIZE_MAX / sizeof(float)) return cudaErrorInvalidValue;
    for (int i = 0; i < PIECES && !first; i++)
        first =
            cudaEventCreateWithFlags(&arrived[i], cudaEventDisableTiming | cudaEventBlockingSync);
    if (!first) first = cudaMalloc((void **)&array, length * sizeof(float));
    if (!first)
        first =
            cudaMemcpyAsync(array, input, length * sizeof(float), cudaMemcpyHostToDevice, stream);
    if (!first) first = kernel(array, length, stream);
    size_t piece = (length + PIECES - 1) / PIECES;
    for (int i = 0; i < PIECES && !first; i++) {
        size_t from = i * piece < length ? i * piece : length;
        size_t to = from + piece < length ? from + piece : length;
        if (to > from)
            first = cudaMemcpyAsync(output + from, array + from, (to - from) * sizeof(float),
                                    cudaMemcpyDeviceToHost, stream);
        if (!first && to > from) first = cudaEventRecord(arrived[i], stream);
    }
    for (int i = 0; i < PIECES && !first; i++) {
        size_t from = i * piece < length ? i * piece : length;
        size_t to = from + piece < length ? from + piece : length;
        if (to == from) break; /* no piece, nothing to wait for */
        first = cudaEventSynchronize(arrived[i]);
        if (first) break;
        for (size_t k = from; k < to; k++) total += output[k];
    }
    if (first && array) cudaStreamSynchronize(stream);
    for (int i = 0; i < PIECES; i++)
        if (arrived[i] && (e = cudaEventDestroy(arrived[i])) && !first) first = e;
    if (array && (e = cudaFree(array)) && !first) first = e;
    *sum = total;
    return first;
}
