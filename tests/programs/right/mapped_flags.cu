// Right: kernels raise flags in mapped memory that the host polls, and the host reads what they
// have done: behind a fence; in the flag's own allocation; or, with no fence, once it has waited
// for the kernel, or has seen the flag of a later kernel that has one. Advice: none
#include <cuda_runtime.h>

#include <cstdio>

enum { N = 256 };

#define MUST(call)                                                                                 \
    if ((call) != cudaSuccess) return 2

__global__ void square_fenced(int *squares, volatile int *flag)
{
    const int i = (int)threadIdx.x;
    squares[i] = i * i;
    __threadfence_system();
    __syncthreads();
    if (i == 0) *flag = 1;
}

// How far it is; the result is read later.
__global__ void square_telling(int *squares, volatile int *progress)
{
    const int i = (int)threadIdx.x;
    squares[i] = i * i;
    __syncthreads();
    if (i == 0) *progress = 1;
}

__global__ void count_telling(int *values, int *count)
{
    values[threadIdx.x] = 1;
    atomicAdd_system(count, 1);
}

__global__ void raise_flag(volatile int *flag)
{
    __threadfence_system();
    *flag = 1;
}

static int *squares, *flag, *seen;

static void wait_for(const int *value, int wanted)
{
    while (*(const volatile int *)value != wanted) continue;
}

static int start_over()
{
    MUST(cudaDeviceSynchronize());
    *flag = *seen = 0;
    return 0;
}

static int last()
{
    return ((volatile int *)squares)[N - 1];
}

int main()
{
    cudaEvent_t done;
    int sum = 0;
    MUST(cudaHostAlloc(&squares, N * sizeof *squares, cudaHostAllocMapped));
    MUST(cudaHostAlloc(&flag, sizeof *flag, cudaHostAllocMapped));
    MUST(cudaHostAlloc(&seen, sizeof *seen, cudaHostAllocMapped));
    MUST(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    if (start_over() != 0) return 2;
    square_fenced<<<1, N>>>(squares, flag);
    wait_for(flag, 1);
    sum += last();
    if (start_over() != 0) return 2;
    square_telling<<<1, N>>>(squares, flag);
    MUST(cudaEventRecord(done));
    wait_for(flag, 1);
    while (cudaEventQuery(done) == cudaErrorNotReady) continue;
    sum += last();
    if (start_over() != 0) return 2;
    square_telling<<<1, N>>>(squares, flag);
    raise_flag<<<1, 1>>>(seen);
    wait_for(seen, 1);
    sum += last();
    if (start_over() != 0) return 2;
    count_telling<<<1, N>>>(squares, flag);
    wait_for(flag, N);
    MUST(cudaDeviceSynchronize());
    sum += last();
    MUST(cudaEventDestroy(done));
    MUST(cudaFreeHost(squares));
    MUST(cudaFreeHost(flag));
    MUST(cudaFreeHost(seen));
    return sum != 3 * (N - 1) * (N - 1) + 1;
}
