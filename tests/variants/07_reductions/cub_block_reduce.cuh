/* variant: CUB combines what the threads of a block have; a contiguous stretch for each block
 */
#ifndef REDUCTIONS_CUH
#define REDUCTIONS_CUH

#include "lesson.h"

#include <cub/block/block_reduce.cuh>

/* Block b has the elements from b * share on; thread 0 writes to[b]. */
template <typename T, typename Operator>
__global__ void reduce_stretch(const T *from, size_t size, size_t share, T *to, Operator combine,
                               T init, bool with_init)
{
    using Block = cub::BlockReduce<T, 256>;
    __shared__ typename Block::TempStorage shared;
    const size_t begin = blockIdx.x * share, end = min(begin + share, size);
    const unsigned present = (unsigned)min((size_t)256, end - begin), rank = threadIdx.x;

    T mine = from[begin + (rank < present ? rank : 0)];
    for (size_t i = begin + rank + 256; i < end; i += 256) mine = combine(mine, from[i]);
    mine = Block(shared).Reduce(mine, combine, (int)present);
    if (rank == 0) to[blockIdx.x] = with_init ? combine(init, mine) : mine;
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
