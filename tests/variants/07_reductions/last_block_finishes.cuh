/* variant: one kernel; the last block to finish combines the results of all. Trees in shared
 * memory, no shuffles; scalar loads
 */
#ifndef REDUCTIONS_CUH
#define REDUCTIONS_CUH

#include "lesson.h"

constexpr int BLOCK = 512;

template <typename T, typename Operator>
__device__ T tree(T mine, unsigned present, T *shared, const Operator &combine)
{
    shared[threadIdx.x] = mine;
    __syncthreads();
    for (unsigned half = BLOCK / 2; half > 0; half /= 2) {
        if (threadIdx.x < half && threadIdx.x + half < present)
            shared[threadIdx.x] = combine(shared[threadIdx.x], shared[threadIdx.x + half]);
        __syncthreads();
    }
    return shared[0];
}

/* The threads of a block that have an element are the first ones. */
template <typename T, typename Operator>
__global__ void reduce_all(const T *array, size_t size, T *result, T *partial, unsigned *finished,
                           Operator combine, T init, bool with_init)
{
    __shared__ T shared[BLOCK];
    __shared__ bool last;
    size_t first = (size_t)blockIdx.x * BLOCK, stride = (size_t)gridDim.x * BLOCK;
    size_t left = first < size ? size - first : 0;
    unsigned present = left < BLOCK ? (unsigned)left : BLOCK;
    T mine;

    if (threadIdx.x < present) {
        mine = array[first + threadIdx.x];
        for (size_t i = first + threadIdx.x + stride; i < size; i += stride)
            mine = combine(mine, array[i]);
    }
    mine = tree(mine, present, shared, combine);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = mine;
        __threadfence();
        last = atomicAdd(finished, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;

    __threadfence();
    present = gridDim.x < BLOCK ? gridDim.x : BLOCK;
    if (threadIdx.x < present) {
        mine = partial[threadIdx.x];
        for (unsigned i = threadIdx.x + BLOCK; i < gridDim.x; i += BLOCK)
            mine = combine(mine, partial[i]);
    }
    mine = tree(mine, present, shared, combine);
    if (threadIdx.x == 0) *result = with_init ? combine(mine, init) : mine;
}

template <typename T> __global__ void store(T *result, T value)
{
    *result = value;
}

template <typename T, typename Operator>
cudaError_t Reduction<T, Operator>::operator()(const T *array, size_t size, T *result,
                                               const T *init, cudaStream_t stream) const
{
    if (size == 0) {
        if (init == nullptr) return cudaErrorInvalidValue;
        store<<<1, 1, 0, stream>>>(result, *init);
        return cudaGetLastError();
    }
    size_t wanted = (size + BLOCK * 8 - 1) / (BLOCK * 8);
    unsigned blocks = wanted < 500 ? (unsigned)wanted : 500;
    size_t room = (blocks * sizeof(T) + 15) / 16 * 16;
    char *scratch = nullptr;
    T start;
    if (init != nullptr) start = *init;

    cudaError_t error = cudaMallocAsync((void **)&scratch, room + sizeof(unsigned), stream);
    if (error != cudaSuccess) return error;
    error = cudaMemsetAsync(scratch + room, 0, sizeof(unsigned), stream);
    if (error == cudaSuccess) {
        reduce_all<<<blocks, BLOCK, 0, stream>>>(array, size, result, (T *)scratch,
                                                 (unsigned *)(scratch + room), combine, start,
                                                 init != nullptr);
        error = cudaGetLastError();
    }
    cudaError_t freed = cudaFreeAsync(scratch, stream);
    return error != cudaSuccess ? error : freed;
}

#endif
