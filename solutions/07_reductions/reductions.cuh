/* Lesson 07, one solution: two passes of one kernel.
 *
 * The first pass is a grid just large enough to fill the device; each block leaves one partial
 * result. The second pass is a single block that combines the partial results, and `init`. Between
 * them lies nothing but the stream's order: a kernel begins when the one before it has ended.
 */
#ifndef REDUCTIONS_CUH
#define REDUCTIONS_CUH

#include "lesson.h"

#include <stdint.h>
#include <string.h>

namespace reduction
{

constexpr unsigned THREADS = 256; /* per block */
constexpr unsigned WARPS = THREADS / 32;
constexpr unsigned BLOCKS_PER_MULTIPROCESSOR = 8; /* 8 x 256 threads fill one */
constexpr unsigned IN_FLIGHT = 4; /* loads that a thread has asked for before it uses the first */
constexpr size_t TILE = (size_t)THREADS * IN_FLIGHT; /* loads of a block that lie side by side */

/* A value that may not be there yet. With this nothing has to be known of an identity element: a
 * thread that met no element says so, instead of adding a 0 that spoils a product or a maximum. */
template <typename T> struct Maybe {
    T value;
    bool there;
};

template <typename T, typename Operator>
__device__ void take(Maybe<T> &mine, const T &value, const Operator &combine)
{
    mine.value = mine.there ? combine(mine.value, value) : value;
    mine.there = true;
}

/* As many elements as one load instruction can bring: 16 bytes where T's size and alignment allow
 * it. A T that is aligned to less than its size may begin where no step of whole Ts leads to a
 * 16-byte boundary. */
template <typename T> struct Pack {
    static constexpr unsigned COUNT =
        sizeof(T) <= 8 && alignof(T) == sizeof(T) ? 16 / sizeof(T) : 1;
    alignas(COUNT == 1 ? alignof(T) : 16) T items[COUNT];
};

/* Its elements are combined with each other first: a question less for each. */
template <typename T, typename Operator>
__device__ void take_pack(Maybe<T> &mine, const Pack<T> &pack, const Operator &combine)
{
    T value = pack.items[0];
#pragma unroll
    for (unsigned item = 1; item < Pack<T>::COUNT; item++) value = combine(value, pack.items[item]);
    take(mine, value, combine);
}

/* A shuffle moves 32-bit words; a T of any size goes over in as many as it takes. */
template <typename T> __device__ T shuffle_down(const T &value, unsigned lanes)
{
    unsigned words[(sizeof(T) + 3) / 4] = {};
    memcpy(words, &value, sizeof(T));
    for (unsigned &word : words) word = __shfl_down_sync(0xffffffffu, word, lanes);
    T other;
    memcpy(&other, words, sizeof(T));
    return other;
}

/* Lane 0 ends up with all that the warp's lanes had. All 32 lanes must call it. */
template <typename T, typename Operator>
__device__ void combine_warp(Maybe<T> &mine, const Operator &combine)
{
    for (unsigned lanes = 16; lanes > 0; lanes /= 2) {
        T value = shuffle_down(mine.value, lanes);
        bool there = __shfl_down_sync(0xffffffffu, mine.there, lanes);
        if (there) take(mine, value, combine);
    }
}

/* Thread 0 ends up with all that the block's threads had. */
template <typename T, typename Operator>
__device__ void combine_block(Maybe<T> &mine, const Operator &combine)
{
    __shared__ Maybe<T> of_warp[WARPS];
    unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    combine_warp(mine, combine);
    if (lane == 0) of_warp[warp] = mine;
    __syncthreads(); /* the first warp reads what the others wrote */
    if (warp == 0) {
        mine.there = false;
        if (lane < WARPS) mine = of_warp[lane];
        combine_warp(mine, combine);
    }
}

/* Block b combines its share of array[0 .. size) into results[b]; `init`, if `with_init`, is
 * combined in by block 0, so only a grid of one block may have it. */
template <typename T, typename Operator>
__global__ void pass(const T *array, size_t size, T *results, Operator combine, T init,
                     bool with_init)
{
    Maybe<T> mine;
    mine.there = false;

    /* The array is aligned as T is. A load of a whole pack wants more: up to the first aligned
     * pack, and after the last whole one, elements go one by one. */
    size_t before = 0;
    if (Pack<T>::COUNT > 1) {
        size_t misaligned = (uintptr_t)array % sizeof(Pack<T>);
        if (misaligned) before = (sizeof(Pack<T>) - misaligned) / sizeof(T);
        if (before > size) before = size;
    }
    size_t packs = (size - before) / Pack<T>::COUNT;
    size_t after = before + packs * Pack<T>::COUNT;
    const Pack<T> *pack = (const Pack<T> *)(array + before);

    /* Neighbouring threads read neighbouring packs, and each thread asks for several before it
     * looks at the first: it is the bytes in flight that fill the memory's bandwidth. All that a
     * block asks for at a time lies together, so that memory has few pages open. Hints of what the
     * caches need not keep were measured, too, and cost 5 %. */
    for (size_t tile = blockIdx.x; tile * TILE < packs; tile += gridDim.x) {
        const size_t first = tile * TILE + threadIdx.x;
        if (tile * TILE + TILE > packs) { /* the last, which is not full */
            for (size_t i = first; i < packs; i += THREADS) take_pack(mine, pack[i], combine);
            break;
        }
        Pack<T> loaded[IN_FLIGHT];
#pragma unroll
        for (unsigned k = 0; k < IN_FLIGHT; k++) loaded[k] = pack[first + k * THREADS];
#pragma unroll
        for (unsigned k = 0; k < IN_FLIGHT; k++) take_pack(mine, loaded[k], combine);
    }
    /* The last block is the one that may have no tile. */
    if (blockIdx.x == gridDim.x - 1) {
        if (threadIdx.x < before) take(mine, array[threadIdx.x], combine);
        if (threadIdx.x < size - after) take(mine, array[after + threadIdx.x], combine);
    }

    combine_block(mine, combine);
    if (threadIdx.x == 0) {
        if (with_init) take(mine, init, combine);
        if (mine.there) results[blockIdx.x] = mine.value;
    }
}

/* The launch's own error comes back, and none that an earlier call left behind, as would with
 * cudaGetLastError after <<<>>>. */
template <typename T, typename Operator>
cudaError_t launch(unsigned blocks, const T *array, size_t size, T *results, Operator combine,
                   const T *init, cudaStream_t stream)
{
    T start;
    memset((void *)&start, 0, sizeof start);
    if (init) start = *init; /* by value into the launch: the caller's may be gone by then */
    bool with_init = init != NULL;
    void *arguments[] = {&array, &size, &results, &combine, &start, &with_init};
    return cudaLaunchKernel((const void *)pass<T, Operator>, dim3(blocks), dim3(THREADS), arguments,
                            0, stream);
}

} // namespace reduction

template <typename T, typename Operator>
cudaError_t Reduction<T, Operator>::operator()(const T *array, size_t size, T *result,
                                               const T *init, cudaStream_t stream) const
{
    if (!result || (size == 0 && !init) || (size > 0 && !array)) return cudaErrorInvalidValue;

    int device = 0, multiprocessors = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error) return error;
    error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (error) return error;

    /* No more blocks than have something to do, so that every block has a result; and no more than
     * the device runs at once, so that the second pass has little to do. */
    size_t a_block = reduction::TILE * reduction::Pack<T>::COUNT;
    size_t blocks = (size + a_block - 1) / a_block;
    size_t most = (size_t)multiprocessors * reduction::BLOCKS_PER_MULTIPROCESSOR;
    if (blocks > most) blocks = most;
    if (blocks <= 1) return reduction::launch(1, array, size, result, combine, init, stream);

    /* From the stream's own pool, and back to it in stream order: cudaFree would wait for the whole
     * device to be idle, and so for everybody else's work. */
    T *partial = NULL;
    error = cudaMallocAsync((void **)&partial, blocks * sizeof *partial, stream);
    if (error) return error;
    error =
        reduction::launch((unsigned)blocks, array, size, partial, combine, (const T *)NULL, stream);
    if (!error) error = reduction::launch(1, partial, blocks, result, combine, init, stream);
    cudaError_t freed = cudaFreeAsync(partial, stream);
    return error ? error : freed;
}

#endif
