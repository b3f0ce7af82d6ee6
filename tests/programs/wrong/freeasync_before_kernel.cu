// Wrong: memory that a kernel and a memset in stream `work` use is freed in stream `cleanup`;
// nothing orders the two, whichever runs first.
// Found: freed in use
#include <cstdio>
#include <cuda_runtime.h>

__global__ void fill(int *v)
{
    v[threadIdx.x] = threadIdx.x;
}

int main()
{
    cudaStream_t work, cleanup;
    int *one, *other;
    cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&cleanup, cudaStreamNonBlocking);
    cudaMallocAsync(&one, 4096, cleanup);
    cudaMallocAsync(&other, 4096, cleanup);
    cudaStreamSynchronize(cleanup);

    cudaMemsetAsync(one, 0, 4096, work);
    fill<<<1, 32, 0, work>>>(other);
    cudaFreeAsync(one, cleanup);
    cudaFreeAsync(other, cleanup);
    cudaStreamSynchronize(cleanup);
    cudaStreamSynchronize(work); // an error where the memory went first
    cudaStreamDestroy(work);
    cudaStreamDestroy(cleanup);
    printf("PASS\n");
    return 0;
}
