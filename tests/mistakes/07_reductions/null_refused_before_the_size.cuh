/* mistake: NULL is an error also where the size is 0
 * fails: Reductions.AnEmptyArrayGivesInit
 * finds: nothing, an argument is refused before anything is done
 */
#ifndef REDUCTIONS_CUH
#define REDUCTIONS_CUH

#include "lesson.h"

#include <string.h>

template <typename T> struct Packed {
    alignas(T) unsigned char bytes[sizeof(T)];

    static Packed of(const T *value)
    {
        Packed packed;
        if (value)
            memcpy(packed.bytes, value, sizeof(T));
        else
            memset(packed.bytes, 0, sizeof(T));
        return packed;
    }
    __device__ T value() const
    {
        T unpacked;
        memcpy(&unpacked, bytes, sizeof unpacked);
        return unpacked;
    }
};

template <typename T> __device__ T neighbour(const T &value, unsigned distance)
{
    constexpr unsigned length = (sizeof(T) + 3) / 4;
    unsigned words[length] = {};
    memcpy(words, &value, sizeof(T));
    for (unsigned i = 0; i < length; i++)
        words[i] = __shfl_down_sync(0xffffffffu, words[i], distance);
    T result;
    memcpy(&result, words, sizeof(T));
    return result;
}

template <typename T, typename Operator>
__device__ T reduce_lanes(T value, unsigned lanes, Operator op)
{
    for (unsigned distance = 16; distance > 0; distance /= 2) {
        T other = neighbour(value, distance);
        if (threadIdx.x % 32 + distance < lanes) value = op(value, other);
    }
    return value;
}

template <typename T, typename Operator>
__global__ void reduce_part(const T *array, size_t size, T *out, bool add, Packed<T> init,
                            Operator op)
{
    __shared__ T warps[8];
    const size_t begin = (size_t)blockIdx.x * 256;
    const unsigned here = size - begin < 256 ? (unsigned)(size - begin) : 256;
    const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;

    T value;
    memset(&value, 0, sizeof value);
    if (threadIdx.x < here) {
        const size_t stride = (size_t)gridDim.x * 256;
        size_t i = begin + threadIdx.x;
        value = array[i];
        for (i += stride; i + 3 * stride < size; i += 4 * stride) {
            T a = array[i], b = array[i + stride];
            T c = array[i + 2 * stride], d = array[i + 3 * stride];
            value = op(value, op(op(a, b), op(c, d)));
        }
        for (; i < size; i += stride) value = op(value, array[i]);
    }
    const unsigned lanes = here <= warp * 32 ? 0 : min(32u, here - warp * 32);
    value = reduce_lanes(value, lanes, op);
    if (lanes > 0 && lane == 0) warps[warp] = value;
    __syncthreads();
    if (warp == 0) {
        const unsigned count = (here + 31) / 32;
        if (lane < count) value = warps[lane];
        value = reduce_lanes(value, count, op);
        if (lane == 0) out[blockIdx.x] = add ? op(value, init.value()) : value;
    }
}

template <typename T> __global__ void copy_init(T *out, Packed<T> init)
{
    *out = init.value();
}

template <typename T, typename Operator>
cudaError_t Reduction<T, Operator>::operator()(const T *array, size_t size, T *result,
                                               const T *init, cudaStream_t stream) const
{
    if (array == nullptr || result == nullptr) return cudaErrorInvalidValue;
    if (size == 0 && init == nullptr) return cudaErrorInvalidValue;

    Packed<T> packed = Packed<T>::of(init);
    if (size == 0) {
        void *arguments[] = {&result, &packed};
        return cudaLaunchKernel(copy_init<T>, dim3(1), dim3(1), arguments, 0, stream);
    }

    int device, processors;
    cudaError_t error = cudaGetDevice(&device);
    if (error) return error;
    error = cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
    if (error) return error;

    Operator op = combine;
    bool no = false, add = init != nullptr;
    size_t blocks = (size + 255) / 256;
    if (blocks > 8u * (size_t)processors) blocks = 8u * (size_t)processors;

    T *partial;
    error = cudaMallocAsync((void **)&partial, blocks * sizeof(T), stream);
    if (error) return error;
    void *first[] = {&array, &size, &partial, &no, &packed, &op};
    error = cudaLaunchKernel(reduce_part<T, Operator>, dim3((unsigned)blocks), dim3(256), first, 0,
                             stream);
    if (!error) {
        void *second[] = {&partial, &blocks, &result, &add, &packed, &op};
        error = cudaLaunchKernel(reduce_part<T, Operator>, dim3(1), dim3(256), second, 0, stream);
    }
    cudaError_t freed = cudaFreeAsync(partial, stream);
    return error ? error : freed;
}

#endif
