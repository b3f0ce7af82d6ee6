// Wrong: two devices count at once in page-locked memory, by atomics of the system's scope: one's
// do not see the other's.
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

__global__ void count(int *counter)
{
    atomicAdd_system(counter, 1);
}

int main()
{
    int devices = 0, *counter = NULL;
    CHECK(cudaGetDeviceCount(&devices));
    CHECK(cudaHostAlloc(&counter, sizeof(int), cudaHostAllocPortable | cudaHostAllocMapped));
    *counter = 0;
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        count<<<64, 128>>>(counter);
        CHECK(cudaGetLastError());
    }
    for (int d = 0; d < devices; d++) {
        CHECK(cudaSetDevice(d));
        CHECK(cudaDeviceSynchronize());
    }
    printf("%d of %d\n", *counter, devices * 64 * 128);
    CHECK(cudaFreeHost(counter));
    return 0;
}
