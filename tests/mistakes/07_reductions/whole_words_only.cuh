/* mistake: of a type the whole words are shuffled, and the bytes behind them are not
 * fails: Reductions.AnyOperatorAndTypeWork
 * finds: nothing, every byte is written
 */
#ifndef REDUCTIONS_CUH
#define REDUCTIONS_CUH

#include "lesson.h"

#include <string.h>

enum { block_of_threads = 256 };

template <typename T> struct Optional {
    alignas(T) unsigned char storage[sizeof(T)];
    bool has;
};

template <typename T> __device__ T get_from(const T &value, unsigned down)
{
    unsigned buffer[16] = {};
    memcpy(buffer, &value, sizeof(T));
#pragma unroll
    for (int w = 0; w < (int)(sizeof(T) / sizeof(unsigned)); w++)
        buffer[w] = __shfl_down_sync(0xffffffffu, buffer[w], down);
    T got;
    memcpy(&got, buffer, sizeof(T));
    return got;
}

template <typename T, typename Operator>
__device__ T fold_warp(T value, unsigned members, const Operator &op)
{
#pragma unroll
    for (unsigned down = 16; down >= 1; down >>= 1) {
        const T got = get_from(value, down);
        if ((threadIdx.x & 31) + down < members) value = op(value, got);
    }
    return value;
}

template <typename T, typename Operator>
__global__ void __launch_bounds__(block_of_threads)
    fold(const T *in, size_t size, T *out, Optional<T> init, Operator op)
{
    __shared__ T shared[block_of_threads / 32];
    const size_t begin = (size_t)blockIdx.x * block_of_threads;
    const unsigned members =
        size - begin < block_of_threads ? (unsigned)(size - begin) : (unsigned)block_of_threads;
    const unsigned warp = threadIdx.x >> 5;

    T value;
    memset(&value, 0, sizeof value);
    if (threadIdx.x < members) {
        const size_t stride = (size_t)gridDim.x * block_of_threads;
        value = in[begin + threadIdx.x];
        for (size_t i = begin + threadIdx.x + stride; i < size; i += stride)
            value = op(value, in[i]);
    }
    const unsigned of_warp = members > 32 * warp ? members - 32 * warp : 0;
    value = fold_warp(value, of_warp > 32 ? 32 : of_warp, op);
    if (of_warp > 0 && (threadIdx.x & 31) == 0) shared[warp] = value;
    __syncthreads();
    if (threadIdx.x >= 32) return;

    const unsigned warps = (members + 31) >> 5;
    if (threadIdx.x < warps) value = shared[threadIdx.x];
    value = fold_warp(value, warps, op);
    if (threadIdx.x == 0) {
        if (init.has) {
            T start;
            memcpy(&start, init.storage, sizeof start);
            value = op(start, value);
        }
        out[blockIdx.x] = value;
    }
}

template <typename T> __global__ void write(Optional<T> init, T *out)
{
    memcpy(out, init.storage, sizeof(T));
}

template <typename T, typename Operator>
cudaError_t Reduction<T, Operator>::operator()(const T *array, size_t size, T *result,
                                               const T *init, cudaStream_t stream) const
{
    Optional<T> some, none;
    memset(&none, 0, sizeof none);
    some = none;
    if (init) {
        memcpy(some.storage, init, sizeof(T));
        some.has = true;
    }
    if (size == 0) {
        if (!some.has) return cudaErrorInvalidValue;
        void *arguments[] = {&some, &result};
        return cudaLaunchKernel(write<T>, dim3(1), dim3(1), arguments, 0, stream);
    }

    Operator op = combine;
    const dim3 threads(block_of_threads);
    size_t blocks = (size - 1) / block_of_threads + 1;
    if (blocks > 1320) blocks = 1320;

    T *partial = nullptr;
    cudaError_t error = cudaMallocAsync((void **)&partial, blocks * sizeof(T), stream);
    if (error != cudaSuccess) return error;

    void *each[] = {&array, &size, &partial, &none, &op};
    void *all[] = {&partial, &blocks, &result, &some, &op};
    error = cudaLaunchKernel(fold<T, Operator>, dim3((unsigned)blocks), threads, each, 0, stream);
    if (error == cudaSuccess)
        error = cudaLaunchKernel(fold<T, Operator>, dim3(1), threads, all, 0, stream);
    const cudaError_t freed = cudaFreeAsync(partial, stream);
    return error != cudaSuccess ? error : freed;
}

#endif
