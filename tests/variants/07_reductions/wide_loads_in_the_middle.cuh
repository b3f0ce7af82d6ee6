/* variant: single elements at both ends, wide loads between them
 * orders: 3
 */
#ifndef REDUCTIONS_CUH
#define REDUCTIONS_CUH

#include "lesson.h"

#include <stdint.h>
#include <string.h>

namespace wide
{

constexpr unsigned threads = 256;

/* A value, or none: nothing is known of an identity that could stand for none. */
template <typename T> struct Perhaps {
    T value;
    bool is;

    template <typename Operator> __device__ void add(const T &other, const Operator &combine)
    {
        value = is ? combine(value, other) : other;
        is = true;
    }
};

template <typename T> struct Init {
    alignas(T) unsigned char bytes[sizeof(T)];
    bool is;
};

/* How an array is cut: [0, head) and [tail, size) one by one, `vectors` loads of `each` elements
 * between them. */
struct Cut {
    size_t head, vectors, tail, size;
};

template <typename T>
constexpr unsigned each = sizeof(T) < 16 && 16 % sizeof(T) == 0 ? 16 / sizeof(T) : 1;

template <typename T> Cut cut(const T *array, size_t size)
{
    const size_t over = (uintptr_t)array % 16, missing = (16 - over) % 16;
    Cut c = {0, 0, 0, size};
    if (each<T> == 1 || missing % sizeof(T) != 0) return c; /* all of it is tail */
    c.head = missing / sizeof(T) < size ? missing / sizeof(T) : size;
    c.vectors = (size - c.head) / each<T>;
    c.tail = c.head + c.vectors * each<T>;
    return c;
}

template <typename T, typename Operator>
__device__ void reduce_warp(Perhaps<T> &mine, const Operator &combine)
{
    constexpr unsigned n = (sizeof(T) + 3) / 4;
    for (unsigned offset = 16; offset > 0; offset /= 2) {
        unsigned words[n] = {};
        memcpy(words, &mine.value, sizeof(T));
#pragma unroll
        for (unsigned k = 0; k < n; k++) words[k] = __shfl_down_sync(0xffffffffu, words[k], offset);
        const unsigned is = __shfl_down_sync(0xffffffffu, mine.is ? 1u : 0u, offset);

        /* A lane whose partner would be past the warp has got its own value back. */
        if (is && threadIdx.x % 32 + offset < 32) {
            T other;
            memcpy(&other, words, sizeof(T));
            mine.add(other, combine);
        }
    }
}

template <typename T, typename Operator>
__device__ void reduce_block(Perhaps<T> &mine, const Operator &combine)
{
    __shared__ T values[threads / 32];
    __shared__ bool are[threads / 32];
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    reduce_warp(mine, combine);
    if (lane == 0) {
        are[warp] = mine.is;
        if (mine.is) values[warp] = mine.value;
    }
    __syncthreads();
    if (warp == 0) {
        mine.is = lane < threads / 32 && are[lane];
        if (mine.is) mine.value = values[lane];
        reduce_warp(mine, combine);
    }
}

template <typename T, typename Operator>
__global__ void __launch_bounds__(threads)
    reduce(const T *array, Cut cut, T *out, Init<T> init, Operator combine)
{
    constexpr unsigned n = each<T>;
    const size_t me = (size_t)blockIdx.x * threads + threadIdx.x;
    const size_t all = (size_t)gridDim.x * threads;
    Perhaps<T> mine;
    memset(&mine.value, 0, sizeof mine.value);
    mine.is = false;

    if constexpr (n > 1) {
        const uint4 *vectors = reinterpret_cast<const uint4 *>(array + cut.head);
        size_t v = me;
        for (; v + all < cut.vectors; v += 2 * all) {
            const uint4 two[2] = {vectors[v], vectors[v + all]};
            T elements[2 * n];
            memcpy(elements, two, sizeof two);
#pragma unroll
            for (unsigned k = 0; k < 2 * n; k++) mine.add(elements[k], combine);
        }
        if (v < cut.vectors) {
            const uint4 one = vectors[v];
            T elements[n];
            memcpy(elements, &one, sizeof one);
#pragma unroll
            for (unsigned k = 0; k < n; k++) mine.add(elements[k], combine);
        }
        if (me < cut.head) mine.add(array[me], combine);
    }
    size_t i = cut.tail + me;
    for (; i + 3 * all < cut.size; i += 4 * all) {
        const T a = array[i], b = array[i + all], c = array[i + 2 * all], d = array[i + 3 * all];
        mine.add(combine(combine(a, b), combine(c, d)), combine);
    }
    for (; i < cut.size; i += all) mine.add(array[i], combine);

    reduce_block(mine, combine);
    if (threadIdx.x == 0) {
        if (init.is) {
            T extra;
            memcpy(&extra, init.bytes, sizeof extra);
            mine.add(extra, combine);
        }
        out[blockIdx.x] = mine.value;
    }
}

} // namespace wide

template <typename T, typename Operator>
cudaError_t Reduction<T, Operator>::operator()(const T *array, size_t size, T *result,
                                               const T *init, cudaStream_t stream) const
{
    wide::Init<T> none, start;
    memset(&none, 0, sizeof none);
    start = none;
    if (init) {
        memcpy(start.bytes, init, sizeof(T));
        start.is = true;
    }
    if (size == 0 && !init) return cudaErrorInvalidValue;

    const auto launch = [&](size_t blocks, const T *in, wide::Cut cut, T *out,
                            wide::Init<T> first) {
        Operator op = combine;
        void *arguments[] = {&in, &cut, &out, &first, &op};
        return cudaLaunchKernel(wide::reduce<T, Operator>, dim3((unsigned)blocks),
                                dim3(wide::threads), arguments, 0, stream);
    };

    /* A block for each `threads` loads, so that none is without an element; head and tail, fewer
     * than 16 elements each where there are vectors, are then the first block's. */
    const wide::Cut cut = wide::cut(array, size);
    const size_t loads = cut.vectors > 0 ? cut.vectors : cut.size;
    size_t blocks = loads > 0 ? (loads - 1) / wide::threads + 1 : 1;
    if (blocks == 1) return launch(1, array, cut, result, start);

    int device = 0, processors = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (!error) error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error) return error;
    if (blocks > 8 * (size_t)processors) blocks = 8 * (size_t)processors;

    T *partial = nullptr;
    error = cudaMallocAsync((void **)&partial, blocks * sizeof(T), stream);
    if (error) return error;
    error = launch(blocks, array, cut, partial, none);
    if (!error) error = launch(1, partial, wide::cut<T>(partial, blocks), result, start);
    const cudaError_t freed = cudaFreeAsync(partial, stream);
    return error ? error : freed;
}

#endif
