// Right: a kernel clears memory between two kernels that it launches, in its streams' order, and in
// a stream of its own.
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

enum { N = 25000 };

__global__ void set(int *values, int value)
{
    values[threadIdx.x] = value;
}

__global__ void parent(int *values, int *far, int *codes)
{
    cudaStream_t stream;
    set<<<1, 32>>>(values, 7);
    codes[0] = cudaMemsetAsync(values + 8, 0x100, 16, 0);
    codes[1] = cudaMemsetAsync(values, 1, 0, 0);
    codes[2] = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    codes[3] = cudaMemsetAsync(far, 0, N * sizeof *far, stream);
    codes[4] = cudaStreamDestroy(stream);
    set<<<1, 2>>>(values, 9);
}

int main()
{
    int *values, *far, *codes;
    CHECK(cudaMallocManaged(&values, 32 * sizeof *values));
    CHECK(cudaMallocManaged(&far, N * sizeof *far));
    CHECK(cudaMallocManaged(&codes, 5 * sizeof *codes));
    for (int i = 0; i < N; i++) far[i] = 5;
    parent<<<1, 1>>>(values, far, codes);
    CHECK(cudaDeviceSynchronize());
    int wrong = 0;
    for (int i = 0; i < 5; i++) wrong += codes[i] != cudaSuccess;
    for (int i = 0; i < 32; i++) wrong += values[i] != (i < 2 ? 9 : i >= 8 && i < 12 ? 0 : 7);
    for (int i = 0; i < N; i++) wrong += far[i] != 0;
    printf("%d wrong\n", wrong);
    CHECK(cudaFree(values));
    CHECK(cudaFree(far));
    CHECK(cudaFree(codes));
    return wrong != 0;
}
