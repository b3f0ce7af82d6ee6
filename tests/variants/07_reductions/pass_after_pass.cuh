/* variant: as many passes as it takes, each a 1024th of the one before, between two buffers; init
 * goes in by a kernel of its own; warps give their values to a tree in shared memory
 */
#ifndef REDUCTIONS_CUH
#define REDUCTIONS_CUH

#include "lesson.h"

namespace passes
{

constexpr unsigned THREADS = 128, EACH = 8, SHARE = THREADS * EACH;

/* Block b: elements b * SHARE up to (b + 1) * SHARE, thread by thread with stride THREADS. */
template <typename T, typename Operator>
__global__ void shrink(const T *from, size_t size, T *to, Operator combine)
{
    __shared__ T values[THREADS];
    const size_t begin = (size_t)blockIdx.x * SHARE;
    const size_t left = size - begin;
    const unsigned here = left < SHARE ? (unsigned)left : SHARE;
    const unsigned active = here < THREADS ? here : THREADS;

    if (threadIdx.x < active) {
        T value = from[begin + threadIdx.x];
        for (unsigned i = threadIdx.x + THREADS; i < here; i += THREADS)
            value = combine(value, from[begin + i]);
        values[threadIdx.x] = value;
    }
    for (unsigned count = active; count > 1; count = (count + 1) / 2) {
        __syncthreads();
        const unsigned half = (count + 1) / 2;
        if (threadIdx.x + half < count)
            values[threadIdx.x] = combine(values[threadIdx.x], values[threadIdx.x + half]);
    }
    __syncthreads();
    if (threadIdx.x == 0) to[blockIdx.x] = values[0];
}

template <typename T, typename Operator>
__global__ void finish(const T *value, T *result, Operator combine, T init, bool with_init)
{
    if (value == nullptr)
        *result = init;
    else
        *result = with_init ? combine(init, *value) : *value;
}

} // namespace passes

template <typename T, typename Operator>
cudaError_t Reduction<T, Operator>::operator()(const T *array, size_t size, T *result,
                                               const T *init, cudaStream_t stream) const
{
    if (size == 0 && !init) return cudaErrorInvalidValue;
    T *buffers[2] = {nullptr, nullptr};
    cudaError_t error = cudaSuccess;
    const T *from = size > 0 ? array : nullptr;
    size_t room = (size + passes::SHARE - 1) / passes::SHARE;
    int which = 0;
    T start;
    if (init) start = *init;

    for (int i = 0; i < 2 && size > 1 && error == cudaSuccess; i++)
        error = cudaMallocAsync((void **)&buffers[i], room * sizeof(T), stream);
    while (error == cudaSuccess && size > 1) {
        const size_t blocks = (size + passes::SHARE - 1) / passes::SHARE;
        passes::shrink<<<(unsigned)blocks, passes::THREADS, 0, stream>>>(from, size, buffers[which],
                                                                         combine);
        error = cudaPeekAtLastError();
        from = buffers[which];
        size = blocks;
        which = 1 - which;
    }
    if (error == cudaSuccess) {
        passes::finish<<<1, 1, 0, stream>>>(from, result, combine, start, init != nullptr);
        error = cudaPeekAtLastError();
    }
    for (T *buffer : buffers)
        if (buffer) cudaFreeAsync(buffer, stream);
    return error;
}

#endif
