/* mistake: init is combined in by both passes
 * fails: Reductions.InitIsUsedOnce
 * finds: nothing, the numbers are at fault
 */
#ifndef REDUCTIONS_CUH
#define REDUCTIONS_CUH

#include "lesson.h"

#include <string.h>

#define REDUCTION_THREADS 256

/* The start value travels as an argument of the kernel: read now, used whenever. */
template <typename T> struct Start {
    alignas(T) unsigned char bytes[sizeof(T)];
    int present;
};

template <typename T> __device__ T shuffle_down(const T &value, unsigned offset)
{
    unsigned words[(sizeof(T) + 3) / 4] = {};
    memcpy(words, &value, sizeof(T));
    for (unsigned &word : words) word = __shfl_down_sync(0xffffffffu, word, offset);
    T other;
    memcpy(&other, words, sizeof(T));
    return other;
}

/* Of the first `count` lanes; the result is lane 0's. */
template <typename T, typename Operator>
__device__ T reduce_warp(T value, unsigned count, const Operator &combine)
{
    const unsigned lane = threadIdx.x % 32;
    for (unsigned offset = 16; offset > 0; offset /= 2) {
        T other = shuffle_down(value, offset);
        if (lane + offset < count) value = combine(value, other);
    }
    return value;
}

template <typename T, typename Operator>
__global__ void reduce_blocks(const T *in, size_t size, T *out, Start<T> start, Operator combine)
{
    __shared__ T shared[REDUCTION_THREADS / 32];
    const size_t begin = (size_t)blockIdx.x * REDUCTION_THREADS;
    const size_t stride = (size_t)gridDim.x * REDUCTION_THREADS;
    const unsigned owners =
        size - begin < REDUCTION_THREADS ? (unsigned)(size - begin) : REDUCTION_THREADS;
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;

    T value;
    memset(&value, 0, sizeof value);
    if (threadIdx.x < owners) {
        size_t i = begin + threadIdx.x;
        value = in[i];
        for (i += stride; i < size; i += stride) value = combine(value, in[i]);
    }

    const unsigned lanes = owners > warp * 32 ? min(owners - warp * 32, 32u) : 0;
    value = reduce_warp(value, lanes, combine);
    if (lane == 0 && lanes > 0) shared[warp] = value;
    __syncthreads();

    if (warp == 0) {
        const unsigned warps = (owners + 31) / 32;
        if (lane < warps) value = shared[lane];
        value = reduce_warp(value, warps, combine);
        if (lane == 0) {
            if (start.present && blockIdx.x == 0) {
                T first;
                memcpy(&first, start.bytes, sizeof first);
                value = combine(first, value);
            }
            out[blockIdx.x] = value;
        }
    }
}

template <typename T> __global__ void store_start(Start<T> start, T *result)
{
    memcpy(result, start.bytes, sizeof(T));
}

template <typename T, typename Operator>
cudaError_t Reduction<T, Operator>::operator()(const T *array, size_t size, T *result,
                                               const T *init, cudaStream_t stream) const
{
    Start<T> start;
    Operator op = combine;

    memset(&start, 0, sizeof start);
    if (init) {
        memcpy(start.bytes, init, sizeof(T));
        start.present = 1;
    }
    if (size == 0) {
        if (!init) return cudaErrorInvalidValue;
        void *arguments[] = {&start, &result};
        return cudaLaunchKernel(store_start<T>, dim3(1), dim3(1), arguments, 0, stream);
    }

    int device, processors;
    cudaError_t error = cudaGetDevice(&device);
    if (error) return error;
    error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error) return error;

    size_t blocks = (size + REDUCTION_THREADS - 1) / REDUCTION_THREADS;
    if (blocks > (size_t)processors * 8) blocks = (size_t)processors * 8;
    if (blocks == 1) {
        void *arguments[] = {&array, &size, &result, &start, &op};
        return cudaLaunchKernel(reduce_blocks<T, Operator>, dim3(1), dim3(REDUCTION_THREADS),
                                arguments, 0, stream);
    }

    T *partial;
    error = cudaMallocAsync((void **)&partial, blocks * sizeof(T), stream);
    if (error) return error;

    void *first[] = {&array, &size, &partial, &start, &op};
    error = cudaLaunchKernel(reduce_blocks<T, Operator>, dim3((unsigned)blocks),
                             dim3(REDUCTION_THREADS), first, 0, stream);
    if (!error) {
        void *second[] = {&partial, &blocks, &result, &start, &op};
        error = cudaLaunchKernel(reduce_blocks<T, Operator>, dim3(1), dim3(REDUCTION_THREADS),
                                 second, 0, stream);
    }
    cudaError_t freed = cudaFreeAsync(partial, stream);
    return error ? error : freed;
}

#endif
