// Wrong: each block begins with the last sum of the block before it, and the first with that of the
// last one, which may not be there yet: of two blocks each is before the other.
// Found: race between blocks
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

constexpr int THREADS = 64, BLOCKS = 2;

/* Only the first block reads, and before anything is stored. */
__global__ void carry(int *sums)
{
    __shared__ int before;
    const int t = threadIdx.x, block = blockIdx.x;
    if (t == 0) before = block == 0 ? sums[THREADS * BLOCKS - 1] : 0;
    __syncthreads();
    sums[block * THREADS + t] = before + t + 1;
}

int main()
{
    int *sums, first;
    CHECK(cudaMalloc(&sums, THREADS * BLOCKS * sizeof(int)));
    CHECK(cudaMemset(sums, 0, THREADS * BLOCKS * sizeof(int)));
    carry<<<BLOCKS, THREADS>>>(sums);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&first, sums, sizeof first, cudaMemcpyDeviceToHost));
    printf("%s\n", first == 1 || first == THREADS + 1 ? "done" : "wrong");
    CHECK(cudaFree(sums));
    return 0;
}
