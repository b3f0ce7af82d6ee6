/* mistake: a thread's first element is found in size_t, and the way from there is walked in int
 * fails: Reductions.NoSizeIsCutTo32Bits
 * finds: nothing, what is left of the size is within the array
 */
#ifndef REDUCTIONS_CUH
#define REDUCTIONS_CUH
#include "lesson.h"

#define WIDTH 128

template <typename T, typename Op>
__global__ void fold(const T *in, size_t n, T *out, Op op, T init, int has_init)
{
    __shared__ alignas(16) unsigned char raw[WIDTH * sizeof(T)];
    T *s = reinterpret_cast<T *>(raw);
    size_t per = (size_t)gridDim.x * WIDTH;
    size_t i = (size_t)blockIdx.x * WIDTH + threadIdx.x;
    /* threads of this block that have at least one element */
    size_t first = (size_t)blockIdx.x * WIDTH;
    unsigned have = first >= n ? 0 : (n - first < WIDTH ? (unsigned)(n - first) : WIDTH);
    if (i < n) {
        T acc = in[i];
        const int end = (int)n, stride = (int)per;
        for (int k = (int)i + stride; k < end; k += stride) acc = op(acc, in[k]);
        s[threadIdx.x] = acc;
    }
    __syncthreads();
    for (unsigned step = WIDTH / 2; step > 0; step >>= 1) {
        if (threadIdx.x < step && threadIdx.x + step < have)
            s[threadIdx.x] = op(s[threadIdx.x], s[threadIdx.x + step]);
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        if (have)
            out[blockIdx.x] = has_init ? op(s[0], init) : s[0];
        else if (has_init)
            out[blockIdx.x] = init;
    }
}

template <typename T, typename Operator>
cudaError_t Reduction<T, Operator>::operator()(const T *array, size_t size, T *result,
                                               const T *init, cudaStream_t stream) const
{
    T start{};
    if (init) start = *init;
    if (size == 0 && !init) return cudaErrorInvalidValue;
    size_t blocks = (size + WIDTH * 8 - 1) / (WIDTH * 8);
    if (blocks > 1024) blocks = 1024;
    if (blocks <= 1) {
        fold<T, Operator>
            <<<1, WIDTH, 0, stream>>>(array, size, result, combine, start, init != nullptr);
        return cudaGetLastError();
    }
    T *part = nullptr;
    cudaError_t e = cudaMallocAsync((void **)&part, blocks * sizeof(T), stream);
    if (e != cudaSuccess) return e;
    fold<T, Operator><<<(unsigned)blocks, WIDTH, 0, stream>>>(array, size, part, combine, start, 0);
    e = cudaGetLastError();
    if (e == cudaSuccess) {
        fold<T, Operator>
            <<<1, WIDTH, 0, stream>>>(part, blocks, result, combine, start, init != nullptr);
        e = cudaGetLastError();
    }
    const cudaError_t f = cudaFreeAsync(part, stream);
    return e != cudaSuccess ? e : f;
}

#endif
