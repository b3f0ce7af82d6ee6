// Wrong: all devices count in the first one's memory, by atomics that are atomic for their own
// device only.
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

__global__ void count_thirds(int first, int n, int *total)
{
    int i = first + blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && i % 3 == 0) atomicAdd(total, 1);
}

int main()
{
    const int N = 3000;
    int devices = 0, counted = 0, *total = NULL;
    CHECK(cudaGetDeviceCount(&devices));
    std::vector<cudaStream_t> streams(devices);
    const int part = (N + devices - 1) / devices;
    CHECK(cudaMalloc(&total, sizeof *total));
    CHECK(cudaMemset(total, 0, sizeof *total));
    CHECK(cudaDeviceSynchronize());
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        if (d != 0) CHECK(cudaDeviceEnablePeerAccess(0, 0));
        CHECK(cudaStreamCreate(&streams[d]));
        count_thirds<<<(part + 127) / 128, 128, 0, streams[d]>>>(
            d * part, d * part + part < N ? d * part + part : N, total);
        CHECK(cudaGetLastError());
    }
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaStreamSynchronize(streams[d]));
        CHECK(cudaStreamDestroy(streams[d]));
    }
    CHECK(cudaSetDevice(0));
    CHECK(cudaMemcpy(&counted, total, sizeof counted, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(total));
    printf("%d of %d\n", counted, N);
    return 0;
}
