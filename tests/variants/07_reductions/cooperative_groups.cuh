/* variant: cooperative groups: tiles of 32 that shuffle a value word by word, a block that
 * synchronises through its group; a contiguous stretch for each block; partial results with their
 * number
 *
 * slow on a GPU: Reductions.AsFastAsCub
 */
#ifndef REDUCTIONS_CUH
#define REDUCTIONS_CUH

#include "lesson.h"

#include <cooperative_groups.h>

namespace groups = cooperative_groups;

/* Groups shuffle no more than 32 bytes at a time; a T may have more. */
template <typename T>
__device__ T shuffled(const groups::thread_block_tile<32> &tile, const T &mine, unsigned step)
{
    unsigned words[(sizeof(T) + 3) / 4] = {0};
    T other;
    memcpy((void *)words, (const void *)&mine, sizeof mine);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        words[i] = tile.shfl_down(words[i], step);
    memcpy((void *)&other, (const void *)words, sizeof other);
    return other;
}

/* The values of the first `present` threads of the tile; rank 0 has the answer. */
template <typename T, typename Operator>
__device__ T reduce_tile(const groups::thread_block_tile<32> &tile, T mine, unsigned present,
                         const Operator &combine)
{
    for (unsigned step = 1; step < 32; step *= 2) {
        T other = shuffled(tile, mine, step);
        if (tile.thread_rank() + step < present) mine = combine(mine, other);
    }
    return mine;
}

/* Block b has the elements from b * share on; thread 0 writes to[b]. */
template <typename T, typename Operator>
__global__ void reduce_stretch(const T *from, size_t size, size_t share, T *to, Operator combine,
                               T init, bool with_init)
{
    __shared__ T of_tile[32];
    groups::thread_block block = groups::this_thread_block();
    groups::thread_block_tile<32> tile = groups::tiled_partition<32>(block);
    const size_t begin = blockIdx.x * share, end = min(begin + share, size);
    const unsigned present = (unsigned)min((size_t)block.size(), end - begin);
    const unsigned rank = block.thread_rank();

    T mine = from[begin + (rank < present ? rank : 0)];
    for (size_t i = begin + rank + block.size(); i < end; i += block.size())
        mine = combine(mine, from[i]);
    const unsigned first = tile.meta_group_rank() * 32;
    mine = reduce_tile(tile, mine, present > first ? min(present - first, 32u) : 0, combine);
    if (tile.thread_rank() == 0) of_tile[tile.meta_group_rank()] = mine;
    block.sync();
    if (tile.meta_group_rank() == 0) {
        const unsigned tiles = (present + 31) / 32;
        mine = of_tile[min(tile.thread_rank(), tiles - 1)];
        mine = reduce_tile(tile, mine, tiles, combine);
        if (tile.thread_rank() == 0) to[blockIdx.x] = with_init ? combine(init, mine) : mine;
    }
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
    cudaError_t error = cudaSuccess;

    if (init) start = *init;
    if (size == 0) {
        if (!init) return cudaErrorInvalidValue;
        copy_value<<<1, 1, 0, stream>>>(result, start);
        return cudaGetLastError();
    }
    size_t share = max((size + most - 1) / most, threads * 8);
    const size_t blocks = (size + share - 1) / share;
    if (blocks == 1) {
        reduce_stretch<<<1, threads, 0, stream>>>(array, size, size, result, combine, start,
                                                  init != nullptr);
        return cudaGetLastError();
    }
    error = cudaMallocAsync(&partial, blocks * sizeof(T), stream);
    if (error) return error;
    reduce_stretch<<<(unsigned)blocks, threads, 0, stream>>>(array, size, share, partial, combine,
                                                             start, false);
    reduce_stretch<<<1, threads, 0, stream>>>(partial, blocks, blocks, result, combine, start,
                                              init != nullptr);
    error = cudaGetLastError();
    cudaFreeAsync(partial, stream);
    return error;
}

#endif
