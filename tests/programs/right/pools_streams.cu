// Right: stream-ordered pools: an own one with a threshold, blocks handed to another stream by an
// event, trimmed.
#include "tests/programs/program.cuh"

#include <vector>
__global__ void fill(int *p, int n, int v)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        p[i] = v + i;
}
__global__ void sum(const int *p, int n, unsigned long long *out)
{
    unsigned long long s = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        s += p[i];
    atomicAdd(out, s);
}
int main()
{
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location = {cudaMemLocationTypeDevice, 0};
    props.maxSize = 0;
    cudaMemPool_t pool;
    CHECK(cudaMemPoolCreate(&pool, &props));
    unsigned long long keep = ~0ull;
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    int off = 0;
    CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &off));
    cudaStream_t a, b;
    CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    cudaEvent_t ready, done;
    CHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    CHECK(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    const int n = 10000;
    unsigned long long *total, *h;
    CHECK(cudaMallocHost(&h, 8 * 8));
    CHECK(cudaMallocAsync(&total, 8 * 8, a));
    CHECK(cudaMemsetAsync(total, 0, 64, a));
    for (int r = 0; r < 8; r++) {
        int *p;
        CHECK(cudaMallocFromPoolAsync(&p, n * 4, pool, a));
        fill<<<8, 128, 0, a>>>(p, n, r);
        CHECK(cudaEventRecord(ready, a));
        CHECK(cudaStreamWaitEvent(b, ready, 0));
        sum<<<4, 128, 0, b>>>(p, n, total + r);
        CHECK(cudaFreeAsync(p, b));
        CHECK(cudaEventRecord(done, b));
    }
    CHECK(cudaStreamWaitEvent(a, done, 0));
    CHECK(cudaMemcpyAsync(h, total, 64, cudaMemcpyDeviceToHost, a));
    CHECK(cudaFreeAsync(total, a));
    CHECK(cudaStreamSynchronize(a));
    CHECK(cudaStreamSynchronize(b));
    for (int r = 0; r < 8; r++)
        EXPECT(h[r] == (unsigned long long)n * (n - 1) / 2 + (unsigned long long)n * r);
    unsigned long long used, high, reserved;
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &high));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
    EXPECT(used == 0 && high >= n * 4 && reserved >= n * 4);
    CHECK(cudaMemPoolTrimTo(pool, 0));
    CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
    EXPECT(reserved == 0);
    cudaMemPool_t def, cur;
    CHECK(cudaDeviceGetDefaultMemPool(&def, 0));
    CHECK(cudaDeviceGetMemPool(&cur, 0));
    EXPECT(def == cur);
    CHECK(cudaDeviceSetMemPool(0, pool));
    CHECK(cudaDeviceGetMemPool(&cur, 0));
    EXPECT(cur == pool);
    CHECK(cudaDeviceSetMemPool(0, def));
    CHECK(cudaMemPoolDestroy(pool));
    CHECK(cudaFreeHost(h));
    CHECK(cudaEventDestroy(ready));
    CHECK(cudaEventDestroy(done));
    CHECK(cudaStreamDestroy(a));
    CHECK(cudaStreamDestroy(b));
    puts("PASS");
    return 0;
}
