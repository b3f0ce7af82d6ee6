/* mistake: all calls share one __device__ array
 * fails: Reductions.CallsInTwoStreamsDoNotMeet
 * finds: race at "partials[blockIdx.x] = value;"
 */
#ifndef REDUCTIONS_CUH
#define REDUCTIONS_CUH

#include "lesson.h"

#include <string.h>

#define PARTIALS 512
#define WIDTH 256

/* T has up to 64 bytes. */
static __device__ __align__(64) unsigned char reduction_partials[PARTIALS * 64];

template <typename T> struct Single {
    alignas(T) unsigned char bytes[sizeof(T)];
    bool valid;
};

template <typename T, typename Operator>
__device__ bool gather(const T *from, size_t size, size_t begin, size_t stride, Operator op,
                       T &value)
{
    if (begin >= size) return false;
    value = from[begin];
    size_t i = begin + stride;
    for (; i + stride < size; i += 2 * stride) {
        T a = from[i], b = from[i + stride];
        value = op(value, op(a, b));
    }
    if (i < size) value = op(value, from[i]);
    return true;
}

template <typename T, typename Operator>
__device__ bool to_thread_zero(bool valid, T &value, Operator op)
{
    __shared__ T values[WIDTH];
    __shared__ bool valids[WIDTH];
    const unsigned t = threadIdx.x;

    valids[t] = valid;
    if (valid) values[t] = value;
    for (unsigned half = WIDTH / 2; half > 0; half /= 2) {
        __syncthreads();
        if (t < half && valids[t + half]) {
            values[t] = valids[t] ? op(values[t], values[t + half]) : values[t + half];
            valids[t] = true;
        }
    }
    if (t != 0) return false;
    if (valids[0]) value = values[0];
    return valids[0];
}

template <typename T, typename Operator>
__global__ void first_pass(const T *array, size_t size, Operator op)
{
    T *partials = reinterpret_cast<T *>(reduction_partials);
    T value;
    bool valid = gather(array, size, (size_t)blockIdx.x * WIDTH + threadIdx.x,
                        (size_t)gridDim.x * WIDTH, op, value);
    if (to_thread_zero(valid, value, op)) partials[blockIdx.x] = value;
}

template <typename T, typename Operator>
__global__ void second_pass(size_t count, Single<T> init, T *result, Operator op)
{
    const T *partials = reinterpret_cast<const T *>(reduction_partials);
    T value;
    bool valid = gather(partials, count, threadIdx.x, WIDTH, op, value);
    valid = to_thread_zero(valid, value, op);
    if (threadIdx.x == 0) {
        if (init.valid) {
            T other;
            memcpy(&other, init.bytes, sizeof other);
            value = valid ? op(value, other) : other;
        }
        *result = value;
    }
}

template <typename T, typename Operator>
cudaError_t Reduction<T, Operator>::operator()(const T *array, size_t size, T *result,
                                               const T *init, cudaStream_t stream) const
{
    Single<T> single;
    memset(&single, 0, sizeof single);
    if (init) memcpy(single.bytes, init, sizeof(T));
    single.valid = init != NULL;
    if (!init && size == 0) return cudaErrorInvalidValue;

    Operator op = combine;
    size_t blocks = size / WIDTH + (size % WIDTH ? 1 : 0);
    if (blocks > PARTIALS) blocks = PARTIALS;

    if (blocks > 0) {
        void *arguments[] = {&array, &size, &op};
        cudaError_t error = cudaLaunchKernel(first_pass<T, Operator>, dim3((unsigned)blocks),
                                             dim3(WIDTH), arguments, 0, stream);
        if (error) return error;
    }
    void *arguments[] = {&blocks, &single, &result, &op};
    return cudaLaunchKernel(second_pass<T, Operator>, dim3(1), dim3(WIDTH), arguments, 0, stream);
}

#endif
