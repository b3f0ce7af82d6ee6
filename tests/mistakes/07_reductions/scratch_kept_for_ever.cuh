/* mistake: one scratch for all calls and all streams, which is never given back
 * fails: Reductions.NothingLeaks
 * fails: Reductions.CallsInTwoStreamsDoNotMeet
 * finds: leak at "cudaMalloc(&part"
 * finds: race at "out[blockIdx.x] = has_init"
 */
#ifndef REDUCTIONS_CUH
#define REDUCTIONS_CUH
#include "lesson.h"

#define RED_BLOCK 128

template <typename T, typename Op>
__global__ void red_kernel(const T *in, size_t n, T *out, Op op, T init, int has_init)
{
    __shared__ alignas(16) unsigned char raw[RED_BLOCK * sizeof(T)];
    T *s = reinterpret_cast<T *>(raw);
    size_t per = (size_t)gridDim.x * RED_BLOCK;
    size_t i = (size_t)blockIdx.x * RED_BLOCK + threadIdx.x;
    /* threads of this block that have at least one element */
    size_t first = (size_t)blockIdx.x * RED_BLOCK;
    unsigned have = first >= n ? 0 : (n - first < RED_BLOCK ? (unsigned)(n - first) : RED_BLOCK);
    if (i < n) {
        T acc = in[i];
        for (i += per; i < n; i += per) acc = op(acc, in[i]);
        s[threadIdx.x] = acc;
    }
    __syncthreads();
    for (unsigned step = RED_BLOCK / 2; step > 0; step >>= 1) {
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
    size_t blocks = (size + RED_BLOCK * 8 - 1) / (RED_BLOCK * 8);
    if (blocks > 1024) blocks = 1024;
    if (blocks <= 1) {
        red_kernel<T, Operator>
            <<<1, RED_BLOCK, 0, stream>>>(array, size, result, combine, start, init != nullptr);
        return cudaGetLastError();
    }
    static T *part = nullptr;
    cudaError_t e = part ? cudaSuccess : cudaMalloc(&part, 1024 * sizeof(T));
    if (e != cudaSuccess) return e;
    red_kernel<T, Operator>
        <<<(unsigned)blocks, RED_BLOCK, 0, stream>>>(array, size, part, combine, start, 0);
    e = cudaGetLastError();
    if (e == cudaSuccess) {
        red_kernel<T, Operator>
            <<<1, RED_BLOCK, 0, stream>>>(part, blocks, result, combine, start, init != nullptr);
        e = cudaGetLastError();
    }
    cudaError_t f = cudaSuccess;
    return e != cudaSuccess ? e : f;
}

#endif
