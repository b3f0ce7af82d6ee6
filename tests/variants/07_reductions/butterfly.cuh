/* variant: a butterfly of xor shuffles, after which every lane has the answer; launched by
 * cudaLaunchKernelEx
 *
 * slow on a GPU: Reductions.AsFastAsCub
 */
#ifndef REDUCTIONS_CUH
#define REDUCTIONS_CUH

#include "lesson.h"

#include <string.h>

/* The value of lane `rank` ^ `step`, word by word. */
template <typename T> __device__ T of_partner(const T &mine, unsigned step)
{
    unsigned words[(sizeof(T) + 3) / 4] = {};
    T theirs;
    memcpy(words, &mine, sizeof(T));
    for (unsigned &word : words) word = __shfl_xor_sync(0xffffffffu, word, (int)step);
    memcpy(&theirs, words, sizeof(T));
    return theirs;
}

/* Of the lanes that have a value; `has` says of the own one whether it does. */
template <typename T, typename Operator>
__device__ void combine_lanes(T &mine, bool &has, const Operator &combine)
{
    for (unsigned step = 1; step < 32; step *= 2) {
        const T theirs = of_partner(mine, step);
        const bool they_have = __shfl_xor_sync(0xffffffffu, has, (int)step);
        if (they_have) mine = has ? combine(mine, theirs) : theirs;
        has = has || they_have;
    }
}

template <typename T, typename Operator>
__global__ void reduce_stretch(const T *from, size_t size, size_t share, T *to, Operator combine,
                               T init, bool with_init)
{
    __shared__ T of_warp[32];
    __shared__ bool warp_has[32];
    const size_t begin = blockIdx.x * share, end = min(begin + share, size);
    const unsigned rank = threadIdx.x, warp = rank / 32, lane = rank % 32;
    bool has = begin + rank < end;

    T mine = from[has ? begin + rank : begin];
    for (size_t i = begin + rank + blockDim.x; i < end; i += blockDim.x)
        mine = combine(mine, from[i]);
    combine_lanes(mine, has, combine);
    if (lane == 0) {
        of_warp[warp] = mine;
        warp_has[warp] = has;
    }
    __syncthreads();
    if (warp > 0) return;
    has = lane < blockDim.x / 32 && warp_has[lane];
    if (has) mine = of_warp[lane];
    combine_lanes(mine, has, combine);
    if (lane == 0) to[blockIdx.x] = with_init ? combine(init, mine) : mine;
}

/* One launch, with its configuration as a structure. */
template <typename... Parameters, typename... Arguments>
cudaError_t launch(void (*kernel)(Parameters...), size_t blocks, size_t threads,
                   cudaStream_t stream, Arguments... arguments)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3((unsigned)blocks);
    config.blockDim = dim3((unsigned)threads);
    config.stream = stream;
    return cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...);
}

template <typename T> __global__ void copy_value(T *to, T value)
{
    *to = value;
}

template <typename T, typename Operator>
cudaError_t Reduction<T, Operator>::operator()(const T *array, size_t size, T *result,
                                               const T *init, cudaStream_t stream) const
{
    const size_t threads = 256, most = 512;
    T start, *partial = nullptr;

    memset((void *)&start, 0, sizeof start);
    if (init) start = *init;
    if (size == 0)
        return init ? launch(copy_value<T>, 1, 1, stream, result, start) : cudaErrorInvalidValue;
    const size_t share = max((size + most - 1) / most, threads * 8);
    const size_t blocks = (size + share - 1) / share;
    if (blocks == 1)
        return launch(reduce_stretch<T, Operator>, 1, threads, stream, array, size, size, result,
                      combine, start, init != nullptr);
    cudaError_t error = cudaMallocAsync(&partial, blocks * sizeof(T), stream);
    if (error) return error;
    error = launch(reduce_stretch<T, Operator>, blocks, threads, stream, array, size, share,
                   partial, combine, start, false);
    if (!error)
        error = launch(reduce_stretch<T, Operator>, 1, threads, stream, partial, blocks, blocks,
                       result, combine, start, init != nullptr);
    cudaError_t freed = cudaFreeAsync(partial, stream);
    return error ? error : freed;
}

#endif
