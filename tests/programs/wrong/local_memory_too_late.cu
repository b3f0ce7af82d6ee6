// Wrong: a kernel waits for the host's flag; before the host sets it, it launches one that needs
// more local memory than any before. On an H200 that call waits, and the flag is never set.
// Found: room made too late
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static void check(cudaError_t error)
{
    if (error == cudaSuccess) return;
    printf("%s\n", cudaGetErrorString(error));
    exit(1);
}

__global__ void until_told(volatile int *flag)
{
    while (*flag == 0) {
    }
}

__global__ void sorts(int *word)
{
    volatile int local[4096];
    for (int k = 0; k < 4096; k++) local[k] = k * *word;
    *word = local[*word & 1];
}

int main()
{
    int *flag, *word;
    cudaStream_t waiting, other;
    cudaFuncAttributes attributes;
    check(cudaMallocHost(&flag, sizeof *flag));
    check(cudaMalloc(&word, sizeof *word));
    check(cudaMemset(word, 0, sizeof *word));
    *flag = 0;
    check(cudaStreamCreate(&waiting));
    check(cudaStreamCreate(&other));
    check(cudaFuncGetAttributes(&attributes, sorts));
    check(cudaDeviceSynchronize());
    until_told<<<1, 1, 0, waiting>>>(flag);
    sorts<<<1, 1, 0, other>>>(word);
    *(volatile int *)flag = 1;
    check(cudaDeviceSynchronize());
    check(cudaStreamDestroy(waiting));
    check(cudaStreamDestroy(other));
    check(cudaFree(word));
    check(cudaFreeHost(flag));
}
