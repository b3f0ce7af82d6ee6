// Wrong: the second kernel may begin while the first one runs, and takes its result too early.
// Found: race of a dependent launch
#include <cuda_runtime.h>

enum { N = 4096, THREADS = 128 };

__global__ void fill(int *values)
{
    cudaTriggerProgrammaticLaunchCompletion();
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    values[i] = i * 3;
}

__global__ void shift(const int *values, int *shifted)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const int mine = values[i];
    cudaGridDependencySynchronize();
    shifted[i] = mine + values[(i + 1) % N];
}

int main()
{
    int *values, *shifted;
    if (cudaMalloc(&values, N * sizeof *values) != cudaSuccess ||
        cudaMalloc(&shifted, N * sizeof *shifted) != cudaSuccess ||
        cudaMemset(values, 0, N * sizeof *values) != cudaSuccess)
        return 2;
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(N / THREADS);
    config.blockDim = dim3(THREADS);
    config.attrs = &attribute;
    config.numAttrs = 1;
    fill<<<N / THREADS, THREADS>>>(values);
    if (cudaLaunchKernelEx(&config, shift, (const int *)values, shifted) != cudaSuccess ||
        cudaDeviceSynchronize() != cudaSuccess)
        return 2;
    return cudaFree(values) != cudaSuccess || cudaFree(shifted) != cudaSuccess;
}
