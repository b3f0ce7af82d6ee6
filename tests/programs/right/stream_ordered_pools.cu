// Right: cudaMallocAsync / cudaFreeAsync from the default and an own pool, buffers handed between
// streams with events.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

#define CHECK(x)                                                                                   \
    do {                                                                                           \
        cudaError_t e_ = (x);                                                                      \
        if (e_ != cudaSuccess) {                                                                   \
            fprintf(stderr, "%s @%d: %s\n", #x, __LINE__, cudaGetErrorString(e_));                 \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

__global__ void generate(uint32_t *v, int n, uint32_t seed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        uint32_t x = seed * 9781u + (uint32_t)i * 6271u;
        x ^= x >> 13;
        x *= 0x5bd1e995u;
        v[i] = x ^ (x >> 15);
    }
}

__global__ void pairUp(const uint32_t *a, const uint32_t *b, uint64_t *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = (uint64_t)a[i] * b[n - 1 - i];
}

__global__ void fold(const uint64_t *v, int n, unsigned long long *sum)
{
    unsigned long long s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        s += v[i];
    for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
    if ((threadIdx.x & 31) == 0) atomicAdd(sum, s);
}

static uint32_t hostGen(int i, uint32_t seed)
{
    uint32_t x = seed * 9781u + (uint32_t)i * 6271u;
    x ^= x >> 13;
    x *= 0x5bd1e995u;
    return x ^ (x >> 15);
}

static unsigned long long reference(int n, uint32_t seed)
{
    unsigned long long s = 0;
    for (int i = 0; i < n; ++i)
        s += (unsigned long long)hostGen(i, seed) * hostGen(n - 1 - i, seed + 1);
    return s;
}

int main()
{
    int dev = 0, pools = 0;
    CHECK(cudaGetDevice(&dev));
    CHECK(cudaDeviceGetAttribute(&pools, cudaDevAttrMemoryPoolsSupported, dev));
    if (!pools) {
        printf("no memory pools\nPASS\n");
        return 0;
    }

    cudaMemPool_t dflt, own;
    CHECK(cudaDeviceGetDefaultMemPool(&dflt, dev));
    uint64_t keep = UINT64_MAX;
    CHECK(cudaMemPoolSetAttribute(dflt, cudaMemPoolAttrReleaseThreshold, &keep));
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    props.location.id = dev;
    CHECK(cudaMemPoolCreate(&own, &props));

    const int workers = 3, rounds = 4, base = 5000;
    cudaStream_t st[workers], tail;
    for (auto &s : st) CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&tail, cudaStreamNonBlocking));

    const int jobs = workers * rounds;
    unsigned long long *sums, *hSums;
    CHECK(cudaMallocAsync(&sums, jobs * sizeof(*sums), tail));
    CHECK(cudaMemsetAsync(sums, 0, jobs * sizeof(*sums), tail));
    CHECK(cudaMallocHost(&hSums, jobs * sizeof(*hSums)));

    for (int j = 0; j < jobs; ++j) {
        cudaStream_t s = st[j % workers];
        const int n = base + 137 * j, grid = (n + 127) / 128;
        const uint32_t seed = 100 + 2 * j;
        uint32_t *a, *b;
        uint64_t *prod;
        // temporaries live and die in the job's stream: the pool may reuse them at once
        CHECK(cudaMallocAsync(&a, n * sizeof(uint32_t), s));
        CHECK(cudaMallocFromPoolAsync(&b, n * sizeof(uint32_t), own, s));
        CHECK(cudaMallocAsync(&prod, n * sizeof(uint64_t), own, s));
        generate<<<grid, 128, 0, s>>>(a, n, seed);
        generate<<<grid, 128, 0, s>>>(b, n, seed + 1);
        pairUp<<<grid, 128, 0, s>>>(a, b, prod, n);
        CHECK(cudaGetLastError());
        CHECK(cudaFreeAsync(a, s));
        CHECK(cudaFreeAsync(b, s));

        // the product is used and freed in another stream, after an event
        cudaEvent_t ready;
        CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
        CHECK(cudaEventRecord(ready, s));
        CHECK(cudaStreamWaitEvent(tail, ready, 0));
        CHECK(cudaEventDestroy(ready)); // released once it is no longer needed
        fold<<<8, 128, 0, tail>>>(prod, n, sums + j);
        CHECK(cudaGetLastError());
        CHECK(cudaFreeAsync(prod, tail));
    }
    CHECK(cudaMemcpyAsync(hSums, sums, jobs * sizeof(*sums), cudaMemcpyDeviceToHost, tail));
    CHECK(cudaFreeAsync(sums, tail));
    CHECK(cudaStreamSynchronize(tail));

    int bad = 0;
    for (int j = 0; j < jobs; ++j) {
        unsigned long long want = reference(base + 137 * j, 100 + 2 * j);
        if (hSums[j] != want && bad++ < 5)
            printf("job %d: %llu, expected %llu\n", j, hSums[j], want);
    }

    // memory from cudaMallocAsync may be given to cudaFree once its stream has come to rest
    uint32_t *last;
    CHECK(cudaMallocAsync(&last, 4096 * sizeof(uint32_t), st[0]));
    generate<<<32, 128, 0, st[0]>>>(last, 4096, 5);
    CHECK(cudaGetLastError());
    std::vector<uint32_t> h(4096);
    CHECK(cudaMemcpyAsync(h.data(), last, 4096 * sizeof(uint32_t), cudaMemcpyDeviceToHost, st[0]));
    CHECK(cudaStreamSynchronize(st[0]));
    for (int i = 0; i < 4096; ++i)
        if (h[i] != hostGen(i, 5) && bad++ < 9) printf("last[%d] differs\n", i);
    CHECK(cudaFree(last));

    for (auto &s : st) {
        CHECK(cudaStreamSynchronize(s));
        CHECK(cudaStreamDestroy(s));
    }
    CHECK(cudaStreamDestroy(tail));
    CHECK(cudaMemPoolTrimTo(dflt, 0));
    CHECK(cudaMemPoolDestroy(own));
    CHECK(cudaFreeHost(hSums));
    if (bad) return 1;
    printf("PASS\n");
    return 0;
}
