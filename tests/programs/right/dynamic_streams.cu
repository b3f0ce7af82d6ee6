// Right: what kernels launch into the streams that there are: in order within one, events between
// two, and what a function of the device runtime answers.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t e = (call);                                                                    \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(e));                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

// Not commutative: the order of two steps shows.
__global__ void step(int *value, int digit)
{
    *value = *value * 10 + digit;
}

__global__ void in_one_block(int *values)
{
    values[threadIdx.x] = static_cast<int>(threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 0) step<<<1, 1>>>(values + 5, 1);
    __syncthreads();
    if (threadIdx.x == 33) step<<<1, 1>>>(values + 5, 2);
    __syncthreads();
    if (threadIdx.x == 2) step<<<1, 1, 0, cudaStreamTailLaunch>>>(values + 5, 4);
    __syncthreads();
    if (threadIdx.x == 1) step<<<1, 1>>>(values + 5, 3);
    step<<<1, 1, 0, cudaStreamPerThread>>>(values + 64 + threadIdx.x, 1);
    step<<<1, 1, 0, cudaStreamPerThread>>>(values + 64 + threadIdx.x, 2);
}

__global__ void by_events(int *value, int *errors)
{
    cudaStream_t a, b;
    cudaEvent_t event;
    *errors = cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking) != cudaSuccess;
    *errors += cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking) != cudaSuccess;
    *errors += cudaEventCreateWithFlags(&event, cudaEventDisableTiming) != cudaSuccess;
    step<<<1, 1, 0, a>>>(value, 1);
    *errors += cudaEventRecord(event, a) != cudaSuccess;
    *errors += cudaStreamWaitEvent(b, event, 0) != cudaSuccess;
    step<<<1, 1, 0, b>>>(value, 2);
    *errors += cudaEventRecord(event, b) != cudaSuccess;
    *errors += cudaStreamWaitEvent(a, event, 0) != cudaSuccess;
    step<<<1, 1, 0, a>>>(value, 3);
    *errors += cudaEventDestroy(event) != cudaSuccess;
    *errors += cudaStreamDestroy(a) != cudaSuccess;
    *errors += cudaStreamDestroy(b) != cudaSuccess;
    int device = -1;
    size_t pending = 0;
    *errors += cudaGetDevice(&device) != cudaSuccess || device != 0;
    *errors += cudaDeviceGetLimit(&pending, cudaLimitDevRuntimePendingLaunchCount) != cudaSuccess;
    *errors += pending != 2048 || cudaGetLastError() != cudaSuccess;
    *errors += cudaStreamCreateWithFlags(&a, cudaStreamDefault) != cudaErrorInvalidValue;
    *errors += cudaPeekAtLastError() != cudaErrorInvalidValue;
    *errors += cudaGetLastError() != cudaErrorInvalidValue;
    *errors += cudaGetLastError() != cudaSuccess;
}

// Memory that a kernel allocates is its children's too, and the last of them frees it.
__global__ void give_back(int *memory, int *value)
{
    *value = *memory;
    *value += cudaFree(memory) != cudaSuccess;
}

__global__ void with_memory(int *value)
{
    int *memory;
    if (cudaMalloc(reinterpret_cast<void **>(&memory), 1 << 10) != cudaSuccess) return;
    *memory = 4;
    step<<<1, 1>>>(memory, 2);
    give_back<<<1, 1>>>(memory, value);
}

int main()
{
    int *values, host[131];
    CHECK(cudaMalloc(&values, sizeof host));
    CHECK(cudaMemset(values, 0, sizeof host));
    in_one_block<<<1, 64>>>(values);
    by_events<<<1, 1>>>(values + 128, values + 129);
    with_memory<<<1, 1>>>(values + 130);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host, values, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(values));
    int wrong = host[5] != 51234 || host[128] != 123 || host[129] != 0 || host[130] != 42;
    for (int i = 0; i < 64; i++) wrong += host[64 + i] != 12 || (i != 5 && host[i] != i);
    if (wrong != 0) fprintf(stderr, "%d %d %d %d\n", host[5], host[128], host[129], host[130]);
    return wrong != 0;
}
