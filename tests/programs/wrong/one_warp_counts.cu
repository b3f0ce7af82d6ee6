// Wrong: 32 threads, all of one warp, count in global memory with ++ and set bits with |=: each
// changes what it has read, and all but one of the changes of a word are lost.
// Found: global memory race
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t err = (call);                                                                  \
        if (err != cudaSuccess) {                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err));           \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

constexpr int THREADS = 32, BINS = 4;

__global__ void count(int *bins, unsigned char *seen)
{
    const int value = 7 * threadIdx.x % 32;
    bins[value % BINS]++;
    seen[value / 8] |= 1 << value % 8;
}

int main()
{
    int *bins, counts[BINS];
    unsigned char *seen;
    CHECK(cudaMalloc(&bins, sizeof counts));
    CHECK(cudaMalloc(&seen, THREADS / 8));
    CHECK(cudaMemset(bins, 0, sizeof counts));
    CHECK(cudaMemset(seen, 0, THREADS / 8));
    count<<<1, THREADS>>>(bins, seen);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(counts, bins, sizeof counts, cudaMemcpyDeviceToHost));
    printf("%s\n", counts[0] > 0 ? "done" : "wrong");
    CHECK(cudaFree(seen));
    CHECK(cudaFree(bins));
    return 0;
}
