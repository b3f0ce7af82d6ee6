// Right: a kernel waits by atomicAdd(flag, 0) for another stream's, which adds to the flag behind a
// fence.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static void check(cudaError_t error)
{
    if (error == cudaSuccess) return;
    printf("%s\n", cudaGetErrorString(error));
    exit(1);
}

static int report(long wrong)
{
    printf(wrong ? "%ld wrong\n" : "PASS\n", wrong);
    return wrong != 0;
}

const int T = 64;

__global__ void fills(int *data, int *flag)
{
    data[threadIdx.x] = threadIdx.x + 1;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(flag, 1);
}

__global__ void waits(const int *data, int *flag, int *out)
{
    if (threadIdx.x == 0) {
        while (atomicAdd(flag, 0) == 0) {
        }
        __threadfence();
    }
    __syncthreads();
    out[threadIdx.x] = data[T - 1 - threadIdx.x];
}

int main()
{
    int out[T], *data, *flag, *dout;
    cudaStream_t one, other;
    check(cudaMalloc(&data, sizeof out));
    check(cudaMalloc(&flag, sizeof *flag));
    check(cudaMalloc(&dout, sizeof out));
    check(cudaMemset(flag, 0, sizeof *flag));
    check(cudaStreamCreate(&one));
    check(cudaStreamCreate(&other));
    // A kernel is loaded when it is first launched, and loading may wait for the kernels that run.
    cudaFuncAttributes attributes;
    check(cudaFuncGetAttributes(&attributes, fills));
    waits<<<1, T, 0, one>>>(data, flag, dout);
    fills<<<1, T, 0, other>>>(data, flag);
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    long wrong = 0;
    for (int i = 0; i < T; i++) wrong += out[i] != T - i;
    check(cudaStreamDestroy(one));
    check(cudaStreamDestroy(other));
    check(cudaFree(data));
    check(cudaFree(flag));
    check(cudaFree(dout));
    return report(wrong);
}
