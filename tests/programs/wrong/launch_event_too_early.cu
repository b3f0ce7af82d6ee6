// Wrong: a kernel behind another one's launch completion event, in another stream, reads what that
// one still writes: the event comes when its blocks have begun, and cudaGridDependencySynchronize()
// waits for what a programmatic event stands for, but not for this one. So it is on an H200.
// Found: race
#include <cuda_runtime.h>

#include <cstdio>

enum { N = 4096, THREADS = 128 };

__global__ void fill(int *values)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    values[i] = i * 3;
}

__global__ void shift(const int *values, int *shifted)
{
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    cudaGridDependencySynchronize();
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
    attribute.id = cudaLaunchAttributeLaunchCompletionEvent;
    attribute.val.launchCompletionEvent.event = event;
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
    printf("%d\n", last);
    return cudaFree(values) != cudaSuccess || cudaFree(shifted) != cudaSuccess ||
           cudaEventDestroy(event) != cudaSuccess || cudaStreamDestroy(first) != cudaSuccess ||
           cudaStreamDestroy(second) != cudaSuccess;
}
