/* mistake: the block with the highest number combines what the others left, as if it ran last
 * fails: Reductions.TheDeviceFindsNothingWrong
 * finds: race between blocks at "take(mine, partial[block], combine);"
 * told: as it comes, of two blocks that meet it names the one that was later
 */
#ifndef REDUCTIONS_CUH
#define REDUCTIONS_CUH

#include "lesson.h"

#include <stdint.h>
#include <string.h>

namespace reduction
{

constexpr unsigned THREADS = 256;
constexpr unsigned WARPS = THREADS / 32;
constexpr unsigned BLOCKS_PER_MULTIPROCESSOR = 8;
constexpr unsigned IN_FLIGHT = 4;

template <typename T> struct Maybe {
    T value;
    bool there;
};

template <typename T, typename Operator>
__device__ void take(Maybe<T> &mine, const T &value, const Operator &combine)
{
    mine.value = mine.there ? combine(mine.value, value) : value;
    mine.there = true;
}

template <typename T> struct Pack {
    static constexpr unsigned COUNT =
        sizeof(T) <= 8 && alignof(T) == sizeof(T) ? 16 / sizeof(T) : 1;
    alignas(COUNT == 1 ? alignof(T) : 16) T items[COUNT];
};

template <typename T> __device__ T shuffle_down(const T &value, unsigned lanes)
{
    unsigned words[(sizeof(T) + 3) / 4] = {};
    memcpy(words, &value, sizeof(T));
    for (unsigned &word : words) word = __shfl_down_sync(0xffffffffu, word, lanes);
    T other;
    memcpy(&other, words, sizeof(T));
    return other;
}

template <typename T, typename Operator>
__device__ void combine_warp(Maybe<T> &mine, const Operator &combine)
{
    for (unsigned lanes = 16; lanes > 0; lanes /= 2) {
        T value = shuffle_down(mine.value, lanes);
        bool there = __shfl_down_sync(0xffffffffu, mine.there, lanes);
        if (there) take(mine, value, combine);
    }
}

template <typename T, typename Operator>
__device__ void combine_block(Maybe<T> &mine, const Operator &combine)
{
    __shared__ Maybe<T> of_warp[WARPS];
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    combine_warp(mine, combine);
    if (lane == 0) of_warp[warp] = mine;

    __syncthreads();
    if (warp == 0) {
        mine.there = false;
        if (lane < WARPS) mine = of_warp[lane];
        combine_warp(mine, combine);
    }
}

template <typename T, typename Operator>
__global__ void pass(const T *array, size_t size, T *partial, T *result, Operator combine, T init,
                     bool with_init)
{
    size_t me = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    size_t everybody = (size_t)gridDim.x * blockDim.x;
    Maybe<T> mine;
    mine.there = false;

    size_t before = 0;
    if (Pack<T>::COUNT > 1) {
        size_t misaligned = (uintptr_t)array % sizeof(Pack<T>);
        if (misaligned) before = (sizeof(Pack<T>) - misaligned) / sizeof(T);
        if (before > size) before = size;
    }
    size_t packs = (size - before) / Pack<T>::COUNT;
    size_t after = before + packs * Pack<T>::COUNT;
    const Pack<T> *pack = (const Pack<T> *)(array + before);

    size_t i = me;
    for (; i + (IN_FLIGHT - 1) * everybody < packs; i += IN_FLIGHT * everybody) {
        Pack<T> loaded[IN_FLIGHT];
#pragma unroll
        for (unsigned k = 0; k < IN_FLIGHT; k++) loaded[k] = pack[i + k * everybody];
#pragma unroll
        for (unsigned k = 0; k < IN_FLIGHT; k++) {
            T value = loaded[k].items[0];
#pragma unroll
            for (unsigned item = 1; item < Pack<T>::COUNT; item++)
                value = combine(value, loaded[k].items[item]);
            take(mine, value, combine);
        }
    }
    for (; i < packs; i += everybody) {
        Pack<T> loaded = pack[i];
#pragma unroll
        for (unsigned item = 0; item < Pack<T>::COUNT; item++)
            take(mine, loaded.items[item], combine);
    }
    if (me < before) take(mine, array[me], combine);
    if (me < size - after) take(mine, array[after + me], combine);

    combine_block(mine, combine);
    if (threadIdx.x > 0) return;
    if (blockIdx.x < gridDim.x - 1) {
        if (mine.there) partial[blockIdx.x] = mine.value;
        return;
    }
    for (unsigned block = 0; block < gridDim.x - 1; block++) take(mine, partial[block], combine);
    if (with_init) take(mine, init, combine);
    if (mine.there) *result = mine.value;
}

template <typename T, typename Operator>
cudaError_t launch(unsigned blocks, const T *array, size_t size, T *partial, T *result,
                   Operator combine, const T *init, cudaStream_t stream)
{
    T start;
    memset((void *)&start, 0, sizeof start);
    if (init) start = *init;
    bool with_init = init != NULL;
    void *arguments[] = {&array, &size, &partial, &result, &combine, &start, &with_init};
    return cudaLaunchKernel((const void *)pass<T, Operator>, dim3(blocks), dim3(THREADS), arguments,
                            0, stream);
}

} // namespace reduction

template <typename T, typename Operator>
cudaError_t Reduction<T, Operator>::operator()(const T *array, size_t size, T *result,
                                               const T *init, cudaStream_t stream) const
{
    if (!result || (size == 0 && !init) || (size > 0 && !array)) return cudaErrorInvalidValue;

    int device = 0, multiprocessors = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error) return error;
    error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (error) return error;

    size_t a_block = (size_t)reduction::THREADS * reduction::IN_FLIGHT * reduction::Pack<T>::COUNT;
    size_t blocks = (size + a_block - 1) / a_block;
    size_t most = (size_t)multiprocessors * reduction::BLOCKS_PER_MULTIPROCESSOR;
    if (blocks > most) blocks = most;
    if (blocks <= 1)
        return reduction::launch(1, array, size, result, result, combine, init, stream);

    T *partial = NULL;
    error = cudaMallocAsync((void **)&partial, blocks * sizeof *partial, stream);
    if (error) return error;
    error =
        reduction::launch((unsigned)blocks, array, size, partial, result, combine, init, stream);
    cudaError_t freed = cudaFreeAsync(partial, stream);
    return error ? error : freed;
}

#endif
