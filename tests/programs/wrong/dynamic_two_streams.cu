// Wrong: two grids that a kernel launches into two streams change the same values.
// Found: race
// Exit: 0
#include <cuda_runtime.h>

__global__ void add(int *values, int more)
{
    values[threadIdx.x] += more;
}

__global__ void both(int *values)
{
    add<<<1, 32, 0, cudaStreamFireAndForget>>>(values, 1);
    add<<<1, 32, 0, cudaStreamPerThread>>>(values, 2);
}

int main()
{
    int *values;
    if (cudaMalloc(&values, 32 * sizeof *values) != cudaSuccess) return 1;
    cudaMemset(values, 0, 32 * sizeof *values);
    both<<<1, 1>>>(values);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    return cudaFree(values) != cudaSuccess;
}
