// Right: a chain of partial sums over blocks that draw their place from a counter.
// Advice: none
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t e = (call);                                                                    \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t e = (call);                                                                    \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void chain(const int *in, int *out, int *ready, volatile int *sum, unsigned *counter)
{
    __shared__ unsigned place;
    __shared__ int before;
    if (threadIdx.x == 0) place = atomicAdd(counter, 1u);
    __syncthreads();
    const int i = place * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) {
        int mine = 0, b = 0;
        for (unsigned k = 0; k < blockDim.x; ++k) mine += in[place * blockDim.x + k];
        if (place > 0) {
            while (atomicAdd(&ready[place - 1], 0) == 0) {
            }
            __threadfence();
            b = sum[place - 1];
        }
        sum[place] = b + mine;
        __threadfence();
        atomicExch(&ready[place], 1);
        before = b;
    }
    __syncthreads();
    out[i] = before + in[i];
}
int main()
{
    const int blocks = 300, n = blocks * 32;
    std::vector<int> h(n), got(n);
    for (int i = 0; i < n; ++i) h[i] = i % 11;
    int *in, *o, *ready, *sum;
    unsigned *counter;
    CHECK(cudaMalloc(&in, n * 4));
    CHECK(cudaMalloc(&o, n * 4));
    CHECK(cudaMalloc(&ready, blocks * 4));
    CHECK(cudaMalloc(&sum, blocks * 4));
    CHECK(cudaMalloc(&counter, 4));
    CHECK(cudaMemset(ready, 0, blocks * 4));
    CHECK(cudaMemset(counter, 0, 4));
    CHECK(cudaMemcpy(in, h.data(), n * 4, cudaMemcpyHostToDevice));
    chain<<<blocks, 32>>>(in, o, ready, sum, counter);
    CHECK(cudaMemcpy(got.data(), o, n * 4, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(in));
    CHECK(cudaFree(o));
    CHECK(cudaFree(ready));
    CHECK(cudaFree(sum));
    CHECK(cudaFree(counter));
    int sum0 = 0;
    for (int b = 0; b < blocks; ++b) {
        for (int t = 0; t < 32; ++t)
            if (got[b * 32 + t] != sum0 + h[b * 32 + t]) return 1;
        for (int t = 0; t < 32; ++t) sum0 += h[b * 32 + t];
    }
    return 0;
}
