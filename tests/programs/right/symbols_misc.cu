// Right: symbols with offsets, function pointers, small floats, clocks, batches of copies, peers, a
// device that is reset.
#include "tests/programs/program.cuh"

#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <vector>
struct Config {
    int n;
    float w[4];
};
__constant__ Config cfg;
__device__ int counters[8];
__device__ half2 h2;
typedef float (*Op)(float);
__device__ float sq(float x)
{
    return x * x;
}
__device__ float neg(float x)
{
    return -x;
}
__device__ Op ops[2] = {sq, neg};
__global__ void run(float *o, int which)
{
    int i = threadIdx.x;
    o[i] = ops[which](cfg.w[i & 3] + cfg.n);
    atomicAdd(&counters[i & 7], 1);
    atomicAdd(&h2, __floats2half2_rn(1, 0.5f));
}
__global__ void f8(const float *in, float *o)
{
    int i = threadIdx.x;
    __nv_fp8_e4m3 q(in[i]);
    o[i] = (float)q;
    __nv_fp8_e5m2 r(in[i]);
    o[i + 32] = (float)r;
    __nv_bfloat16 b = __float2bfloat16(in[i]);
    o[i + 64] = __bfloat162float(__hfma(b, b, b));
}
__global__ void clk(long long *o)
{
    long long a = clock64();
    unsigned long long g;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(g));
    __nanosleep(50);
    long long b = clock64();
    o[0] = b - a;
    o[1] = (long long)g;
}
int main()
{
    Config c = {10, {1, 2, 3, 4}};
    cudaStream_t s;
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaMemcpyToSymbolAsync(cfg, &c, sizeof c, 0, cudaMemcpyHostToDevice, s));
    float w1 = 9;
    CHECK(cudaMemcpyToSymbolAsync(cfg, &w1, 4, offsetof(Config, w) + 4, cudaMemcpyHostToDevice, s));
    float *o, h[96];
    CHECK(cudaMalloc(&o, 384));
    run<<<1, 32, 0, s>>>(o, 0);
    CHECK(cudaMemcpyAsync(h, o, 128, cudaMemcpyDeviceToHost, s));
    CHECK(cudaStreamSynchronize(s));
    EXPECT(h[0] == 121 && h[1] == 361 && h[2] == 169);
    run<<<1, 32, 0, s>>>(o, 1);
    CHECK(cudaMemcpyAsync(h, o, 128, cudaMemcpyDeviceToHost, s));
    CHECK(cudaStreamSynchronize(s));
    EXPECT(h[1] == -19);
    int two[2];
    CHECK(cudaMemcpyFromSymbol(two, counters, 8, 8));
    EXPECT(two[0] == 8 && two[1] == 8);
    half2 g;
    CHECK(cudaMemcpyFromSymbol(&g, h2, 4));
    EXPECT(__low2float(g) == 64 && __high2float(g) == 32);
    void *ad;
    size_t sz;
    CHECK(cudaGetSymbolAddress(&ad, counters));
    CHECK(cudaGetSymbolSize(&sz, counters));
    EXPECT(sz == 32);
    CHECK(cudaMemset(ad, 0, sz));
    cudaFuncAttributes fa;
    CHECK(cudaFuncGetAttributes(&fa, run));
    EXPECT(fa.maxThreadsPerBlock == 1024 && fa.numRegs > 0);
    const char *name;
    CHECK(cudaFuncGetName(&name, (const void *)run));
    EXPECT(strstr(name, "run"));
    CHECK(cudaFuncSetAttribute(run, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
    CHECK(cudaFuncSetCacheConfig(run, cudaFuncCachePreferL1));
    float in[32];
    for (int i = 0; i < 32; i++) in[i] = (i - 16) * 1.3f;
    float *di;
    CHECK(cudaMalloc(&di, 128));
    CHECK(cudaMemcpy(di, in, 128, cudaMemcpyHostToDevice));
    f8<<<1, 32>>>(di, o);
    CHECK(cudaMemcpy(h, o, 384, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) {
        EXPECT(h[i] == (float)__nv_fp8_e4m3(in[i]));
        EXPECT(h[i + 32] == (float)__nv_fp8_e5m2(in[i]));
    }
    long long *dl, l[2];
    CHECK(cudaMalloc(&dl, 16));
    clk<<<1, 1>>>(dl);
    CHECK(cudaMemcpy(l, dl, 16, cudaMemcpyDeviceToHost));
    EXPECT(l[0] > 0 && l[1] > 0);
    void *dst[2] = {di, di + 16};
    const void *src[2] = {o, o + 64};
    size_t sizes[2] = {64, 64}, idx = 0;
    cudaMemcpyAttributes at = {};
    at.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    CHECK(cudaMemcpyBatchAsync(dst, src, sizes, 2, &at, &idx, 1, s));
    CHECK(cudaStreamSynchronize(s));
    float b2[32];
    CHECK(cudaMemcpy(b2, di, 128, cudaMemcpyDeviceToHost));
    EXPECT(b2[0] == h[0] && b2[16] == h[64]);
    int peers;
    CHECK(cudaGetDeviceCount(&peers));
    int can = 1;
    if (peers == 1) {
        cudaError_t pe = cudaDeviceEnablePeerAccess(0, 0);
        EXPECT(pe == cudaErrorPeerAccessUnsupported);
        cudaGetLastError();
        CHECK(cudaDeviceCanAccessPeer(&can, 0, 0));
        EXPECT(can == 0);
    }
    CHECK(cudaMemcpyPeer(di, 0, o, 0, 128));
    CHECK(cudaFree(di));
    CHECK(cudaFree(dl));
    CHECK(cudaFree(o));
    CHECK(cudaStreamDestroy(s));
    CHECK(cudaDeviceReset());
    CHECK(cudaMalloc(&o, 4));
    CHECK(cudaMemset(o, 0, 4));
    int z;
    CHECK(cudaMemcpy(&z, o, 4, cudaMemcpyDeviceToHost));
    EXPECT(z == 0);
    CHECK(cudaFree(o));
    puts("PASS");
    return 0;
}
