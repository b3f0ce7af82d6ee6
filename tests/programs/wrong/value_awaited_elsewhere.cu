// Wrong: a stream waits for a value that the host has written, and the host for that stream. So it
// knows what ran before; what is begun later, in other streams, is not waited for.
// Found: race
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>

enum { N = 64 };

#define MUST(call)                                                                                 \
    if ((call) != 0) return 2

static __global__ void fill(int *out, int value)
{
    out[threadIdx.x] = value;
}

int main()
{
    int *out, *result, *flag;
    cudaStream_t one, other;
    MUST(cudaMalloc(&out, N * sizeof *out));
    MUST(cudaMallocHost(&result, N * sizeof *result));
    MUST(cudaMallocHost(&flag, sizeof *flag));
    MUST(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    *flag = 1;
    MUST(cuStreamWaitValue32(one, (CUdeviceptr)flag, 1, CU_STREAM_WAIT_VALUE_EQ));
    MUST(cudaStreamSynchronize(one));
    fill<<<1, N, 0, one>>>(out, 3);
    MUST(cudaMemcpyAsync(result, out, N * sizeof *out, cudaMemcpyDeviceToHost, other));
    MUST(cudaDeviceSynchronize());
    printf("%d\n", result[3]);
    MUST(cudaStreamDestroy(one));
    MUST(cudaStreamDestroy(other));
    MUST(cudaFree(out));
    MUST(cudaFreeHost(result));
    MUST(cudaFreeHost(flag));
    return 0;
}
