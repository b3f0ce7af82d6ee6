// Wrong: a kernel waits for another stream's, which is loaded but is the first that may print. An
// H200 makes room for printf first, and never ends them.
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

__global__ void consumes(const int *data, int *flag, int *out)
{
    while (atomicAdd(flag, 0) == 0) {
    }
    __threadfence();
    *out = *data + 1;
}

__global__ void produces(int *data, int *flag)
{
    if (*data != 0) printf("%d\n", *data);
    *data = 41;
    __threadfence();
    atomicExch(flag, 1);
}

int main()
{
    int out = 0, *words;
    cudaStream_t one, other;
    cudaFuncAttributes attributes;
    check(cudaMalloc(&words, 3 * sizeof *words));
    check(cudaMemset(words, 0, 3 * sizeof *words));
    check(cudaStreamCreate(&one));
    check(cudaStreamCreate(&other));
    check(cudaFuncGetAttributes(&attributes, produces));
    consumes<<<1, 1, 0, one>>>(words, words + 1, words + 2);
    produces<<<1, 1, 0, other>>>(words, words + 1);
    check(cudaDeviceSynchronize());
    check(cudaMemcpy(&out, words + 2, sizeof out, cudaMemcpyDeviceToHost));
    check(cudaStreamDestroy(one));
    check(cudaStreamDestroy(other));
    check(cudaFree(words));
    return out != 42;
}
