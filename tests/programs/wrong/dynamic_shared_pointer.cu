// Wrong: a kernel gives the grid that it launches a pointer to its own shared memory.
// Found: invalid launch
// Exit: 1
#include <cuda_runtime.h>

__global__ void add(int *values, int *where)
{
    where[threadIdx.x] = values[threadIdx.x] + 1;
}

__global__ void with_shared(int *where)
{
    __shared__ int values[32];
    values[threadIdx.x] = static_cast<int>(threadIdx.x);
    __syncthreads();
    int *mine = values;
    asm("" : "+l"(mine)); // or nvcc would see what it is
    if (threadIdx.x == 0) add<<<1, 32>>>(mine, where);
}

int main()
{
    int *values;
    if (cudaMalloc(&values, 32 * sizeof *values) != cudaSuccess) return 2;
    with_shared<<<1, 32>>>(values);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    return cudaFree(values) != cudaSuccess;
}
