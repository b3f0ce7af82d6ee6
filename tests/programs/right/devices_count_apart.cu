// Right: each device counts in its own place of page-locked memory, and in one place, one after the
// other.
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

__global__ void count(int *counter)
{
    atomicAdd(counter, 1);
}

int main()
{
    int devices = 0, *counter = NULL;
    CHECK(cudaGetDeviceCount(&devices));
    CHECK(cudaHostAlloc(&counter, 17 * sizeof(int), cudaHostAllocPortable | cudaHostAllocMapped));
    for (int d = 0; d < 17; d++) counter[d] = 0;
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        count<<<64, 128>>>(counter + d);
        CHECK(cudaGetLastError());
    }
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaDeviceSynchronize());
    }
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        count<<<64, 128>>>(counter + 16);
        CHECK(cudaDeviceSynchronize());
    }
    int sum = 0;
    for (int d = 0; d < devices; d++) sum += counter[d];
    printf("%d and %d of %d\n", sum, counter[16], devices * 64 * 128);
    const bool right = sum == counter[16] && sum == devices * 64 * 128;
    CHECK(cudaFreeHost(counter));
    return !right;
}
