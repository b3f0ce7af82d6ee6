// Right: a kernel behind another one's programmatic event, in another stream, waits for all of it
// before it reads what it has written. In the same stream one waits for all of it anyway.
#include <cuda_runtime.h>

#include <cstdio>

enum { N = 4096, THREADS = 128 };

__global__ void fill(int *values)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    values[i] = i * 3;
    cudaTriggerProgrammaticLaunchCompletion();
    values[i] += 1;
}

__global__ void shift(const int *values, int *shifted)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    cudaGridDependencySynchronize();
    shifted[i] = values[(i + 1) % N];
}

__global__ void shift_at_once(const int *values, int *shifted)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    shifted[i] = values[(i + 1) % N];
}

int main()
{
    int *values, *shifted, last = 0;
    cudaEvent_t event;
    cudaStream_t first, second;
    if (cudaMalloc(&values, N * sizeof *values) != cudaSuccess ||
        cudaMalloc(&shifted, N * sizeof *shifted) != cudaSuccess ||
        cudaEventCreateWithFlags(&event, cudaEventDisableTiming) != cudaSuccess ||
        cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking) != cudaSuccess ||
        cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking) != cudaSuccess)
        return 2;
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticEvent;
    attribute.val.programmaticEvent.event = event;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(N / THREADS);
    config.blockDim = dim3(THREADS);
    config.stream = first;
    config.attrs = &attribute;
    config.numAttrs = 1;
    if (cudaLaunchKernelEx(&config, fill, values) != cudaSuccess ||
        cudaStreamWaitEvent(second, event, 0) != cudaSuccess)
        return 2;
    shift<<<N / THREADS, THREADS, 0, second>>>(values, shifted);
    if (cudaDeviceSynchronize() != cudaSuccess ||
        cudaMemcpy(&last, shifted + N - 1, sizeof last, cudaMemcpyDefault) != cudaSuccess)
        return 2;
    if (last != 1) {
        printf("%d\n", last);
        return 1;
    }
    if (cudaLaunchKernelEx(&config, fill, values) != cudaSuccess ||
        cudaStreamWaitEvent(first, event, 0) != cudaSuccess)
        return 2;
    shift_at_once<<<N / THREADS, THREADS, 0, first>>>(values, shifted);
    if (cudaDeviceSynchronize() != cudaSuccess) return 2;
    return cudaFree(values) != cudaSuccess || cudaFree(shifted) != cudaSuccess ||
           cudaEventDestroy(event) != cudaSuccess || cudaStreamDestroy(first) != cudaSuccess ||
           cudaStreamDestroy(second) != cudaSuccess;
}
