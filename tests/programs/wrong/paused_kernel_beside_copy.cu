// Wrong: a kernel waits for a flag of the host and then fills an array, which a copy in another
// stream fills as well. The flag orders the kernel behind nothing: nobody waits for the copy.
// Found: race
#include <cuda_runtime.h>

#include <cstdio>

enum { N = 64 };

#define MUST(call)                                                                                 \
    if ((call) != cudaSuccess) return 2

static __global__ void fill_when_told(volatile int *flag, int *out)
{
    if (threadIdx.x == 0)
        while (*flag == 0) continue;
    __syncthreads();
    out[threadIdx.x] = (int)threadIdx.x;
}

int main()
{
    int *out, *start, *flag;
    cudaStream_t one, other;
    MUST(cudaMalloc(&out, N * sizeof *out));
    MUST(cudaMallocHost(&start, N * sizeof *start));
    MUST(cudaMallocHost(&flag, sizeof *flag));
    MUST(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    *flag = 0;
    for (int i = 0; i < N; i++) start[i] = 7;
    fill_when_told<<<1, N, 0, one>>>(flag, out);
    MUST(cudaMemcpyAsync(out, start, N * sizeof *out, cudaMemcpyHostToDevice, other));
    cudaStreamQuery(one);
    *(volatile int *)flag = 1;
    MUST(cudaDeviceSynchronize());
    MUST(cudaMemcpy(start, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    printf("%d\n", start[3]);
    MUST(cudaStreamDestroy(one));
    MUST(cudaStreamDestroy(other));
    MUST(cudaFree(out));
    MUST(cudaFreeHost(start));
    MUST(cudaFreeHost(flag));
    return 0;
}
