// Right: kernels that run while others do learn by a flag that data is there: from the host, from a
// copy, from a host function, from another kernel, from a value that a stream writes; and they tell
// the host and other streams. Nothing but the flag orders the data.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>

enum { N = 256 };

#define MUST(call)                                                                                 \
    if ((call) != 0) return 2

static __device__ int all_right;

static __global__ void fill(int *data, int value)
{
    data[threadIdx.x] = value;
}

static __global__ void check_after(volatile int *flag, const int *data, int value)
{
    if (threadIdx.x == 0) {
        while (*flag == 0) continue;
        __threadfence_system();
    }
    __syncthreads();
    if (data[threadIdx.x] == value) atomicAdd(&all_right, 1);
}

// The same with atomics that leave the flags as they are instead of volatile loads.
static __global__ void check_after_asking(int *flag, unsigned *other_flag, const int *data,
                                          int value)
{
    if (threadIdx.x == 0) {
        while (atomicAdd(flag, 0) == 0) continue;
        while (atomicOr(other_flag, 0) == 0) continue;
        __threadfence();
    }
    __syncthreads();
    if (data[threadIdx.x] == value) atomicAdd(&all_right, 1);
}

// Tells that its data is there, and then goes on until it is told to end.
static __global__ void make_and_stay(int *data, int value, volatile int *made, volatile int *stop)
{
    data[threadIdx.x] = value;
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x > 0) return;
    *made = 1;
    while (*stop == 0) continue;
}

static __global__ void make_and_tell(int *data, int value, volatile int *made)
{
    data[threadIdx.x] = value;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) *made = 1;
}

static void CUDART_CB raise(void *flag)
{
    *(volatile int *)flag = 1;
}

static int *data, *flag, *stop, *device_flag, *host;
static cudaStream_t one, other;

static int start_over()
{
    MUST(cudaDeviceSynchronize());
    *flag = *stop = 0;
    MUST(cudaMemset(device_flag, 0, sizeof *device_flag));
    MUST(cudaMemset(data, 0, N * sizeof *data));
    for (int i = 0; i < N; i++) host[i] = 0;
    return cudaDeviceSynchronize();
}

static int total(int value)
{
    int right = 0;
    for (int i = 0; i < N; i++) right += host[i] == value;
    return right;
}

// The host waits for the data, and then tells the kernel that has begun already.
static int host_tells()
{
    MUST(start_over());
    check_after<<<1, N, 0, one>>>(flag, data, 5);
    fill<<<1, N, 0, other>>>(data, 5);
    MUST(cudaStreamSynchronize(other));
    *(volatile int *)flag = 1;
    return cudaStreamSynchronize(one);
}

static int host_function_tells()
{
    MUST(start_over());
    check_after<<<1, N, 0, one>>>(flag, data, 6);
    fill<<<1, N, 0, other>>>(data, 6);
    MUST(cudaLaunchHostFunc(other, raise, flag));
    return cudaStreamSynchronize(one);
}

// A copy of the flag behind the data, in one stream.
static int copy_tells()
{
    MUST(start_over());
    check_after<<<1, N, 0, one>>>(device_flag, data, 7);
    fill<<<1, N, 0, other>>>(data, 7);
    *stop = 1;
    MUST(cudaMemcpyAsync(device_flag, stop, sizeof *stop, cudaMemcpyHostToDevice, other));
    return cudaStreamSynchronize(one);
}

static int value_tells()
{
    MUST(start_over());
    check_after<<<1, N, 0, one>>>(device_flag, data, 8);
    fill<<<1, N, 0, other>>>(data, 8);
    MUST(cuStreamWriteValue32(other, (CUdeviceptr)device_flag, 1, 0));
    return cudaStreamSynchronize(one);
}

// What is behind the kernel that was told is behind the one that told it.
static int kernel_tells()
{
    MUST(start_over());
    make_and_tell<<<1, N, 0, one>>>(data, 9, device_flag);
    check_after<<<1, N, 0, other>>>(device_flag, data, 9);
    MUST(cudaMemcpyAsync(host, data, N * sizeof *data, cudaMemcpyDeviceToHost, other));
    return cudaStreamSynchronize(other);
}

// The one that is told has begun before.
static int kernel_tells_who_asks()
{
    MUST(start_over());
    check_after_asking<<<1, N, 0, other>>>(device_flag, (unsigned *)device_flag, data, 14);
    make_and_tell<<<1, N, 0, one>>>(data, 14, device_flag);
    MUST(cudaMemcpyAsync(host, data, N * sizeof *data, cudaMemcpyDeviceToHost, other));
    return cudaStreamSynchronize(other);
}

static int kernel_tells_a_stream()
{
    MUST(start_over());
    make_and_stay<<<1, N, 0, one>>>(data, 10, device_flag, stop);
    MUST(cuStreamWaitValue32(other, (CUdeviceptr)device_flag, 1, CU_STREAM_WAIT_VALUE_GEQ));
    MUST(cudaMemcpyAsync(host, data, N * sizeof *data, cudaMemcpyDeviceToHost, other));
    MUST(cudaStreamSynchronize(other));
    *(volatile int *)stop = 1;
    return cudaStreamSynchronize(one);
}

// The host sees the flag while the kernel goes on, and starts work that uses the data.
static int kernel_tells_the_host()
{
    MUST(start_over());
    make_and_stay<<<1, N, 0, one>>>(data, 11, flag, stop);
    while (*(volatile int *)flag == 0) continue;
    MUST(cudaMemcpyAsync(host, data, N * sizeof *data, cudaMemcpyDeviceToHost, other));
    *(volatile int *)stop = 1;
    return cudaDeviceSynchronize();
}

// The same with a flag on the device, which the host copies until it is set.
static int kernel_tells_by_a_copy()
{
    MUST(start_over());
    make_and_stay<<<1, N, 0, one>>>(data, 12, device_flag, stop);
    while (*flag == 0) {
        MUST(cudaMemcpyAsync(flag, device_flag, sizeof *flag, cudaMemcpyDeviceToHost, other));
        MUST(cudaStreamSynchronize(other));
    }
    MUST(cudaMemcpyAsync(host, data, N * sizeof *data, cudaMemcpyDeviceToHost, other));
    *(volatile int *)stop = 1;
    return cudaDeviceSynchronize();
}

static int ended_kernel_tells_by_a_copy()
{
    MUST(start_over());
    make_and_tell<<<1, N, 0, one>>>(data, 13, device_flag);
    while (*flag == 0) {
        MUST(cudaMemcpyAsync(flag, device_flag, sizeof *flag, cudaMemcpyDeviceToHost, other));
        MUST(cudaStreamSynchronize(other));
    }
    MUST(cudaMemcpyAsync(host, data, N * sizeof *data, cudaMemcpyDeviceToHost, other));
    return cudaStreamSynchronize(other);
}

// A kernel that is loaded at its first launch would wait for those that run.
static int load()
{
    cudaFuncAttributes attributes;
    MUST(cudaFuncGetAttributes(&attributes, fill));
    MUST(cudaFuncGetAttributes(&attributes, check_after));
    MUST(cudaFuncGetAttributes(&attributes, check_after_asking));
    MUST(cudaFuncGetAttributes(&attributes, make_and_stay));
    return cudaFuncGetAttributes(&attributes, make_and_tell);
}

int main()
{
    int right = 0, sum = 0;
    MUST(load());
    MUST(cudaMalloc(&data, N * sizeof *data));
    MUST(cudaMalloc(&device_flag, sizeof *device_flag));
    MUST(cudaMallocHost(&flag, sizeof *flag));
    MUST(cudaMallocHost(&stop, sizeof *stop));
    MUST(cudaMallocHost(&host, N * sizeof *host));
    MUST(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    MUST(host_tells());
    MUST(host_function_tells());
    MUST(copy_tells());
    MUST(value_tells());
    MUST(kernel_tells());
    sum += total(9);
    MUST(kernel_tells_who_asks());
    sum += total(14);
    MUST(kernel_tells_a_stream());
    sum += total(10);
    MUST(kernel_tells_the_host());
    sum += total(11);
    MUST(kernel_tells_by_a_copy());
    sum += total(12);
    MUST(ended_kernel_tells_by_a_copy());
    sum += total(13);
    MUST(cudaMemcpyFromSymbol(&right, all_right, sizeof right));
    printf("%d %d\n", right, sum);
    MUST(cudaStreamDestroy(one));
    MUST(cudaStreamDestroy(other));
    MUST(cudaFree(data));
    MUST(cudaFree(device_flag));
    MUST(cudaFreeHost(flag));
    MUST(cudaFreeHost(stop));
    MUST(cudaFreeHost(host));
    return right == 6 * N && sum == 6 * N ? 0 : 1;
}
