// Wrong: blocks add to a sum behind a lock, and a copy in another stream takes the sum: the lock
// orders the blocks, and nothing orders the copy.
// Found: race
#include <cuda_runtime.h>

#include <cstdio>

#define MUST(call)                                                                                 \
    if ((call) != cudaSuccess) return 2

static __device__ int lock;

static __global__ void add_locked(int *sum, int number)
{
    if (threadIdx.x > 0) return;
    while (atomicCAS(&lock, 0, 1) != 0) continue;
    __threadfence();
    *sum += number;
    __threadfence();
    atomicExch(&lock, 0);
}

int main()
{
    int *sum, *result;
    cudaStream_t one, other;
    MUST(cudaMalloc(&sum, sizeof *sum));
    MUST(cudaMallocHost(&result, sizeof *result));
    MUST(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    MUST(cudaMemset(sum, 0, sizeof *sum));
    MUST(cudaDeviceSynchronize());
    add_locked<<<16, 32, 0, one>>>(sum, 3);
    MUST(cudaMemcpyAsync(result, sum, sizeof *sum, cudaMemcpyDeviceToHost, other));
    MUST(cudaDeviceSynchronize());
    printf("%d\n", *result);
    MUST(cudaStreamDestroy(one));
    MUST(cudaStreamDestroy(other));
    MUST(cudaFree(sum));
    MUST(cudaFreeHost(result));
    return 0;
}
