// Wrong: two blocks count into each row, by an atomic that is one for the threads of its block.
// Found: race between blocks
#include <cuda_runtime.h>

enum { ROWS = 4, BINS = 16 };

__global__ void count(int *bins)
{
    int *row = bins + blockIdx.x % ROWS * BINS;
    atomicAdd_block(&row[threadIdx.x * 7 % BINS], 1);
}

int main()
{
    int *bins, host[ROWS * BINS];
    if (cudaMalloc(&bins, sizeof host) != cudaSuccess ||
        cudaMemset(bins, 0, sizeof host) != cudaSuccess)
        return 2;
    count<<<2 * ROWS, 128>>>(bins);
    if (cudaMemcpy(host, bins, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
    return cudaFree(bins) != cudaSuccess;
}
