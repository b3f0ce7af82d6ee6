// Wrong: the program looks at what a copy has not brought yet, and would wait for ever then:
// somebody ends it, as timeout does.
// Found: race
#include <csignal>
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

__global__ void total(const int *in, int n, int *sum)
{
    for (int i = (int)threadIdx.x; i < n; i += (int)blockDim.x) atomicAdd(sum, in[i]);
}

int main()
{
    constexpr int N = 1000;
    int *in, *in_device, *sum, *sum_device;
    cudaStream_t stream;
    CHECK(cudaMallocHost(&in, N * sizeof *in));
    CHECK(cudaMallocHost(&sum, sizeof *sum));
    CHECK(cudaMalloc(&in_device, N * sizeof *in));
    CHECK(cudaMalloc(&sum_device, sizeof *sum));
    CHECK(cudaStreamCreate(&stream));
    for (int i = 0; i < N; i++) in[i] = i;
    CHECK(cudaMemcpyAsync(in_device, in, N * sizeof *in, cudaMemcpyHostToDevice, stream));
    CHECK(cudaMemsetAsync(sum_device, 0, sizeof *sum, stream));
    total<<<1, 256, 0, stream>>>(in_device, N, sum_device);
    CHECK(cudaMemcpyAsync(sum, sum_device, sizeof *sum, cudaMemcpyDeviceToHost, stream));
    if (*sum != N * (N - 1) / 2) raise(SIGTERM);
    CHECK(cudaStreamSynchronize(stream));
    printf("%d\n", *sum);
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(sum_device));
    CHECK(cudaFree(in_device));
    CHECK(cudaFreeHost(sum));
    CHECK(cudaFreeHost(in));
    return 0;
}
