// Right: blocks of a cooperative launch wait for those with a higher index.
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
    void *args[] = {&value, &ready};
    CHECK(cudaLaunchCooperativeKernel((void *)backwards, dim3(blocks), dim3(32), args, 0, 0));
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&got, value, 4, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(value));
    CHECK(cudaFree(ready));
    for (int k = 1; k < blocks; ++k) want = want * 2 % 1000003;
    return got != want;
}
