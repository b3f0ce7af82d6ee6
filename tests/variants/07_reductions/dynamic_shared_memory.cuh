/* variant: a tree in dynamic shared memory, as large as the launch says; 128 threads a block
 *
 * slow on a GPU: Reductions.AsFastAsCub
 * slow on a GPU: Reductions.AsFastAsTheReference
 */
#ifndef REDUCTIONS_CUH
#define REDUCTIONS_CUH

#include "lesson.h"

/* Block b has the elements from b * share on; thread 0 writes to[b]. Room for a T per thread. */
template <typename T, typename Operator>
__global__ void reduce_stretch(const T *from, size_t size, size_t share, T *to, Operator combine,
                               T init, bool with_init)
{
    extern __shared__ __align__(16) unsigned char room[];
    T *shared = (T *)room;
    const size_t begin = blockIdx.x * share, end = min(begin + share, size);
    const unsigned threads = blockDim.x, rank = threadIdx.x;
    unsigned present = (unsigned)min((size_t)threads, end - begin);

    if (rank < present) {
        T mine = from[begin + rank];
        for (size_t i = begin + rank + threads; i < end; i += threads)
            mine = combine(mine, from[i]);
        shared[rank] = mine;
    }
    /* The upper half is folded onto the lower one; with an odd number the middle stays. */
    while (present > 1) {
        const unsigned half = (present + 1) / 2;
        __syncthreads();
        if (rank + half < present) shared[rank] = combine(shared[rank], shared[rank + half]);
        present = half;
    }
    if (rank == 0) to[blockIdx.x] = with_init ? combine(init, shared[0]) : shared[0];
}

template <typename T> __global__ void copy_value(T *to, T value)
{
    *to = value;
}

template <typename T, typename Operator>
cudaError_t Reduction<T, Operator>::operator()(const T *array, size_t size, T *result,
                                               const T *init, cudaStream_t stream) const
{
    const size_t threads = 128, most = 512;
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
        reduce_stretch<<<1, threads, threads * sizeof(T), stream>>>(
            array, size, size, result, combine, start, init != nullptr);
        return cudaGetLastError();
    }
    error = cudaMallocAsync(&partial, blocks * sizeof(T), stream);
    if (error) return error;
    reduce_stretch<<<(unsigned)blocks, threads, threads * sizeof(T), stream>>>(
        array, size, share, partial, combine, start, false);
    reduce_stretch<<<1, threads, threads * sizeof(T), stream>>>(partial, blocks, blocks, result,
                                                                combine, start, init != nullptr);
    error = cudaGetLastError();
    cudaFreeAsync(partial, stream);
    return error;
}

#endif
