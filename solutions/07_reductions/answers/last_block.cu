/* Question 2 of lesson 07: the last block to finish combines the results of all; with -DFENCE it
 * has made sure that it may read them. */
#include <cuda_runtime.h>

#include <cstdio>

#ifdef FENCE
#define FENCE_HERE __threadfence()
#else
#define FENCE_HERE (void)0
#endif

#define COUNT 10000
#define BLOCKS 16

__device__ unsigned finished;

__global__ void sum(const int *in, int *partial, int *result)
{
    if (threadIdx.x != 0) return;
    int mine = 0;
    for (int i = blockIdx.x; i < COUNT; i += BLOCKS) mine += in[i];
    partial[blockIdx.x] = mine;
    FENCE_HERE;
    if (atomicAdd(&finished, 1) != BLOCKS - 1) return;
    FENCE_HERE;
    int all = 0;
    for (int block = 0; block < BLOCKS; block++) all += partial[block];
    *result = all;
}

int main()
{
    static int host[COUNT];
    int *in, *partial, *result, got;

    for (int i = 0; i < COUNT; i++) host[i] = i + 1;
    cudaMalloc(&in, sizeof host);
    cudaMalloc(&partial, BLOCKS * sizeof(int));
    cudaMalloc(&result, sizeof(int));
    cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
    sum<<<BLOCKS, 32>>>(in, partial, result);
    cudaMemcpy(&got, result, sizeof got, cudaMemcpyDeviceToHost);
    std::printf("%d\n", got);
    cudaFree(in);
    cudaFree(partial);
    cudaFree(result);
    return 0;
}
