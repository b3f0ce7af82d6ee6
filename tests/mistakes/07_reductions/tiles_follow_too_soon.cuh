/* mistake: the next tile overwrites what the last one's total is made of
 * fails: Reductions.EverySizeIsReduced
 * finds: shared memory race at "count;"
 */
#ifndef REDUCTIONS_CUH
#define REDUCTIONS_CUH

#include "lesson.h"

#include <string.h>

namespace tiles
{

constexpr unsigned width = 256;

template <typename T> struct Maybe {
    alignas(T) unsigned char bytes[sizeof(T)];
    bool there;
};

template <typename T> __device__ T below(const T &value, unsigned distance)
{
    unsigned words[(sizeof(T) + 3) / 4] = {};
    memcpy(words, &value, sizeof(T));
    for (auto &word : words) word = __shfl_down_sync(0xffffffffu, word, distance);
    T other;
    memcpy(&other, words, sizeof(T));
    return other;
}

template <typename T, typename Operator>
__global__ void reduce(const T *in, size_t size, T *out, Maybe<T> init, Operator op)
{
    __shared__ T of_warp[width / 32];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    bool running_there = false;
    T running;
    memset(&running, 0, sizeof running);

    for (size_t tile = (size_t)blockIdx.x * width; tile < size; tile += (size_t)gridDim.x * width) {
        const unsigned count = size - tile < width ? (unsigned)(size - tile) : width;
        const unsigned lanes = count > warp * 32 ? min(count - warp * 32, 32u) : 0u;
        T value;
        memset(&value, 0, sizeof value);
        if (threadIdx.x < count) value = in[tile + threadIdx.x];

        for (unsigned distance = 16; distance > 0; distance /= 2) {
            T other = below(value, distance);
            if (lane + distance < lanes) value = op(value, other);
        }
        if (lane == 0 && lanes > 0) of_warp[warp] = value;
        __syncthreads();
        if (threadIdx.x == 0)
            for (unsigned w = 0; w * 32 < count; w++) {
                running = running_there ? op(running, of_warp[w]) : of_warp[w];
                running_there = true;
            }
    }

    if (threadIdx.x == 0) {
        if (init.there) {
            T start;
            memcpy(&start, init.bytes, sizeof start);
            running = running_there ? op(running, start) : start;
        }
        out[blockIdx.x] = running;
    }
}

} // namespace tiles

template <typename T, typename Operator>
cudaError_t Reduction<T, Operator>::operator()(const T *array, size_t size, T *result,
                                               const T *init, cudaStream_t stream) const
{
    tiles::Maybe<T> start, nothing;
    memset(&nothing, 0, sizeof nothing);
    start = nothing;
    if (init) {
        memcpy(start.bytes, init, sizeof(T));
        start.there = true;
    } else if (size == 0) {
        return cudaErrorInvalidValue;
    }

    Operator op = combine;
    size_t blocks = size / tiles::width + (size % tiles::width != 0);
    if (blocks <= 1) {
        void *arguments[] = {&array, &size, &result, &start, &op};
        return cudaLaunchKernel(tiles::reduce<T, Operator>, dim3(1), dim3(tiles::width), arguments,
                                0, stream);
    }
    if (blocks > 1024) blocks = 1024;

    T *partial = nullptr;
    cudaError_t error = cudaMallocAsync((void **)&partial, blocks * sizeof(T), stream);
    if (error) return error;
    void *first[] = {&array, &size, &partial, &nothing, &op};
    error = cudaLaunchKernel(tiles::reduce<T, Operator>, dim3((unsigned)blocks), dim3(tiles::width),
                             first, 0, stream);
    if (!error) {
        void *second[] = {&partial, &blocks, &result, &start, &op};
        error = cudaLaunchKernel(tiles::reduce<T, Operator>, dim3(1), dim3(tiles::width), second, 0,
                                 stream);
    }
    cudaError_t freed = cudaFreeAsync(partial, stream);
    return error ? error : freed;
}

#endif
