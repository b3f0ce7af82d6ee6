// Wrong: a kernel fills memory with bytes that are not 0, and with CUDA 13.0 an H200 writes 0.
// Found: not supported
#include <cuda_runtime.h>

__global__ void parent(int *values)
{
    if (cudaMemsetAsync(values, 1, 64, 0) != cudaSuccess) values[0] = 5;
}

int main()
{
    int *values;
    if (cudaMalloc(&values, 64) != cudaSuccess) return 2;
    parent<<<1, 1>>>(values);
    return cudaDeviceSynchronize() != cudaSuccess || cudaFree(values) != cudaSuccess;
}
