/* mistake: 1024 elements of 64 bytes are more shared memory than a launch has
 * fails: Reductions.AnyOperatorAndTypeWork
 * finds: invalid launch at "return cudaLaunchKernel(kernel<T"
 */
#ifndef REDUCTIONS_CUH
#define REDUCTIONS_CUH

#include "lesson.h"

#include <string.h>

namespace shm
{

enum : unsigned { threads = 1024 };

template <typename T> struct Value {
    alignas(T) unsigned char bytes[sizeof(T)];
    bool exists;
};

extern __shared__ __align__(64) unsigned char dynamic[];

template <typename T, typename Operator>
__global__ void __launch_bounds__(threads)
    kernel(const T *from, size_t size, T *to, Value<T> init, Operator op)
{
    T *cells = reinterpret_cast<T *>(dynamic);
    const unsigned t = threadIdx.x;
    const size_t base = (size_t)blockIdx.x * threads, stride = (size_t)gridDim.x * threads;
    const unsigned filled = size - base > threads ? (unsigned)threads : (unsigned)(size - base);

    if (t < filled) {
        T cell = from[base + t];
        for (size_t i = base + t + stride; i < size; i += stride) cell = op(cell, from[i]);
        cells[t] = cell;
    }
    for (unsigned gap = threads / 2; gap >= 1; gap >>= 1) {
        __syncthreads();
        if (t < gap && t + gap < filled) cells[t] = op(cells[t], cells[t + gap]);
    }
    if (t == 0) {
        if (init.exists) {
            T extra;
            memcpy(&extra, init.bytes, sizeof extra);
            to[blockIdx.x] = op(cells[0], extra);
        } else {
            to[blockIdx.x] = cells[0];
        }
    }
}

template <typename T> __global__ void put(T *to, Value<T> init)
{
    memcpy(to, init.bytes, sizeof(T));
}

template <typename T, typename Operator>
cudaError_t run(size_t blocks, const T *from, size_t size, T *to, Value<T> init, Operator op,
                cudaStream_t stream)
{
    void *arguments[] = {&from, &size, &to, &init, &op};
    return cudaLaunchKernel(kernel<T, Operator>, dim3((unsigned)blocks), dim3(threads), arguments,
                            threads * sizeof(T), stream);
}

} // namespace shm

template <typename T, typename Operator>
cudaError_t Reduction<T, Operator>::operator()(const T *array, size_t size, T *result,
                                               const T *init, cudaStream_t stream) const
{
    shm::Value<T> value, absent;
    memset(&absent, 0, sizeof absent);
    value = absent;
    value.exists = init != nullptr;
    if (init) memcpy(value.bytes, init, sizeof(T));

    if (size == 0) {
        if (!init) return cudaErrorInvalidValue;
        void *arguments[] = {&result, &value};
        return cudaLaunchKernel(shm::put<T>, dim3(1), dim3(1), arguments, 0, stream);
    }

    size_t blocks = (size - 1) / shm::threads + 1;
    if (blocks > 528) blocks = 528;
    if (blocks == 1) return shm::run(1, array, size, result, value, combine, stream);

    void *memory = nullptr;
    cudaError_t error = cudaMallocAsync(&memory, blocks * sizeof(T), stream);
    if (error) return error;
    T *partial = static_cast<T *>(memory);
    error = shm::run(blocks, array, size, partial, absent, combine, stream);
    if (!error)
        error =
            shm::run(1, static_cast<const T *>(partial), blocks, result, value, combine, stream);
    cudaError_t freed = cudaFreeAsync(memory, stream);
    return error ? error : freed;
}

#endif
