// Wrong: the program indexes a table by what a copy has not brought yet, and may die of it before
// anything waits for the copy.
// Found: race
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t e = (call);                                                                    \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void find(const float *in, int n, int *at)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n && in[i] > 0.5f) *at = i;
}

int main()
{
    constexpr int N = 512;
    static float table[N];
    float *in;
    int *at, *at_device;
    CHECK(cudaMalloc(&in, sizeof table));
    CHECK(cudaMalloc(&at_device, sizeof *at));
    CHECK(cudaMallocHost(&at, sizeof *at));
    table[300] = 1.0f;
    CHECK(cudaMemcpy(in, table, sizeof table, cudaMemcpyHostToDevice));
    find<<<(N + 127) / 128, 128>>>(in, N, at_device);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpyAsync(at, at_device, sizeof *at, cudaMemcpyDeviceToHost));
    volatile float *const values = table;
    printf("%g\n", (double)values[*at]);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFreeHost(at));
    CHECK(cudaFree(at_device));
    CHECK(cudaFree(in));
    return 0;
}
