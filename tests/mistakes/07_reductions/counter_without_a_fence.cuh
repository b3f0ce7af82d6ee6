/* mistake: the block's value is not fenced off before the counter
 * fails: Reductions.TheDeviceFindsNothingWrong
 * finds: race between blocks at "partial[threadIdx.x];"
 * finds: race between blocks at "partial[blockIdx.x] = value"
 */
#ifndef REDUCTIONS_CUH
#define REDUCTIONS_CUH

#include "lesson.h"

#include <string.h>

enum { reduction_threads = 256, reduction_counter_bytes = 64 };

template <typename T> struct Extra {
    alignas(T) unsigned char bytes[sizeof(T)];
    int there;
};

/* Reduces the values of the threads below `count`; thread 0 returns the result. Ends with the
 * shared memory free to be used again. */
template <typename T, typename Operator>
__device__ T block_reduce(T *shared, const T &mine, unsigned count, const Operator &combine)
{
    if (threadIdx.x < count) shared[threadIdx.x] = mine;
    __syncthreads();
    while (count > 1) {
        const unsigned half = (count + 1) / 2;
        if (threadIdx.x + half < count)
            shared[threadIdx.x] = combine(shared[threadIdx.x], shared[threadIdx.x + half]);
        __syncthreads();
        count = half;
    }
    T result = shared[0];
    __syncthreads();
    return result;
}

template <typename T, typename Operator>
__global__ void reduce_all(const T *array, size_t size, T *partial, unsigned *tickets,
                           Extra<T> extra, T *result, Operator combine)
{
    __shared__ T shared[reduction_threads];
    __shared__ bool last;
    const size_t begin = (size_t)blockIdx.x * reduction_threads;
    const size_t stride = (size_t)gridDim.x * reduction_threads;
    unsigned count =
        size - begin < reduction_threads ? (unsigned)(size - begin) : (unsigned)reduction_threads;
    T value;
    memset(&value, 0, sizeof value);
    if (threadIdx.x < count) {
        size_t i = begin + threadIdx.x;
        value = array[i];
        for (i += stride; i < size; i += stride) value = combine(value, array[i]);
    }
    value = block_reduce(shared, value, count, combine);

    if (threadIdx.x == 0) {
        partial[blockIdx.x] = value;
        last = atomicAdd(tickets, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;

    count = gridDim.x < reduction_threads ? gridDim.x : (unsigned)reduction_threads;
    if (threadIdx.x < count) {
        value = partial[threadIdx.x];
        for (unsigned i = threadIdx.x + reduction_threads; i < gridDim.x; i += reduction_threads)
            value = combine(value, partial[i]);
    }
    value = block_reduce(shared, value, count, combine);
    if (threadIdx.x == 0) {
        if (extra.there) {
            T element;
            memcpy(&element, extra.bytes, sizeof element);
            value = combine(value, element);
        }
        *result = value;
    }
}

template <typename T> __global__ void reduce_nothing(Extra<T> extra, T *result)
{
    memcpy(result, extra.bytes, sizeof(T));
}

template <typename T, typename Operator>
cudaError_t Reduction<T, Operator>::operator()(const T *array, size_t size, T *result,
                                               const T *init, cudaStream_t stream) const
{
    Extra<T> extra;
    Operator op = combine;
    memset(&extra, 0, sizeof extra);
    if (init) {
        extra.there = 1;
        memcpy(extra.bytes, init, sizeof(T));
    } else if (size == 0) {
        return cudaErrorInvalidValue;
    }
    if (size == 0) {
        void *arguments[] = {&extra, &result};
        return cudaLaunchKernel(reduce_nothing<T>, dim3(1), dim3(1), arguments, 0, stream);
    }

    int device = 0, processors = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (!error) error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error) return error;

    size_t blocks = (size - 1) / reduction_threads + 1;
    const size_t enough = (size_t)processors * 6;
    if (blocks > enough) blocks = enough;

    char *memory = NULL;
    error = cudaMallocAsync((void **)&memory, reduction_counter_bytes + blocks * sizeof(T), stream);
    if (error) return error;
    unsigned *tickets = (unsigned *)memory;
    T *partial = (T *)(memory + reduction_counter_bytes);

    error = cudaMemsetAsync(tickets, 0, sizeof *tickets, stream);
    if (!error) {
        void *arguments[] = {&array, &size, &partial, &tickets, &extra, &result, &op};
        error = cudaLaunchKernel(reduce_all<T, Operator>, dim3((unsigned)blocks),
                                 dim3(reduction_threads), arguments, 0, stream);
    }
    cudaError_t freed = cudaFreeAsync(memory, stream);
    return error ? error : freed;
}

#endif
