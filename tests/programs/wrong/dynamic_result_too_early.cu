// Wrong: a kernel reads what the grid that it has launched computes, and waits for nothing.
// Found: race
// Exit: 0
#include <cstdio>
#include <cuda_runtime.h>

__global__ void square(int *values)
{
    values[threadIdx.x] *= values[threadIdx.x];
}

__global__ void sum_of_squares(int *values, int *sum)
{
    square<<<1, 32>>>(values);
    *sum = 0;
    for (int i = 0; i < 32; i++) *sum += values[i];
}

int main()
{
    int host[33], *values;
    for (int i = 0; i < 33; i++) host[i] = i;
    if (cudaMalloc(&values, sizeof host) != cudaSuccess) return 1;
    cudaMemcpy(values, host, sizeof host, cudaMemcpyHostToDevice);
    sum_of_squares<<<1, 1>>>(values, values + 32);
    if (cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
    printf("%d\n", host[32]);
    return cudaFree(values) != cudaSuccess;
}
