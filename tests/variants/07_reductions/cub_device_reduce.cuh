/* variant: CUB reduces all, over elements that may be none; CUB's calls fail in CUB's own way
 *
 * orders: 2
 */
#ifndef REDUCTIONS_CUH
#define REDUCTIONS_CUH

#include "lesson.h"

#include <cub/device/device_reduce.cuh>
#include <thrust/iterator/transform_iterator.h>

namespace by_cub
{
/* An element, or none: the identity that the operator need not have. */
template <typename T> struct Maybe {
    T value;
    bool there;
};

template <typename T> struct Wrap {
    __device__ Maybe<T> operator()(const T &value) const
    {
        return Maybe<T>{value, true};
    }
};

template <typename T, typename Operator> struct Either {
    Operator combine;
    __device__ Maybe<T> operator()(const Maybe<T> &a, const Maybe<T> &b) const
    {
        if (!a.there) return b;
        if (!b.there) return a;
        return Maybe<T>{combine(a.value, b.value), true};
    }
};

template <typename T> __global__ void unwrap(const Maybe<T> *from, T *to)
{
    *to = from->value;
}

template <typename T> __global__ void put(T value, T *to)
{
    *to = value;
}

struct Freed {
    void *memory;
    cudaStream_t stream;
    cudaError_t now()
    {
        cudaError_t error = memory ? cudaFreeAsync(memory, stream) : cudaSuccess;
        memory = nullptr;
        return error;
    }
    ~Freed()
    {
        now();
    }
};
} // namespace by_cub

template <typename T, typename Operator>
cudaError_t Reduction<T, Operator>::operator()(const T *array, size_t size, T *result,
                                               const T *init, cudaStream_t stream) const
{
    using namespace by_cub;
    if (!size && !init) return cudaErrorInvalidValue;
    if (!size) {
        T value = *init;
        void *arguments[] = {&value, &result};
        return cudaLaunchKernel((const void *)put<T>, dim3(1), dim3(1), arguments, 0, stream);
    }
    Maybe<T> start;
    start.there = init != nullptr;
    if (init) start.value = *init;

    size_t scratch = 0;
    Either<T, Operator> either{combine};
    Maybe<T> *nowhere = nullptr;
    cudaError_t error = cub::DeviceReduce::TransformReduce(nullptr, scratch, array, nowhere, size,
                                                           either, Wrap<T>(), start, stream);
    if (error) return error;
    size_t behind = (scratch + 255) / 256 * 256;
    Freed memory{nullptr, stream};
    error = cudaMallocAsync(&memory.memory, behind + sizeof(Maybe<T>), stream);
    if (error) return error;
    Maybe<T> *total = reinterpret_cast<Maybe<T> *>((char *)memory.memory + behind);
    error = cub::DeviceReduce::TransformReduce(memory.memory, scratch, array, total, size, either,
                                               Wrap<T>(), start, stream);
    if (error) return error;
    void *arguments[] = {&total, &result};
    error = cudaLaunchKernel((const void *)unwrap<T>, dim3(1), dim3(1), arguments, 0, stream);
    if (error) return error;
    return memory.now();
}

#endif
