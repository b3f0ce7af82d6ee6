// Right: priorities, ids, flags, attributes and callbacks of streams, the legacy and the per-thread
// one by name.
#include "tests/programs/program.cuh"

#include <atomic>
#include <thread>
static std::atomic<int> called{0};
static void CUDART_CB cb(cudaStream_t s, cudaError_t e, void *p)
{
    if (e == cudaSuccess && p == (void *)42) called++;
}
__global__ void inc(int *p)
{
    atomicAdd(p, 1);
}
int main()
{
    int lo, hi;
    CHECK(cudaDeviceGetStreamPriorityRange(&lo, &hi));
    EXPECT(hi <= lo);
    cudaStream_t a, b;
    CHECK(cudaStreamCreateWithPriority(&a, cudaStreamNonBlocking, hi));
    CHECK(cudaStreamCreateWithPriority(&b, cudaStreamDefault, lo));
    int p;
    unsigned f;
    CHECK(cudaStreamGetPriority(a, &p));
    EXPECT(p == hi);
    CHECK(cudaStreamGetPriority(b, &p));
    EXPECT(p == lo);
    CHECK(cudaStreamGetFlags(a, &f));
    EXPECT(f == cudaStreamNonBlocking);
    CHECK(cudaStreamGetFlags(0, &f));
    unsigned long long ia, ib;
    CHECK(cudaStreamGetId(a, &ia));
    CHECK(cudaStreamGetId(b, &ib));
    EXPECT(ia != ib);
    int dev;
    CHECK(cudaStreamGetDevice(a, &dev));
    EXPECT(dev == 0);
    int *d, h;
    CHECK(cudaMalloc(&d, 4));
    CHECK(cudaMemsetAsync(d, 0, 4, a));
    for (int i = 0; i < 5; i++) {
        inc<<<1, 32, 0, a>>>(d);
        CHECK(cudaStreamAddCallback(a, cb, (void *)42, 0));
    }
    CHECK(cudaStreamSynchronize(a));
    EXPECT(called == 5);
    CHECK(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost));
    EXPECT(h == 160);
    inc<<<1, 1, 0, cudaStreamLegacy>>>(d);
    inc<<<1, 1, 0, cudaStreamPerThread>>>(d);
    CHECK(cudaStreamSynchronize(cudaStreamPerThread));
    CHECK(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost));
    EXPECT(h == 162);
    std::thread([&] {
        inc<<<1, 1, 0, cudaStreamPerThread>>>(d);
        CHECK(cudaStreamSynchronize(cudaStreamPerThread));
    }).join();
    CHECK(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost));
    EXPECT(h == 163);
    cudaStreamAttrValue v = {};
    v.syncPolicy = cudaSyncPolicyYield;
    CHECK(cudaStreamSetAttribute(a, cudaStreamAttributeSynchronizationPolicy, &v));
    cudaStreamAttrValue w = {};
    CHECK(cudaStreamGetAttribute(a, cudaStreamAttributeSynchronizationPolicy, &w));
    EXPECT(w.syncPolicy == cudaSyncPolicyYield);
    CHECK(cudaStreamCopyAttributes(b, a));
    CHECK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20));
    size_t l;
    CHECK(cudaDeviceGetLimit(&l, cudaLimitPrintfFifoSize));
    EXPECT(l >= 1 << 20);
    CHECK(cudaStreamQuery(a));
    CHECK(cudaStreamDestroy(a));
    CHECK(cudaStreamDestroy(b));
    CHECK(cudaFree(d));
    puts("PASS");
    return 0;
}
