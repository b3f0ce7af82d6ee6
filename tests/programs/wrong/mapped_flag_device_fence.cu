// Wrong: the last block raises a flag in mapped memory, which the host polls, behind fences that
// hold for the device only.
// Found: race
#include <cuda_runtime.h>

#include <cstdio>

enum { BLOCKS = 16, THREADS = 64, N = BLOCKS * THREADS };

#define MUST(call)                                                                                 \
    if ((call) != cudaSuccess) return 2

__device__ unsigned ended;

__global__ void squares(int *to, volatile int *flag)
{
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    to[i] = i * i;
    __threadfence();
    __syncthreads();
    if (threadIdx.x != 0 || atomicAdd(&ended, 1) != BLOCKS - 1) return;
    ended = 0;
    __threadfence();
    *flag = 1;
}

int main()
{
    int *results, *flag, sum = 0;
    MUST(cudaHostAlloc(&results, N * sizeof *results, cudaHostAllocMapped));
    MUST(cudaHostAlloc(&flag, sizeof *flag, cudaHostAllocMapped));
    *flag = 0;
    squares<<<BLOCKS, THREADS>>>(results, flag);
    MUST(cudaGetLastError());
    while (*(volatile int *)flag == 0) continue;
    for (int i = 0; i < N; i++) sum += ((volatile int *)results)[i] != i * i;
    MUST(cudaDeviceSynchronize());
    MUST(cudaFreeHost(results));
    MUST(cudaFreeHost(flag));
    return sum != 0;
}
