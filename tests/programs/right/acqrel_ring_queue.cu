// Right: blocks pass messages through rings in global memory, acquire/release cuda::atomic,
// co-resident by cooperative launch.
#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>
#include <cuda_runtime.h>
#include <vector>

#define CHECK_RT(x)                                                                                \
    do {                                                                                           \
        cudaError_t err__ = (x);                                                                   \
        if (err__ != cudaSuccess) {                                                                \
            fprintf(stderr, "%s:%d %s\n", __FILE__, __LINE__, cudaGetErrorString(err__));          \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

constexpr int SLOTS = 4;
constexpr int WIDTH = 64; // ints per message, one per thread

struct Ring {
    cuda::atomic<unsigned, cuda::thread_scope_device> head; // messages written
    cuda::atomic<unsigned, cuda::thread_scope_device> tail; // messages read
    int data[SLOTS][WIDTH];
};

__global__ void initRings(Ring *rings, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        new (&rings[i].head) cuda::atomic<unsigned, cuda::thread_scope_device>(0u);
        new (&rings[i].tail) cuda::atomic<unsigned, cuda::thread_scope_device>(0u);
    }
}

__device__ void push(Ring &r, unsigned k, int value)
{
    if (threadIdx.x == 0)
        while (k - r.tail.load(cuda::memory_order_acquire) >= SLOTS) __nanosleep(20);
    __syncthreads();
    r.data[k % SLOTS][threadIdx.x] = value;
    __syncthreads();
    if (threadIdx.x == 0) r.head.store(k + 1, cuda::memory_order_release);
}

__device__ int pop(Ring &r, unsigned k)
{
    if (threadIdx.x == 0)
        while (r.head.load(cuda::memory_order_acquire) <= k) __nanosleep(20);
    __syncthreads();
    int v = r.data[k % SLOTS][threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) r.tail.store(k + 1, cuda::memory_order_release);
    return v;
}

// a chain of blocks: 0 produces, the ones in the middle transform, the last one sums
__global__ void chain(Ring *rings, long long *sums, int messages)
{
    const int stage = blockIdx.x, last = gridDim.x - 1, t = threadIdx.x;
    long long acc = 0;
    for (int k = 0; k < messages; ++k) {
        int v = stage == 0 ? (k * 131 + t * 7) % 1009 : pop(rings[stage - 1], k);
        if (stage == last)
            acc += (long long)v * (k + 1);
        else
            push(rings[stage], k, stage == 0 ? v : (v * 3 + stage) % 10007);
    }
    if (stage == last) sums[t] = acc;
}

// a one-shot broadcast: payload, then a release fence and a relaxed flag; readers use the acquire
// fence
__global__ void broadcast(int *payload, int *flag, int *out)
{
    cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
    __shared__ int token;
    if (blockIdx.x == 0) {
        payload[threadIdx.x] = 1000 + threadIdx.x;
        __syncthreads();
        if (threadIdx.x == 0) {
            cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
            f.store(42, cuda::memory_order_relaxed);
        }
    }
    if (threadIdx.x == 0) {
        int v;
        while ((v = f.load(cuda::memory_order_relaxed)) == 0) {
        }
        cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
        token = v;
    }
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = payload[(threadIdx.x + 1) % blockDim.x] + token;
}

int main()
{
    int dev, coop;
    CHECK_RT(cudaGetDevice(&dev));
    CHECK_RT(cudaDeviceGetAttribute(&coop, cudaDevAttrCooperativeLaunch, dev));
    if (!coop) {
        printf("needs cooperative launch\nPASS\n");
        return 0;
    }

    const int stages = 4;
    int messages = 40;
    Ring *rings;
    long long *sums;
    int *payload, *flag, *out;
    CHECK_RT(cudaMalloc(&rings, (stages - 1) * sizeof(Ring)));
    CHECK_RT(cudaMalloc(&sums, WIDTH * sizeof(long long)));
    CHECK_RT(cudaMalloc(&payload, WIDTH * sizeof(int)));
    CHECK_RT(cudaMalloc(&flag, sizeof(int)));
    CHECK_RT(cudaMalloc(&out, stages * WIDTH * sizeof(int)));
    CHECK_RT(cudaMemset(flag, 0, sizeof(int)));

    initRings<<<1, 32>>>(rings, stages - 1);
    CHECK_RT(cudaGetLastError());
    void *args[] = {&rings, &sums, &messages};
    CHECK_RT(cudaLaunchCooperativeKernel((const void *)chain, dim3(stages), dim3(WIDTH), args, 0,
                                         nullptr));
    void *args2[] = {&payload, &flag, &out};
    CHECK_RT(cudaLaunchCooperativeKernel((const void *)broadcast, dim3(stages), dim3(WIDTH), args2,
                                         0, nullptr));
    CHECK_RT(cudaDeviceSynchronize());

    std::vector<long long> got(WIDTH);
    std::vector<int> gotOut(stages * WIDTH);
    CHECK_RT(cudaMemcpy(got.data(), sums, WIDTH * sizeof(long long), cudaMemcpyDeviceToHost));
    CHECK_RT(cudaMemcpy(gotOut.data(), out, gotOut.size() * sizeof(int), cudaMemcpyDeviceToHost));
    int bad = 0;
    for (int t = 0; t < WIDTH; ++t) {
        long long want = 0;
        for (int k = 0; k < messages; ++k) {
            int v = (k * 131 + t * 7) % 1009;
            for (int s = 1; s < stages - 1; ++s) v = (v * 3 + s) % 10007;
            want += (long long)v * (k + 1);
        }
        if (got[t] != want && bad++ < 5) printf("lane %d: %lld, expected %lld\n", t, got[t], want);
    }
    for (int i = 0; i < stages * WIDTH; ++i) {
        int want = 1000 + (i % WIDTH + 1) % WIDTH + 42;
        if (gotOut[i] != want && bad++ < 10)
            printf("broadcast[%d]: %d, expected %d\n", i, gotOut[i], want);
    }
    CHECK_RT(cudaFree(rings));
    CHECK_RT(cudaFree(sums));
    CHECK_RT(cudaFree(payload));
    CHECK_RT(cudaFree(flag));
    CHECK_RT(cudaFree(out));
    if (bad) return 1;
    printf("PASS\n");
    return 0;
}
