// Wrong: as devices_gather, but the first device does not wait for the sums of the others.
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

__global__ void sum_part(const int *in, int n, int *sum, int *done)
{
    int mine = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) mine += in[i];
    atomicAdd(sum, mine);
    if (threadIdx.x == 0) atomicAdd_system(done, 1);
}

__global__ void gather(int *const *sums, int count, int *total)
{
    for (int d = 0; d < count; d++) *total += *sums[d];
}

int main()
{
    const int N = 1000;
    int devices = 0, can = 0, total = 0, done = 0;
    CHECK(cudaGetDeviceCount(&devices));
    std::vector<int *> in(devices), sums(devices);
    std::vector<cudaEvent_t> ready(devices);
    std::vector<int> values(N);
    int *counter = NULL, **of_all = NULL, *result = NULL;
    long expected = 0;

    CHECK(cudaSetDevice(0));
    CHECK(cudaMalloc(&counter, sizeof(int)));
    CHECK(cudaMemset(counter, 0, sizeof(int)));
    CHECK(cudaDeviceSynchronize());
    for (int d = 1; d < devices; d++) {
        CHECK(cudaDeviceCanAccessPeer(&can, 0, d));
        if (!can) {
            printf("device 0 can't read device %d\n", d);
            return 0;
        }
        CHECK(cudaSetDevice(0));
        CHECK(cudaDeviceEnablePeerAccess(d, 0));
        CHECK(cudaSetDevice(d));
        CHECK(cudaDeviceEnablePeerAccess(0, 0));
    }
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaMalloc(&in[d], N * sizeof(int)));
        CHECK(cudaMalloc(&sums[d], sizeof(int)));
        for (int i = 0; i < N; i++) expected += values[i] = (i * 7 + d) % 50;
        CHECK(cudaMemcpy(in[d], values.data(), N * sizeof(int), cudaMemcpyHostToDevice));
        CHECK(cudaMemset(sums[d], 0, sizeof(int)));
        sum_part<<<1, 128>>>(in[d], N, sums[d], counter);
        CHECK(cudaGetLastError());
        CHECK(cudaEventCreateWithFlags(&ready[d], cudaEventDisableTiming));
        CHECK(cudaEventRecord(ready[d]));
    }
    CHECK(cudaSetDevice(0));
    CHECK(cudaMalloc(&of_all, devices * sizeof(int *)));
    CHECK(cudaMemcpy(of_all, sums.data(), devices * sizeof(int *), cudaMemcpyHostToDevice));
    CHECK(cudaMalloc(&result, sizeof(int)));
    CHECK(cudaMemset(result, 0, sizeof(int)));
    gather<<<1, 1>>>(of_all, devices, result);
    CHECK(cudaMemcpy(&total, result, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(&done, counter, sizeof(int), cudaMemcpyDeviceToHost));
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaFree(in[d]));
        CHECK(cudaFree(sums[d]));
        CHECK(cudaEventDestroy(ready[d]));
    }
    CHECK(cudaFree(counter));
    CHECK(cudaFree(of_all));
    CHECK(cudaFree(result));
    printf("%d of %ld by %d devices\n", total, expected, done);
    return total != expected || done != devices;
}
