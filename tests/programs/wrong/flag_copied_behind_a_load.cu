// Wrong: a kernel waits for a flag that a copy sets; before the copy, another kernel is first used,
// and so loaded. An H200 never ends it: the copy begins when the kernel has ended.
// Found: kernel loaded too late
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

__global__ void counts_up(int *count)
{
    *count += 1;
}

int main()
{
    int *words, *one;
    cudaStream_t waiting, counting, telling;
    check(cudaMalloc(&words, 2 * sizeof *words));
    check(cudaMemset(words, 0, 2 * sizeof *words));
    check(cudaMallocHost(&one, sizeof *one));
    *one = 1;
    check(cudaStreamCreate(&waiting));
    check(cudaStreamCreate(&counting));
    check(cudaStreamCreate(&telling));
    until_told<<<1, 1, 0, waiting>>>(words);
    counts_up<<<1, 1, 0, counting>>>(words + 1);
    check(cudaMemcpyAsync(words, one, sizeof *one, cudaMemcpyHostToDevice, telling));
    check(cudaDeviceSynchronize());
    check(cudaStreamDestroy(waiting));
    check(cudaStreamDestroy(counting));
    check(cudaStreamDestroy(telling));
    check(cudaFree(words));
    check(cudaFreeHost(one));
}
