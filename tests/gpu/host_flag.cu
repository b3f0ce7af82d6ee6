// A kernel that writes results into page-locked memory and then raises a flag there, which the host
// polls before it reads them, asked of an H200: in how many rounds the host read an old one, by the
// fence that stands between. Where many blocks write, how many is chance: some in four of nine
// runs, up to 1,324 of 2,000 rounds. None where the fence is for the system.
//
//     nvcc -std=c++17 -arch=sm_90 -o host_flag tests/gpu/host_flag.cu -lcuda
//     ./host_flag >tests/gpu/host_flag.txt
#include "gpu.cuh"
#include <cstring>
#include <ctime>

enum { ROUNDS = 2000, SECONDS = 1, THREADS = 1024, BLOCKS = 64, MOST = THREADS * BLOCKS };

enum fence { NONE, BLOCK, DEVICE, SYSTEM, RELEASE_DEVICE, RELEASE_SYSTEM };

template <int FENCE> __device__ void raise(volatile int *flag, int round)
{
    if (FENCE == BLOCK) __threadfence_block();
    if (FENCE == DEVICE) __threadfence();
    if (FENCE == SYSTEM) __threadfence_system();
    if (FENCE == RELEASE_DEVICE)
        asm volatile("st.release.gpu.b32 [%0], %1;" ::"l"(flag), "r"(round) : "memory");
    else if (FENCE == RELEASE_SYSTEM)
        asm volatile("st.release.sys.b32 [%0], %1;" ::"l"(flag), "r"(round) : "memory");
    else
        *flag = round;
}

// One thread.
template <int FENCE> __global__ void alone(int *data, int *flag, int *, int round)
{
    for (int k = 0; k < 64; k++) data[k] = round;
    raise<FENCE>(flag, round);
}

// One block: a barrier, then one thread's fence for all.
template <int FENCE> __global__ void block(int *data, int *flag, int *, int round)
{
    for (int k = 0; k < 4; k++) data[k * THREADS + threadIdx.x] = round;
    __syncthreads();
    if (threadIdx.x == 0) raise<FENCE>(flag, round);
}

// Many blocks: the last one tells. They count behind a fence for the device.
template <int FENCE> __global__ void blocks(int *data, int *flag, int *count, int round)
{
    data[blockIdx.x * THREADS + threadIdx.x] = round;
    __threadfence();
    __syncthreads();
    if (threadIdx.x != 0 || atomicAdd(count, 1) != (int)gridDim.x - 1) return;
    *count = 0;
    raise<FENCE>(flag, round);
}

static int *data, *flag, *count;

static double now()
{
    timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

template <typename K>
static void ask(const char *what, const char *fence, K kernel, int grid, int threads, int words)
{
    int rounds = 0, old = 0;
    const double begin = now();
    while (rounds < ROUNDS && now() - begin < SECONDS) {
        bool is_old = false;
        kernel<<<grid, threads>>>(data, flag, count, ++rounds);
        CHECK(cudaGetLastError());
        while (*(volatile int *)flag != rounds) continue;
        for (int i = words; i-- > 0;) is_old |= ((volatile int *)data)[i] != rounds;
        old += is_old;
        CHECK(cudaDeviceSynchronize());
    }
    *flag = 0;
    memset(data, 0, MOST * sizeof *data);
    if (grid > 1 && strstr(fence, "sys") == NULL)
        printf("~%s, %s: old values in %d of %d rounds\n", what, fence, old, rounds);
    else
        printf("%s, %s: old values in %d rounds\n", what, fence, old);
}

template <int FENCE> static void ask_all(const char *fence)
{
    ask("one thread", fence, alone<FENCE>, 1, 1, 64);
    ask("one block", fence, block<FENCE>, 1, THREADS, 4 * THREADS);
    ask("64 blocks", fence, blocks<FENCE>, BLOCKS, THREADS, MOST);
}

int main()
{
    CHECK(cudaHostAlloc(&data, MOST * sizeof *data, cudaHostAllocMapped));
    CHECK(cudaHostAlloc(&flag, sizeof *flag, cudaHostAllocMapped));
    CHECK(cudaMalloc(&count, sizeof *count));
    CHECK(cudaMemset(count, 0, sizeof *count));
    memset(data, 0, MOST * sizeof *data);
    *flag = 0;
    ask_all<NONE>("no fence");
    ask_all<BLOCK>("__threadfence_block()");
    ask_all<DEVICE>("__threadfence()");
    ask_all<RELEASE_DEVICE>("st.release.gpu");
    ask_all<SYSTEM>("__threadfence_system()");
    ask_all<RELEASE_SYSTEM>("st.release.sys");
    CHECK(cudaFreeHost(data));
    CHECK(cudaFreeHost(flag));
    CHECK(cudaFree(count));
    return 0;
}
