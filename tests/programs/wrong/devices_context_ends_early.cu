// Wrong: the second device copies what a kernel on the first one has not finished, and the first
// device's context is destroyed while that kernel still waits to run.
// Found: race
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t e = (call);                                                                    \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void fill(int *to, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) to[i] = 3 * i;
}

int main()
{
    const int N = 1 << 16, BLOCK = 256;
    int *first, *second;
    cudaStream_t filling, copying;
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamCreate(&filling));
    CHECK(cudaMalloc(&first, N * sizeof(int)));
    CHECK(cudaMemset(first, 0, N * sizeof(int)));
    CHECK(cudaDeviceSynchronize());
    fill<<<N / BLOCK, BLOCK, 0, filling>>>(first, N);
    CHECK(cudaGetLastError());
    CHECK(cudaSetDevice(1));
    CHECK(cudaStreamCreate(&copying));
    CHECK(cudaMalloc(&second, N * sizeof(int)));
    // Nothing makes `copying` wait for `filling`.
    CHECK(cudaMemcpyPeerAsync(second, 1, first, 0, N * sizeof(int), copying));
    std::vector<int> out(N);
    CHECK(cudaMemcpyAsync(out.data(), second, N * sizeof(int), cudaMemcpyDeviceToHost, copying));
    CHECK(cudaStreamSynchronize(copying));
    CHECK(cudaSetDevice(0));
    CHECK(cudaDeviceReset());
    printf("%d %d\n", out[1], out[N - 1]);
    CHECK(cudaSetDevice(1));
    CHECK(cudaStreamDestroy(copying));
    CHECK(cudaFree(second));
    return 0;
}
