// Right: a running kernel and the host talk through mapped pinned memory: system-scope atomics, and
// the older fence + volatile form.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cuda/atomic>
#include <cuda_runtime.h>
#include <new>
#include <thread>

#define CK(x)                                                                                      \
    do {                                                                                           \
        cudaError_t e = (x);                                                                       \
        if (e != cudaSuccess) {                                                                    \
            fprintf(stderr, "%s: %s (%d)\n", #x, cudaGetErrorString(e), __LINE__);                 \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

using SysFlag = cuda::atomic<unsigned, cuda::thread_scope_system>;

constexpr int kItems = 128;
constexpr int kRounds = 12;

struct Mailbox {
    SysFlag request; // host -> device: number of requests posted
    SysFlag reply;   // device -> host: number of replies posted
    int question[kItems];
    int answer[kItems];
};

// One block serves requests until told to stop (question[0] negative).
__global__ void server(Mailbox *box)
{
    __shared__ int stop;
    for (unsigned k = 1;; ++k) {
        if (threadIdx.x == 0) {
            while (box->request.load(cuda::memory_order_acquire) < k) __nanosleep(100);
            stop = box->question[0] < 0;
        }
        __syncthreads();
        if (stop) break;
        int q = box->question[threadIdx.x];
        int other = box->question[kItems - 1 - threadIdx.x];
        box->answer[threadIdx.x] = q * q + other;
        __syncthreads();
        if (threadIdx.x == 0) box->reply.store(k, cuda::memory_order_release);
    }
    if (threadIdx.x == 0) box->reply.store(0xffffffffu, cuda::memory_order_release);
}

// The older form: write the data, __threadfence_system, raise a flag the host polls.
__global__ void ticker(int *values, volatile int *progress, int steps)
{
    unsigned s = 1;
    for (int k = 0; k < steps; ++k) {
        s = s * 1664525u + 1013904223u;
        values[k] = (int)(s >> 8);
        __threadfence_system();
        *progress = k + 1;
    }
}

int main()
{
    int canMap = 0;
    CK(cudaDeviceGetAttribute(&canMap, cudaDevAttrCanMapHostMemory, 0));
    if (!canMap) {
        printf("cannot map host memory\nPASS\n");
        return 0;
    }

    int bad = 0;
    cudaStream_t s;
    CK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));

    Mailbox *box, *dBox;
    CK(cudaHostAlloc(&box, sizeof(Mailbox), cudaHostAllocMapped));
    new (&box->request) SysFlag(0u);
    new (&box->reply) SysFlag(0u);
    CK(cudaHostGetDevicePointer(&dBox, box, 0));

    server<<<1, kItems, 0, s>>>(dBox);
    CK(cudaGetLastError());
    for (unsigned k = 1; k <= kRounds; ++k) {
        for (int i = 0; i < kItems; ++i) box->question[i] = (int)(k * 10 + i);
        box->request.store(k, cuda::memory_order_release);
        while (box->reply.load(cuda::memory_order_acquire) < k) {
            cudaError_t q = cudaStreamQuery(s);
            if (q != cudaErrorNotReady && q != cudaSuccess) CK(q);
            std::this_thread::yield();
        }
        for (int i = 0; i < kItems; ++i) {
            int a = (int)(k * 10 + i), b = (int)(k * 10 + kItems - 1 - i);
            if (box->answer[i] != a * a + b && bad++ < 5)
                printf("round %u answer[%d] = %d, expected %d\n", k, i, box->answer[i], a * a + b);
        }
    }
    box->question[0] = -1;
    box->request.store(kRounds + 1, cuda::memory_order_release);
    CK(cudaStreamSynchronize(s));
    if (box->reply.load() != 0xffffffffu) {
        printf("the server did not say good-bye\n");
        ++bad;
    }

    const int steps = 200;
    int *values, *progress, *dValues, *dProgress;
    CK(cudaHostAlloc(&values, steps * sizeof(int), cudaHostAllocMapped));
    CK(cudaHostAlloc(&progress, sizeof(int), cudaHostAllocMapped));
    *progress = 0;
    CK(cudaHostGetDevicePointer(&dValues, values, 0));
    CK(cudaHostGetDevicePointer(&dProgress, progress, 0));
    ticker<<<1, 1, 0, s>>>(dValues, dProgress, steps);
    CK(cudaGetLastError());
    int seen = 0;
    unsigned ref = 1;
    while (seen < steps) {
        int upto = *(volatile int *)progress;
        std::atomic_thread_fence(std::memory_order_acquire);
        for (; seen < upto; ++seen) {
            ref = ref * 1664525u + 1013904223u;
            int v = *(volatile int *)&values[seen];
            if (v != (int)(ref >> 8) && bad++ < 10)
                printf("value %d is %d, expected %d\n", seen, v, (int)(ref >> 8));
        }
        std::this_thread::yield();
    }
    CK(cudaStreamSynchronize(s));
    CK(cudaStreamDestroy(s));
    CK(cudaFreeHost(box));
    CK(cudaFreeHost(values));
    CK(cudaFreeHost(progress));
    if (bad) return 1;
    printf("PASS\n");
    return 0;
}
