// Right: each block counts into a row of its own by atomics of block scope, and into one of all by
// atomics of the device; the next launch gives the rows to other blocks.
#include <cuda_runtime.h>

enum { ROWS = 6, BINS = 16, THREADS = 128, LAUNCHES = 2 };

__global__ void count(int *bins, int from)
{
    const int bin = threadIdx.x * 7 % BINS;
    atomicAdd_block(&bins[(blockIdx.x + from) % ROWS * BINS + bin], 1);
    atomicAdd(&bins[ROWS * BINS + bin], 1);
}

int main()
{
    int *bins, host[(ROWS + 1) * BINS];
    if (cudaMalloc(&bins, sizeof host) != cudaSuccess ||
        cudaMemset(bins, 0, sizeof host) != cudaSuccess)
        return 2;
    for (int from = 0; from < LAUNCHES; from++) count<<<ROWS, THREADS>>>(bins, from);
    if (cudaMemcpy(host, bins, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
    for (int k = 0; k < (ROWS + 1) * BINS; k++) {
        const int each = LAUNCHES * THREADS / BINS;
        if (host[k] != (k < ROWS * BINS ? each : ROWS * each)) return 1;
    }
    return cudaFree(bins) != cudaSuccess;
}
