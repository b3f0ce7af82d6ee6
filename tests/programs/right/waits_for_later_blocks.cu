// Right: blocks of a plain launch wait for later ones, which nobody promises to be there too.
// Advice: blocks together that nobody promises
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

// Block b waits for what block b + 1 has found
__global__ void backwards(int *value, int *ready)
{
    const int b = blockIdx.x, last = gridDim.x - 1;
    if (threadIdx.x) return;
    int v = 1;
    if (b < last) {
        while (atomicAdd(&ready[b + 1], 0) == 0) {
        }
        __threadfence();
        v = value[b + 1] * 2 % 1000003;
    }
    value[b] = v;
    __threadfence();
    atomicExch(&ready[b], 1);
}
int main()
{
    const int blocks = 20;
    int *value, *ready, got = 0, want = 1;
    CHECK(cudaMalloc(&value, blocks * 4));
    CHECK(cudaMalloc(&ready, blocks * 4));
    CHECK(cudaMemset(ready, 0, blocks * 4));
    backwards<<<blocks, 32>>>(value, ready);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&got, value, 4, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(value));
    CHECK(cudaFree(ready));
    for (int k = 1; k < blocks; ++k) want = want * 2 % 1000003;
    return got != want;
}
