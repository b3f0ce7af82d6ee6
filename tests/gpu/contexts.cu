// Contexts, asked of a GPU: which one is current after which call, what cudaDeviceReset and the
// driver leave of one, flags, limits. Each line is a case and its answer, of a section of its own.
// contexts.txt has an H200's.
//
//     nvcc -std=c++17 -arch=sm_90 -o contexts tests/gpu/contexts.cu -lcuda && ./contexts
//     >tests/gpu/contexts.txt
#include "ask.cuh"

#include <cassert>

namespace resets
{
__device__ int var = 7;
__managed__ int mv = 9;
__constant__ int cv = 3;
__global__ void k(int *p)
{
    *p = var + mv + cv;
    var = 100;
}
static int run()
{
    int *p, v = -1;
    Q(cudaMalloc(&p, 4));
    k<<<1, 1>>>(p);
    cudaError_t e = cudaMemcpy(&v, p, 4, cudaMemcpyDeviceToHost);
    if (e) {
        say("copy %s", cudaGetErrorName(e));
        cudaGetLastError();
    }
    return v;
}

SECTION(handles)
{
    cudaStream_t s;
    cudaEvent_t e;
    cudaGraph_t g;
    cudaGraphExec_t ge;
    void *p;
    cudaGraphNode_t n;
    Q(cudaStreamCreate(&s));
    Q(cudaEventCreate(&e));
    Q(cudaMalloc(&p, 4));
    Q(cudaGraphCreate(&g, 0));
    Q(cudaGraphAddEmptyNode(&n, g, NULL, 0));
    Q(cudaGraphInstantiate(&ge, g, 0));
    A(cudaDeviceReset());
    cudaPointerAttributes a;
    A(cudaPointerGetAttributes(&a, p));
    VL("type", a.type);
    A(cudaFree(p));
    A(cudaDeviceSynchronize());
}

SECTION(graph_after)
{
    cudaGraph_t g;
    cudaGraphNode_t n;
    cudaGraphExec_t x;
    Q(cudaGraphCreate(&g, 0));
    Q(cudaGraphAddEmptyNode(&n, g, NULL, 0));
    A(cudaDeviceReset());
    size_t c;
    A(cudaGraphGetNodes(g, NULL, &c));
    V(c);
    A(cudaGraphInstantiate(&x, g, 0));
    A(cudaGraphDestroy(g));
}

SECTION(host_memory)
{
    int *h;
    Q(cudaMallocHost(&h, 64));
    *h = 3;
    void *r = aligned_alloc(4096, 4096);
    Q(cudaHostRegister(r, 4096, 0));
    A(cudaDeviceReset());
    A(cudaHostUnregister(r));
    A(cudaFreeHost(h));
    A(cudaHostRegister(r, 4096, 0));
    A(cudaHostUnregister(r));
}

SECTION(limits)
{
    size_t v;
    Q(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    A(cudaDeviceGetLimit(&v, cudaLimitStackSize));
    V(v);
    A(cudaDeviceReset());
    A(cudaDeviceGetLimit(&v, cudaLimitStackSize));
    V(v);
}

SECTION(cache)
{
    cudaFuncCache c;
    A(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    A(cudaDeviceGetCacheConfig(&c));
    V(c);
    A(cudaDeviceReset());
    A(cudaDeviceGetCacheConfig(&c));
    V(c);
}

SECTION(flags)
{
    unsigned f;
    A(cudaGetDeviceFlags(&f));
    V(f);
    A(cudaSetDeviceFlags(cudaDeviceScheduleYield));
    A(cudaGetDeviceFlags(&f));
    V(f);
    A(cudaFree(0));
    A(cudaGetDeviceFlags(&f));
    V(f);
    A(cudaSetDeviceFlags(cudaDeviceScheduleSpin));
    A(cudaGetDeviceFlags(&f));
    V(f);
    A(cudaDeviceReset());
    A(cudaGetDeviceFlags(&f));
    V(f);
}

SECTION(flags_bad)
{
    A(cudaSetDeviceFlags(3));
    A(cudaSetDeviceFlags(6));
    A(cudaSetDeviceFlags(0x20));
    A(cudaSetDeviceFlags(0x40));
    A(cudaSetDeviceFlags(0x80));
    A(cudaSetDeviceFlags(0x100));
    A(cudaSetDeviceFlags(0x10000));
    A(cudaSetDeviceFlags(cudaDeviceMapHost));
    unsigned f;
    A(cudaGetDeviceFlags(&f));
    V(f);
    A(cudaSetDeviceFlags(cudaDeviceLmemResizeToMax));
    A(cudaGetDeviceFlags(&f));
    V(f);
    A(cudaGetDeviceFlags(NULL));
    A(cudaSetDeviceFlags(cudaDeviceSyncMemops));
    A(cudaGetDeviceFlags(&f));
    V(f);
}

SECTION(init)
{
    unsigned f;
    A(cudaInitDevice(0, 0, 0));
    A(cudaGetDeviceFlags(&f));
    V(f);
    A(cudaInitDevice(0, cudaDeviceScheduleBlockingSync, cudaInitDeviceFlagsAreValid));
    A(cudaGetDeviceFlags(&f));
    V(f);
    A(cudaInitDevice(0, cudaDeviceScheduleSpin, 0));
    A(cudaGetDeviceFlags(&f));
    V(f);
    A(cudaInitDevice(-1, 0, 0));
    A(cudaInitDevice(64, 0, 0));
    A(cudaInitDevice(0, 0, 2));
    A(cudaInitDevice(0, 3, 1));
    CUcontext c;
    D(cuCtxGetCurrent(&c));
    V(c != NULL);
}

SECTION(init_current)
{
    CUcontext c;
    A(cudaInitDevice(0, 0, 0));
    D(cuCtxGetCurrent(&c));
    V(c != NULL);
    unsigned f;
    int a;
    D(cuDevicePrimaryCtxGetState(0, &f, &a));
    V(f);
    V(a);
    A(cudaSetDevice(0));
    D(cuCtxGetCurrent(&c));
    V(c != NULL);
    A(cudaDeviceReset());
    D(cuDevicePrimaryCtxGetState(0, &f, &a));
    V(a);
    D(cuCtxGetCurrent(&c));
    V(c != NULL);
    A(cudaDeviceReset());
}

SECTION(first_calls)
{
    CUcontext c;
    int n;
    unsigned f;
    int a;
    A(cudaGetDeviceCount(&n));
    D(cuCtxGetCurrent(&c));
    V(c != NULL);
    A(cudaGetDevice(&n));
    D(cuCtxGetCurrent(&c));
    V(c != NULL);
    cudaDeviceProp p;
    A(cudaGetDeviceProperties(&p, 0));
    D(cuCtxGetCurrent(&c));
    V(c != NULL);
    cudaPointerAttributes pa;
    A(cudaPointerGetAttributes(&pa, &n));
    D(cuCtxGetCurrent(&c));
    V(c != NULL);
    D(cuDevicePrimaryCtxGetState(0, &f, &a));
    V(a);
    A(cudaFuncSetCacheConfig(k, cudaFuncCachePreferNone));
    D(cuDevicePrimaryCtxGetState(0, &f, &a));
    V(a);
    A(cudaDeviceSynchronize());
    D(cuDevicePrimaryCtxGetState(0, &f, &a));
    V(a);
    D(cuCtxGetCurrent(&c));
    V(c != NULL);
}

SECTION(first_lazy1)
{
    unsigned f;
    int a;
    cudaGraph_t g;
    A(cudaGraphCreate(&g, 0));
    D(cuInit(0));
    D(cuDevicePrimaryCtxGetState(0, &f, &a));
    V(a);
}

SECTION(reset_first)
{
    A(cudaDeviceReset());
    V(run());
    A(cudaDeviceReset());
    A(cudaDeviceReset());
    V(run());
}

} // namespace resets

namespace contexts
{

SECTION(stack)
{
    Q(cuInit(0));
    CUcontext a, b, c;
    D(cuCtxCreate(&a, NULL, 0, 0));
    D(cuCtxCreate(&b, NULL, CU_CTX_SCHED_SPIN, 0));
    D(cuCtxGetCurrent(&c));
    V(c == b);
    D(cuCtxPopCurrent(&c));
    V(c == b);
    D(cuCtxGetCurrent(&c));
    V(c == a);
    D(cuCtxPushCurrent(b));
    D(cuCtxPushCurrent(b));
    D(cuCtxPopCurrent(NULL));
    D(cuCtxGetCurrent(&c));
    V(c == b);
    D(cuCtxSetCurrent(a));
    D(cuCtxGetCurrent(&c));
    V(c == a);
    D(cuCtxPopCurrent(&c));
    V(c == a);
    D(cuCtxGetCurrent(&c));
    V(c == a);
    D(cuCtxSetCurrent(NULL));
    D(cuCtxGetCurrent(&c));
    V(c == NULL);
    D(cuCtxPopCurrent(&c));
    D(cuCtxPopCurrent(&c));
    D(cuCtxPushCurrent(NULL));
    D(cuCtxGetCurrent(NULL));
    D(cuCtxPushCurrent(a));
    D(cuCtxPushCurrent(b));
    D(cuCtxDestroy(a));
    D(cuCtxGetCurrent(&c));
    V(c == b);
    D(cuCtxPopCurrent(&c));
    D(cuCtxGetCurrent(&c));
    V(c == NULL);
    V(c == a);
    CUdeviceptr p;
    D(cuMemAlloc(&p, 4));
    D(cuCtxPopCurrent(&c));
    D(cuCtxDestroy(b));
    D(cuCtxDestroy(b));
}

SECTION(set_null_on_stack)
{
    Q(cuInit(0));
    CUcontext a, b, c;
    Q(cuCtxCreate(&a, NULL, 0, 0));
    Q(cuCtxCreate(&b, NULL, 0, 0));
    D(cuCtxSetCurrent(NULL));
    D(cuCtxGetCurrent(&c));
    V(c == a);
    V(c == NULL);
    D(cuCtxDestroy(a));
    D(cuCtxGetCurrent(&c));
    V(c == NULL);
}

SECTION(primary)
{
    Q(cuInit(0));
    CUcontext a, b, c;
    unsigned f;
    int act;
    D(cuDevicePrimaryCtxGetState(0, &f, &act));
    V(f);
    V(act);
    D(cuDevicePrimaryCtxRelease(0));
    D(cuDevicePrimaryCtxReset(0));
    D(cuDevicePrimaryCtxSetFlags(0, 4));
    D(cuDevicePrimaryCtxGetState(0, &f, &act));
    V(f);
    D(cuDevicePrimaryCtxSetFlags(0, 3));
    D(cuDevicePrimaryCtxSetFlags(0, 0x8));
    D(cuDevicePrimaryCtxSetFlags(0, 0x10));
    D(cuDevicePrimaryCtxGetState(0, &f, &act));
    V(f);
    D(cuDevicePrimaryCtxSetFlags(0, 0x20));
    D(cuDevicePrimaryCtxSetFlags(0, 0x1000));
    D(cuDevicePrimaryCtxSetFlags(9, 0));
    D(cuDevicePrimaryCtxRetain(&a, 0));
    D(cuDevicePrimaryCtxRetain(&b, 0));
    V(a == b);
    D(cuCtxGetCurrent(&c));
    V(c == NULL);
    D(cuDevicePrimaryCtxSetFlags(0, 1));
    D(cuDevicePrimaryCtxGetState(0, &f, &act));
    V(f);
    V(act);
    D(cuCtxDestroy(a));
    D(cuCtxSetCurrent(a));
    D(cuCtxGetFlags(&f));
    V(f);
    D(cuDevicePrimaryCtxRelease(0));
    D(cuCtxSynchronize());
    D(cuDevicePrimaryCtxRelease(0));
    D(cuDevicePrimaryCtxGetState(0, &f, &act));
    V(act);
    D(cuCtxSynchronize());
    CUdeviceptr p;
    D(cuMemAlloc(&p, 4));
    D(cuCtxGetCurrent(&c));
    V(c == a);
    D(cuDevicePrimaryCtxRelease(0));
    D(cuDevicePrimaryCtxRetain(&b, 0));
    V(a == b);
    D(cuMemAlloc(&p, 4));
    D(cuDevicePrimaryCtxReset(0));
    D(cuDevicePrimaryCtxGetState(0, &f, &act));
    V(act);
    V(f);
    D(cuMemAlloc(&p, 4));
    D(cuDevicePrimaryCtxRetain(NULL, 0));
    D(cuDevicePrimaryCtxRetain(&b, 9));
    D(cuDevicePrimaryCtxGetState(0, NULL, &act));
    D(cuDevicePrimaryCtxGetState(0, &f, NULL));
    D(cuDevicePrimaryCtxGetState(9, &f, &act));
    D(cuDevicePrimaryCtxRelease(9));
    D(cuDevicePrimaryCtxReset(-1));
}

SECTION(api_version)
{
    Q(cuInit(0));
    CUcontext a;
    unsigned u;
    unsigned long long i1, i2;
    Q(cuCtxCreate(&a, NULL, 0, 0));
    D(cuCtxGetApiVersion(a, &u));
    V(u);
    D(cuCtxGetApiVersion(NULL, &u));
    V(u);
    D(cuCtxGetApiVersion(a, NULL));
    D(cuCtxGetId(a, &i1));
    D(cuCtxGetId(NULL, &i2));
    V(i1 == i2);
    D(cuCtxGetId(a, NULL));
    CUdevice d;
    D(cuCtxGetDevice(NULL));
    D(cuCtxGetDevice_v2(&d, a));
    D(cuCtxGetDevice_v2(&d, NULL));
    D(cuCtxSynchronize_v2(a));
    D(cuCtxSynchronize_v2(NULL));
    CUcontext x = NULL;
    D(cuCtxAttach(&x, 0));
    V(x == a);
    D(cuCtxDetach(a));
    D(cuCtxAttach(&x, 1));
    D(cuCtxDetach(a));
    D(cuCtxGetCurrent(&x));
    V(x == NULL);
}

SECTION(destroy_other)
{
    Q(cuInit(0));
    CUcontext a, b, c;
    Q(cuCtxCreate(&a, NULL, 0, 0));
    Q(cuCtxPopCurrent(&c));
    Q(cuCtxCreate(&b, NULL, 0, 0));
    D(cuCtxDestroy(a));
    D(cuCtxGetCurrent(&c));
    V(c == b);
    static CUcontext gb;
    gb = b;
    pthread_t t;
    pthread_create(
        &t, NULL,
        [](void *) -> void * {
            CUcontext q;
            D(cuCtxGetCurrent(&q));
            V(q == NULL);
            D(cuCtxSetCurrent(gb));
            D(cuCtxDestroy(gb));
            D(cuCtxGetCurrent(&q));
            V(q == NULL);
            return NULL;
        },
        NULL);
    pthread_join(t, NULL);
    D(cuCtxGetCurrent(&c));
    V(c == b);
    D(cuCtxSynchronize());
    D(cuCtxPopCurrent(&c));
    D(cuCtxGetCurrent(&c));
    V(c == NULL);
}

SECTION(runtime_mix)
{
    Q(cuInit(0));
    CUcontext a, c;
    Q(cuCtxCreate(&a, NULL, 0, 0));
    void *p;
    A(cudaMalloc(&p, 4));
    D(cuCtxGetCurrent(&c));
    V(c == a);
    unsigned f;
    int act;
    D(cuDevicePrimaryCtxGetState(0, &f, &act));
    V(act);
    A(cudaSetDevice(0));
    D(cuCtxGetCurrent(&c));
    V(c == a);
    A(cudaMalloc(&p, 4));
    A(cudaDeviceReset());
    D(cuCtxGetCurrent(&c));
    V(c == a);
    D(cuCtxDestroy(a));
    D(cuCtxGetCurrent(&c));
    V(c == NULL);
    A(cudaMalloc(&p, 4));
    D(cuCtxGetCurrent(&c));
    V(c != NULL);
}

SECTION(runtime_mix2)
{
    void *p;
    Q(cudaMalloc(&p, 4));
    CUcontext c;
    D(cuCtxPopCurrent(&c));
    D(cuCtxGetCurrent(&c));
    V(c == NULL);
    A(cudaMalloc(&p, 4));
    D(cuCtxGetCurrent(&c));
    V(c != NULL);
    D(cuCtxSetCurrent(NULL));
    int d;
    A(cudaGetDevice(&d));
    D(cuCtxGetCurrent(&c));
    V(c == NULL);
    A(cudaMemcpy(&d, p, 4, cudaMemcpyDefault));
    A(cudaFree(p));
    D(cuCtxGetCurrent(&c));
    V(c != NULL);
    CUcontext pr;
    D(cuDevicePrimaryCtxRetain(&pr, 0));
    V(pr == c);
    D(cuDevicePrimaryCtxRelease(0));
    D(cuDevicePrimaryCtxRelease(0));
    A(cudaMalloc(&p, 4));
    D(cuDevicePrimaryCtxRelease(0));
}

SECTION(limits)
{
    Q(cuInit(0));
    CUcontext a;
    Q(cuCtxCreate(&a, NULL, 0, 0));
    size_t v;
    for (int l = -1; l < 12; l++) {
        char b[40];
        snprintf(b, 40, "get %d", l);
        DL(b, cuCtxGetLimit(&v, (CUlimit)l));
        snprintf(b, 40, "set %d to 0", l);
        DL(b, cuCtxSetLimit((CUlimit)l, 0));
    }
    D(cuCtxGetLimit(NULL, CU_LIMIT_STACK_SIZE));
    D(cuCtxSetCacheConfig((CUfunc_cache)9));
    D(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
    CUfunc_cache fc;
    D(cuCtxGetCacheConfig(&fc));
    V(fc);
    D(cuCtxGetCacheConfig(NULL));
    CUsharedconfig sc;
    D(cuCtxGetSharedMemConfig(&sc));
    V(sc);
    D(cuCtxSetSharedMemConfig(CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE));
    D(cuCtxGetSharedMemConfig(&sc));
    V(sc);
    D(cuCtxSetSharedMemConfig((CUsharedconfig)7));
    D(cuCtxEnablePeerAccess(a, 0));
    D(cuCtxEnablePeerAccess(NULL, 0));
    D(cuCtxEnablePeerAccess(a, 1));
    D(cuCtxDisablePeerAccess(a));
    D(cuCtxDisablePeerAccess(NULL));
}

} // namespace contexts
