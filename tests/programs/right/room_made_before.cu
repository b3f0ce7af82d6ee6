// Right: kernels that print, or need much local memory, are launched beside one that waits; the
// room for it has been made before. An H200 ends it.
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

template <int> __global__ void tells(int *flag)
{
    if (*flag != 0) printf("%d\n", *flag);
    atomicExch(flag, 1);
}

__global__ void sorts(int *word)
{
    volatile int local[4096];
    for (int k = 0; k < 4096; k++) local[k] = k * *word;
    *word = local[*word & 1];
}

int main()
{
    int *flag, *word, *shared;
    cudaStream_t waiting, other;
    cudaFuncAttributes attributes;
    check(cudaDeviceSetLimit(cudaLimitStackSize, 20000));
    check(cudaMalloc(&flag, sizeof *flag));
    check(cudaMalloc(&word, sizeof *word));
    check(cudaMallocHost(&shared, sizeof *shared));
    check(cudaMemset(flag, 0, sizeof *flag));
    check(cudaMemset(word, 0, sizeof *word));
    check(cudaStreamCreate(&waiting));
    check(cudaStreamCreate(&other));
    check(cudaFuncGetAttributes(&attributes, sorts));
    check(cudaFuncGetAttributes(&attributes, tells<1>));
    tells<0><<<1, 1, 0, other>>>(word);
    check(cudaDeviceSynchronize());

    until_told<<<1, 1, 0, waiting>>>(flag);
    tells<1><<<1, 1, 0, other>>>(flag);
    check(cudaDeviceSynchronize());

    *shared = 0;
    until_told<<<1, 1, 0, waiting>>>(shared);
    sorts<<<1, 1, 0, other>>>(word);
    *(volatile int *)shared = 1;
    check(cudaDeviceSynchronize());
    check(cudaStreamDestroy(waiting));
    check(cudaStreamDestroy(other));
    check(cudaFree(flag));
    check(cudaFree(word));
    check(cudaFreeHost(shared));
}
