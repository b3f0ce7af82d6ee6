// Wrong: the results of three streams lie side by side in one page of pinned memory. The host waits
// for the last stream only, and reads them all.
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

__global__ void count(int *sum, int from)
{
    atomicAdd(sum, from + (int)threadIdx.x);
}

int main()
{
    constexpr int STREAMS = 3;
    int *sums, *device, sum = 0;
    cudaStream_t streams[STREAMS];
    CHECK(cudaMallocHost(&sums, STREAMS * sizeof *sums));
    CHECK(cudaMalloc(&device, STREAMS * sizeof *device));
    CHECK(cudaMemset(device, 0, STREAMS * sizeof *device));
    CHECK(cudaDeviceSynchronize());
    for (int i = 0; i < STREAMS; i++) {
        CHECK(cudaStreamCreate(&streams[i]));
        count<<<1, 64, 0, streams[i]>>>(&device[i], 1000 * i);
        CHECK(cudaMemcpyAsync(&sums[i], &device[i], sizeof *sums, cudaMemcpyDeviceToHost,
                              streams[i]));
    }
    CHECK(cudaStreamSynchronize(streams[STREAMS - 1]));
    for (int i = 0; i < STREAMS; i++) sum += sums[i];
    printf("%d\n", sum);
    CHECK(cudaDeviceSynchronize());
    for (cudaStream_t stream : streams) CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(device));
    CHECK(cudaFreeHost(sums));
    return 0;
}
