// NVRTC: templates by name expressions, a header in memory, a constant and a variable by name.
#include <cstdio>
#include <cuda.h>
#include <nvrtc.h>
#include <string>
#include <vector>
#define NV(x)                                                                                      \
    do {                                                                                           \
        nvrtcResult r_ = (x);                                                                      \
        if (r_) {                                                                                  \
            printf("%s: %s\n", #x, nvrtcGetErrorString(r_));                                       \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)
#define CU(x)                                                                                      \
    do {                                                                                           \
        CUresult r_ = (x);                                                                         \
        if (r_) {                                                                                  \
            const char *s;                                                                         \
            cuGetErrorName(r_, &s);                                                                \
            printf("%s: %s\n", #x, s);                                                             \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)
const char *src = R"(
#include "op.h"
namespace ns { template <typename T, int U> __global__ void apply(T *p, int n) { int i = (blockIdx.x*blockDim.x+threadIdx.x)*U;
#pragma unroll
for (int k = 0; k < U; k++) if (i+k < n) p[i+k] = op(p[i+k], T(SHIFT)); } }
__constant__ int table[4]; __device__ double g_total;
template <class T> struct Acc { T v; __device__ Acc &operator+=(T x) { v += x; return *this; } };
template <class T> __global__ void total(const T *p, int n) { Acc<double> a{0}; for (int i = threadIdx.x; i < n; i += blockDim.x) a += p[i]*table[i&3]; atomicAdd(&g_total, a.v); })";

int main()
{
    const char *hn[] = {"op.h"},
               *hs[] = {"template <class T> __device__ T op(T a, T b) { return a*a+b; }\n"};
    nvrtcProgram p;
    NV(nvrtcCreateProgram(&p, src, "k.cu", 1, hs, hn));
    NV(nvrtcAddNameExpression(p, "ns::apply<float, 4>"));
    NV(nvrtcAddNameExpression(p, "ns::apply<long long, 1>"));
    NV(nvrtcAddNameExpression(p, "total<float>"));
    NV(nvrtcAddNameExpression(p, "&table"));
    NV(nvrtcAddNameExpression(p, "&g_total"));
    const char *opts[] = {"--gpu-architecture=compute_75", "-DSHIFT=2", "--std=c++17", "-lineinfo"};
    nvrtcResult r = nvrtcCompileProgram(p, 4, opts);
    if (r) {
        size_t n;
        nvrtcGetProgramLogSize(p, &n);
        std::string l(n, 0);
        nvrtcGetProgramLog(p, &l[0]);
        printf("%s\n", l.c_str());
        return 1;
    }
    size_t n;
    NV(nvrtcGetPTXSize(p, &n));
    std::vector<char> ptx(n);
    NV(nvrtcGetPTX(p, ptx.data()));
    CU(cuInit(0));
    CUdevice d;
    CUcontext c;
    CU(cuDeviceGet(&d, 0));
    CUctxCreateParams cp = {};
    CU(cuCtxCreate(&c, &cp, 0, d));
    CUmodule m;
    CU(cuModuleLoadDataEx(&m, ptx.data(), 0, 0, 0));
    const char *nf, *nl, *nt, *ntab, *ng;
    NV(nvrtcGetLoweredName(p, "ns::apply<float, 4>", &nf));
    NV(nvrtcGetLoweredName(p, "ns::apply<long long, 1>", &nl));
    NV(nvrtcGetLoweredName(p, "total<float>", &nt));
    NV(nvrtcGetLoweredName(p, "&table", &ntab));
    NV(nvrtcGetLoweredName(p, "&g_total", &ng));
    CUfunction f, l, t;
    CU(cuModuleGetFunction(&f, m, nf));
    CU(cuModuleGetFunction(&l, m, nl));
    CU(cuModuleGetFunction(&t, m, nt));
    CUdeviceptr tab, g;
    CU(cuModuleGetGlobal(&tab, 0, m, ntab));
    CU(cuModuleGetGlobal(&g, &n, m, ng));
    NV(nvrtcDestroyProgram(&p));
    int ht[4] = {1, 2, 3, 4};
    CU(cuMemcpyHtoD(tab, ht, 16));
    int N = 777;
    std::vector<float> h(N);
    std::vector<long long> hl(N);
    for (int i = 0; i < N; i++) h[i] = hl[i] = i % 19;
    CUdeviceptr a, b;
    CU(cuMemAlloc(&a, N * 4));
    CU(cuMemAlloc(&b, N * 8));
    CU(cuMemcpyHtoD(a, h.data(), N * 4));
    CU(cuMemcpyHtoD(b, hl.data(), N * 8));
    void *fa[] = {&a, &N}, *fb[] = {&b, &N};
    CU(cuLaunchKernel(f, 7, 1, 1, 32, 1, 1, 0, 0, fa, 0));
    CU(cuLaunchKernel(l, 13, 1, 1, 64, 1, 1, 0, 0, fb, 0));
    CU(cuLaunchKernel(t, 1, 1, 1, 128, 1, 1, 0, 0, fa, 0));
    double tot;
    CU(cuMemcpyDtoH(h.data(), a, N * 4));
    CU(cuMemcpyDtoH(hl.data(), b, N * 8));
    CU(cuMemcpyDtoH(&tot, g, 8));
    int bad = 0;
    double w = 0;
    for (int i = 0; i < N; i++) {
        int v = (i % 19) * (i % 19) + 2;
        bad += h[i] != v || hl[i] != v;
        w += v * ht[i & 3];
    }
    bad += tot != w;
    CU(cuMemFree(a));
    CU(cuMemFree(b));
    CU(cuModuleUnload(m));
    CU(cuCtxDestroy(c));
    printf("%d\n", bad);
    return bad != 0;
}
