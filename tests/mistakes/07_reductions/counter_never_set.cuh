/* mistake: the counter behind the partial results is never set to 0
 * fails: Reductions.TheDeviceFindsNothingWrong
 * fails: Reductions.SumOfOneToTenThousandIs50005000
 * finds: never written at "ticket ="
 */
#ifndef REDUCTIONS_CUH
#define REDUCTIONS_CUH

#include "lesson.h"

#include <string.h>

namespace reducing
{

constexpr unsigned block_size = 256, warp_size = 32;

template <typename T> struct Init {
    alignas(T) unsigned char value[sizeof(T)];
    unsigned char present;
};

template <typename T> struct Workspace {
    T *partials;
    unsigned *finished;
};

template <typename T> __device__ T from_above(const T &value, unsigned distance)
{
    constexpr unsigned count = (sizeof(T) + sizeof(unsigned) - 1) / sizeof(unsigned);
    unsigned words[count];
    words[count - 1] = 0;
    memcpy(words, &value, sizeof value);
#pragma unroll
    for (unsigned i = 0; i < count; i++)
        words[i] = __shfl_down_sync(0xffffffffu, words[i], distance);
    T moved;
    memcpy(&moved, words, sizeof moved);
    return moved;
}

template <typename T, typename Operator>
__device__ T across_warp(T value, unsigned valid, const Operator &op)
{
    for (unsigned distance = warp_size / 2; distance > 0; distance /= 2) {
        const T other = from_above(value, distance);
        if (threadIdx.x % warp_size + distance < valid) value = op(value, other);
    }
    return value;
}

/* `valid` threads, the first ones, have a value. All threads of the block call it. */
template <typename T, typename Operator>
__device__ T across_block(T value, unsigned valid, const Operator &op)
{
    __shared__ T of_warp[block_size / warp_size];
    const unsigned warp = threadIdx.x / warp_size, lane = threadIdx.x % warp_size;
    const unsigned before = warp * warp_size;
    const unsigned in_warp = valid > before ? min(valid - before, warp_size) : 0u;

    value = across_warp(value, in_warp, op);
    __syncthreads(); /* the call before this one has read its values */
    if (lane == 0 && in_warp > 0) of_warp[warp] = value;
    __syncthreads();
    if (warp == 0) {
        const unsigned warps = (valid + warp_size - 1) / warp_size;
        if (lane < warps) value = of_warp[lane];
        value = across_warp(value, warps, op);
    }
    return value;
}

template <typename T, typename Operator>
__global__ void __launch_bounds__(block_size)
    reduce(const T *array, size_t size, Workspace<T> work, Init<T> init, T *result, Operator op)
{
    __shared__ unsigned ticket;
    const size_t begin = (size_t)blockIdx.x * block_size + threadIdx.x;
    const size_t stride = (size_t)gridDim.x * block_size;
    const size_t left = size - (size_t)blockIdx.x * block_size;

    T value;
    memset(&value, 0, sizeof value);
    if (begin < size) {
        value = array[begin];
        for (size_t i = begin + stride; i < size; i += stride) value = op(value, array[i]);
    }
    value = across_block(value, left < block_size ? (unsigned)left : block_size, op);

    if (threadIdx.x == 0) {
        work.partials[blockIdx.x] = value;
        __threadfence();
        ticket = atomicAdd(work.finished, 1u);
    }
    __syncthreads();
    if (ticket + 1 != gridDim.x) return;
    __threadfence();

    for (unsigned i = threadIdx.x, first = 1; i < gridDim.x; i += block_size, first = 0)
        value = first ? work.partials[i] : op(value, work.partials[i]);
    value = across_block(value, min(gridDim.x, block_size), op);
    if (threadIdx.x == 0) {
        if (init.present) {
            T other;
            memcpy(&other, init.value, sizeof other);
            value = op(value, other);
        }
        *result = value;
    }
}

template <typename T> __global__ void assign(Init<T> init, T *result)
{
    memcpy(result, init.value, sizeof(T));
}

} // namespace reducing

template <typename T, typename Operator>
cudaError_t Reduction<T, Operator>::operator()(const T *array, size_t size, T *result,
                                               const T *init, cudaStream_t stream) const
{
    using namespace reducing;
    Init<T> start;
    memset(&start, 0, sizeof start);
    if (init != nullptr) {
        memcpy(start.value, init, sizeof(T));
        start.present = 1;
    }
    if (size == 0) {
        void *arguments[] = {&start, &result};
        return init == nullptr
                   ? cudaErrorInvalidValue
                   : cudaLaunchKernel(assign<T>, dim3(1), dim3(1), arguments, 0, stream);
    }

    int device, multiprocessors, resident;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess)
        error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, reduce<T, Operator>,
                                                              block_size, 0);
    if (error != cudaSuccess) return error;

    size_t blocks = (size + block_size - 1) / block_size;
    const size_t full = (size_t)multiprocessors * (resident > 0 ? resident : 1);
    if (blocks > full) blocks = full;

    const size_t counter = (blocks * sizeof(T) + 15) / 16 * 16;
    unsigned char *memory = nullptr;
    error = cudaMallocAsync((void **)&memory, counter + sizeof(unsigned), stream);
    if (error != cudaSuccess) return error;

    Workspace<T> work = {reinterpret_cast<T *>(memory),
                         reinterpret_cast<unsigned *>(memory + counter)};
    Operator op = combine;
    void *arguments[] = {&array, &size, &work, &start, &result, &op};
    error = cudaLaunchKernel(reduce<T, Operator>, dim3((unsigned)blocks), dim3(block_size),
                             arguments, 0, stream);
    const cudaError_t freed = cudaFreeAsync(memory, stream);
    return error != cudaSuccess ? error : freed;
}

#endif
