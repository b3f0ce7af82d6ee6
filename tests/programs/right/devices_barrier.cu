// Right: the kernels of all devices meet at a counter in the first one's memory, and each then
// reads what its neighbour has stored. They find each other's parts by a table.
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

__device__ void meet(unsigned *count, unsigned all)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence_system();
        atomicAdd_system(count, 1u);
        while (atomicAdd_system(count, 0u) < all) {
        }
        __threadfence_system();
    }
    __syncthreads();
}

__global__ void pass_on(int *const *parts, int me, int devices, int n, unsigned *count, int *out)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) parts[me][i] = 1000 * me + i;
    meet(count, devices);
    const int *next = parts[(me + 1) % devices];
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = next[i];
}

int main()
{
    const int N = 500;
    int devices = 0, wrong = 0;
    CHECK(cudaGetDeviceCount(&devices));
    std::vector<int *> parts(devices), outs(devices);
    std::vector<int **> tables(devices);
    std::vector<cudaStream_t> streams(devices);
    unsigned *count = NULL;

    CHECK(cudaSetDevice(0));
    CHECK(cudaMalloc(&count, sizeof *count));
    CHECK(cudaMemset(count, 0, sizeof *count));
    CHECK(cudaDeviceSynchronize());
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        for (int other = 0; other < devices; other++)
            if (other != d) CHECK(cudaDeviceEnablePeerAccess(other, 0));
        CHECK(cudaStreamCreate(&streams[d]));
        CHECK(cudaMalloc(&parts[d], N * sizeof(int)));
        CHECK(cudaMalloc(&outs[d], N * sizeof(int)));
        CHECK(cudaMalloc(&tables[d], devices * sizeof(int *)));
    }
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaMemcpy(tables[d], parts.data(), devices * sizeof(int *), cudaMemcpyHostToDevice));
        CHECK(cudaDeviceSynchronize());
    }
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        pass_on<<<1, 128, 0, streams[d]>>>(tables[d], d, devices, N, count, outs[d]);
        CHECK(cudaGetLastError());
    }
    for (int d = 0; d < devices; d++) {
        std::vector<int> got(N);
        CHECK(cudaSetDevice(d));
        CHECK(cudaStreamSynchronize(streams[d]));
        CHECK(cudaMemcpy(got.data(), outs[d], N * sizeof(int), cudaMemcpyDeviceToHost));
        for (int i = 0; i < N; i++) wrong += got[i] != 1000 * ((d + 1) % devices) + i;
    }
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaStreamDestroy(streams[d]));
        CHECK(cudaFree(parts[d]));
        CHECK(cudaFree(outs[d]));
        CHECK(cudaFree(tables[d]));
    }
    CHECK(cudaFree(count));
    printf("%s\n", wrong == 0 ? "passed on" : "wrong");
    return wrong != 0;
}
