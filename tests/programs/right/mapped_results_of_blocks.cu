// Right: blocks talk among themselves behind fences of the device, and the host reads what they
// left in mapped memory once it has waited; it follows their progress meanwhile, uses what lies
// beside the results, and reads them early where the flag is released for the system. Advice: none
#include <cuda/atomic>
#include <cuda_runtime.h>

#include <cstdio>

enum { BLOCKS = 16, THREADS = 64, N = BLOCKS * THREADS };

#define MUST(call)                                                                                 \
    if ((call) != cudaSuccess) return 2

__device__ unsigned ended;

// The last block adds up. Nothing tells the host but the kernel's end.
__global__ void sum_of_all(int *results)
{
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    __shared__ bool is_last;
    results[i] = i;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) is_last = atomicAdd(&ended, 1) == BLOCKS - 1;
    __syncthreads();
    if (!is_last || threadIdx.x != 0) return;
    __threadfence();
    int sum = 0;
    for (int k = 0; k < N; k++) sum += ((volatile int *)results)[k];
    results[N] = sum;
    ended = 0;
}

// Blocks count for the host how far they are, without a fence.
__global__ void counting(int *results, int *progress)
{
    results[blockIdx.x * THREADS + threadIdx.x] = 3;
    if (threadIdx.x == 0) atomicAdd_system(progress, 1);
}

__global__ void releasing(int *results, int *flag)
{
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    results[i] = 2 * i;
    __threadfence();
    __syncthreads();
    if (threadIdx.x != 0 || atomicAdd(&ended, 1) != BLOCKS - 1) return;
    ended = 0;
    cuda::atomic_ref<int, cuda::thread_scope_system>(*flag).store(1, cuda::memory_order_release);
}

static int *results, *flag;

static int last_of(int index)
{
    return ((volatile int *)results)[index];
}

int main()
{
    MUST(cudaHostAlloc(&results, (2 * N + 1) * sizeof *results, cudaHostAllocMapped));
    MUST(cudaHostAlloc(&flag, sizeof *flag, cudaHostAllocMapped));
    *flag = 0;
    sum_of_all<<<BLOCKS, THREADS>>>(results);
    MUST(cudaDeviceSynchronize());
    if (last_of(N) != N * (N - 1) / 2) return 1;

    counting<<<BLOCKS, THREADS>>>(results, flag);
    MUST(cudaGetLastError());
    for (int seen = 0; seen < BLOCKS;) {
        seen = *(volatile int *)flag;
        ((volatile int *)results)[N + 1 + seen] = seen;
    }
    MUST(cudaStreamSynchronize(0));
    if (last_of(N - 1) != 3 || last_of(N + 1 + BLOCKS) != BLOCKS) return 1;

    *flag = 0;
    releasing<<<BLOCKS, THREADS>>>(results, flag);
    MUST(cudaGetLastError());
    while (cuda::atomic_ref<int, cuda::thread_scope_system>(*flag).load(
               cuda::memory_order_acquire) == 0)
        continue;
    if (last_of(N - 1) != 2 * (N - 1)) return 1;
    MUST(cudaDeviceSynchronize());
    MUST(cudaFreeHost(results));
    MUST(cudaFreeHost(flag));
    return 0;
}
