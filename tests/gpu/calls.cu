// What calls answer where CUDA says little, asked of a GPU: in host functions, in forked children,
// in other threads, after a fault, and which of them leave an error behind. Each line is a case and
// its answer, of a section of its own. calls.txt has an H200's.
//
//     nvcc -std=c++17 -arch=sm_90 -o calls tests/gpu/calls.cu -lcuda && ./calls
//     >tests/gpu/calls.txt
#include "ask.cuh"

#include <cassert>

namespace last_errors
{
__global__ void k(int *p)
{
    *p = 1;
}
__global__ void tr()
{
    asm("trap;");
}

SECTION(plain)
{
    /* which failing calls set the last error */
    say("peek at start %s", cudaGetErrorName(cudaPeekAtLastError()));
    void *p;
    A(cudaMalloc(NULL, 4));
    A(cudaMalloc(&p, (size_t)1 << 60));
    A(cudaMalloc(&p, 0));
    say("p null %d", p == NULL);
    A(cudaFree((void *)0x1234));
    A(cudaSetDevice(-1));
    A(cudaSetDevice(1000));
    A(cudaGetDevice(NULL));
    A(cudaGetDeviceCount(NULL));
    A(cudaMemcpy(NULL, NULL, 0, cudaMemcpyHostToDevice));
    A(cudaMemcpy(NULL, NULL, 4, cudaMemcpyHostToDevice));
    A(cudaMemcpy(NULL, NULL, 4, (cudaMemcpyKind)9));
    A(cudaMemcpy(NULL, NULL, 0, (cudaMemcpyKind)9));
    A(cudaMemcpyAsync(NULL, NULL, 0, (cudaMemcpyKind)9));
    A(cudaMemset(NULL, 0, 0));
    A(cudaMemset(NULL, 0, 1));
    A(cudaEventCreate(NULL));
    A(cudaStreamCreate(NULL));
    A(cudaEventDestroy(NULL));
    A(cudaStreamDestroy(NULL));
    A(cudaEventRecord(NULL));
    A(cudaEventQuery(NULL));
    A(cudaEventSynchronize(NULL));
    A(cudaStreamWaitEvent(0, NULL));
    A(cudaDeviceGetAttribute(NULL, cudaDevAttrWarpSize, 0));
    int v;
    A(cudaDeviceGetAttribute(&v, (cudaDeviceAttr)100000, 0));
    A(cudaDeviceGetAttribute(&v, (cudaDeviceAttr)-1, 0));
    A(cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 99));
    A(cudaDeviceGetAttribute(&v, (cudaDeviceAttr)0, 0));
    A(cudaGetDeviceProperties(NULL, 0));
    cudaDeviceProp pr;
    A(cudaGetDeviceProperties(&pr, -1));
    A(cudaGetDeviceProperties(&pr, 77));
}

SECTION(notready)
{
    cudaEvent_t e;
    cudaStream_t s;
    Q(cudaEventCreate(&e));
    Q(cudaStreamCreate(&s));
    static volatile int go;
    go = 0;
    Q(cudaLaunchHostFunc(
        s,
        [](void *) {
            while (!go) usleep(100);
        },
        0));
    Q(cudaEventRecord(e, s));
    A(cudaEventQuery(e));
    A(cudaStreamQuery(s));
    float ms;
    A(cudaEventElapsedTime(&ms, e, e));
    say("peek %s", cudaGetErrorName(cudaPeekAtLastError()));
    go = 1;
    Q(cudaStreamSynchronize(s));
    A(cudaEventQuery(e));
    A(cudaEventElapsedTime(&ms, e, e));
    A(cudaEventElapsedTime(NULL, e, e));
}

SECTION(threads)
{
    /* the last error is the thread's own */
    (void)cudaSetDevice(-1);
    pthread_t t;
    pthread_create(
        &t, NULL,
        [](void *) -> void * {
            say("other thread %s", cudaGetErrorName(cudaPeekAtLastError()));
            (void)cudaMalloc(NULL, 1);
            return NULL;
        },
        NULL);
    pthread_join(t, NULL);
    say("this thread %s", cudaGetErrorName(cudaGetLastError()));
    say("again %s", cudaGetErrorName(cudaGetLastError()));
}

SECTION(driver_does_not)
{
    Q(cudaFree(0));
    D(cuMemAlloc(NULL, 4));
    say("runtime's last %s", cudaGetErrorName(cudaGetLastError()));
    D(cuMemFree(0x10));
    say("runtime's last %s", cudaGetErrorName(cudaGetLastError()));
}

SECTION(fault_then_last)
{
    tr<<<1, 1>>>();
    say("peek %s", cudaGetErrorName(cudaPeekAtLastError()));
    say("sync %s", cudaGetErrorName(cudaDeviceSynchronize()));
    say("get %s", cudaGetErrorName(cudaGetLastError()));
    say("get %s", cudaGetErrorName(cudaGetLastError()));
    say("peek %s", cudaGetErrorName(cudaPeekAtLastError()));
    tr<<<1, 1>>>();
    say("get after launch %s", cudaGetErrorName(cudaGetLastError()));
    tr<<<0, 1>>>();
    say("get after bad launch %s", cudaGetErrorName(cudaGetLastError()));
    A(cudaMalloc(NULL, 1));
    void *p;
    A(cudaMalloc(&p, 1));
    A(cudaSetDevice(0));
    A(cudaSetDevice(-1));
    A(cudaFree(0));
    int v;
    A(cudaGetDevice(&v));
    A(cudaGetDeviceCount(&v));
    A(cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 0));
}

} // namespace last_errors

namespace faults
{
__global__ void ill(int *p)
{
    *p = 1;
}
__global__ void tr()
{
    asm("trap;");
}
__global__ void as()
{
    assert(0 && "no");
}
__global__ void mis(char *p)
{
    *(volatile int *)(p + 1) = 1;
}
__global__ void ok(int *p)
{
    *p = 5;
}
__global__ void shm()
{
    extern __shared__ int s[];
    volatile int *q = s;
    q[1 << 20] = 3;
}
static int *d;
static cudaStream_t st;
static cudaEvent_t ev, ev2;
static void *h;
static cudaGraph_t g;
static cudaGraphExec_t ge;
static cudaArray_t arr;
static char *m;
static void prep()
{
    Q(cudaMalloc(&d, 4096));
    Q(cudaStreamCreate(&st));
    Q(cudaEventCreate(&ev));
    Q(cudaEventCreate(&ev2));
    Q(cudaEventRecord(ev, st));
    Q(cudaMallocHost(&h, 4096));
    Q(cudaMallocManaged(&m, 4096));
    Q(cudaGraphCreate(&g, 0));
    cudaGraphNode_t n;
    Q(cudaGraphAddEmptyNode(&n, g, NULL, 0));
    Q(cudaGraphInstantiate(&ge, g, 0));
    cudaChannelFormatDesc c = cudaCreateChannelDesc<float>();
    Q(cudaMallocArray(&arr, &c, 16, 16));
    Q(cudaDeviceSynchronize());
}
static void after()
{
    int v;
    unsigned u;
    void *p;
    size_t a, b;
    float ms;
    cudaStream_t s2;
    cudaEvent_t e2;
    cudaPointerAttributes pa;
    cudaFuncAttributes fa;
    A(cudaStreamSynchronize(st));
    A(cudaStreamSynchronize(0));
    A(cudaDeviceSynchronize());
    A(cudaStreamQuery(st));
    A(cudaEventQuery(ev));
    A(cudaEventQuery(ev2));
    A(cudaEventSynchronize(ev));
    A(cudaEventElapsedTime(&ms, ev, ev));
    A(cudaEventRecord(ev, st));
    A(cudaStreamWaitEvent(st, ev));
    A(cudaMemcpy(h, d, 4, cudaMemcpyDefault));
    A(cudaMemcpy(h, h, 4, cudaMemcpyHostToHost));
    A(cudaMemcpyAsync(h, d, 4, cudaMemcpyDefault, st));
    A(cudaMemset(d, 0, 4));
    A(cudaMalloc(&p, 4));
    A(cudaMallocHost(&p, 4));
    A(cudaMallocManaged(&p, 4));
    A(cudaMallocAsync(&p, 4, st));
    A(cudaStreamCreate(&s2));
    A(cudaEventCreate(&e2));
    A(cudaGraphLaunch(ge, st));
    A(cudaGraphInstantiate(&ge, g, 0));
    cudaGraph_t g2;
    A(cudaGraphCreate(&g2, 0));
    A(cudaMemGetInfo(&a, &b));
    A(cudaPointerGetAttributes(&pa, d));
    A(cudaPointerGetAttributes(&pa, &v));
    A(cudaFuncGetAttributes(&fa, ok));
    A(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&v, ok, 32, 0));
    A(cudaDeviceGetLimit(&a, cudaLimitStackSize));
    A(cudaDeviceSetLimit(cudaLimitStackSize, 1024));
    A(cudaDeviceGetCacheConfig((cudaFuncCache *)&u));
    A(cudaGetDevice(&v));
    A(cudaGetDeviceCount(&v));
    A(cudaSetDevice(0));
    A(cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 0));
    cudaDeviceProp pr;
    A(cudaGetDeviceProperties(&pr, 0));
    A(cudaGetDeviceFlags(&u));
    A(cudaStreamGetFlags(st, &u));
    A(cudaStreamGetPriority(st, &v));
    A(cudaHostGetFlags(&u, h));
    A(cudaHostGetDevicePointer(&p, h, 0));
    A(cudaHostRegister(malloc(4096), 4096, 0));
    A(cudaLaunchHostFunc(
        st, [](void *) {}, 0));
    A(cudaStreamBeginCapture(st, cudaStreamCaptureModeGlobal));
    A(cudaStreamEndCapture(st, &g2));
    A(cudaMemPrefetchAsync(m, 4096, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0, st));
    ok<<<1, 1>>>(d);
    AL("launch", cudaGetLastError());
    A(cudaDriverGetVersion(&v));
    A(cudaRuntimeGetVersion(&v));
    A(cudaGraphDestroy(g));
    A(cudaGraphExecDestroy(ge));
    A(cudaFreeArray(arr));
    A(cudaEventDestroy(ev));
    A(cudaStreamDestroy(st));
    A(cudaFree(d));
    A(cudaFreeHost(h));
    A(cudaFree(m));
    A(cudaDeviceReset());
    A(cudaDeviceSynchronize());
    A(cudaFree(0));
    A(cudaMalloc(&d, 4));
    ok<<<1, 1>>>(d);
    AL("launch", cudaGetLastError());
    A(cudaDeviceSynchronize());
}

SECTION(trap)
{
    prep();
    tr<<<1, 1, 0, st>>>();
    after();
}

SECTION(first_seen_by_copy)
{
    prep();
    tr<<<1, 1>>>();
    A(cudaMemcpy(h, d, 4, cudaMemcpyDeviceToHost));
    A(cudaDeviceSynchronize());
}

SECTION(first_seen_by_event)
{
    prep();
    tr<<<1, 1>>>();
    cudaEventRecord(ev);
    A(cudaEventSynchronize(ev));
    A(cudaFree(d));
}

SECTION(first_seen_by_free)
{
    prep();
    tr<<<1, 1>>>();
    A(cudaFree(d));
    A(cudaFree(d));
}

SECTION(driver_view)
{
    prep();
    tr<<<1, 1>>>();
    D(cuCtxSynchronize());
    CUdeviceptr p;
    D(cuMemAlloc(&p, 4));
    D(cuMemFree((CUdeviceptr)d));
    CUcontext c;
    D(cuCtxGetCurrent(&c));
    unsigned u;
    int v;
    D(cuCtxGetApiVersion(c, &u));
    D(cuCtxGetFlags(&u));
    D(cuDevicePrimaryCtxGetState(0, &u, &v));
    V(v);
    D(cuDevicePrimaryCtxRetain(&c, 0));
    D(cuDevicePrimaryCtxRelease(0));
    D(cuCtxPushCurrent(c));
    D(cuCtxPopCurrent(&c));
    D(cuDevicePrimaryCtxReset(0));
    D(cuCtxSynchronize());
    D(cuDevicePrimaryCtxGetState(0, &u, &v));
    V(v);
}

SECTION(other_context_lives)
{
    prep();
    CUcontext c, old;
    Q(cuCtxGetCurrent(&old));
    D(cuCtxCreate(&c, NULL, 0, 0));
    D(cuCtxSetCurrent(old));
    tr<<<1, 1>>>();
    D(cuCtxSynchronize());
    D(cuCtxSetCurrent(c));
    D(cuCtxSynchronize());
    CUdeviceptr p;
    D(cuMemAlloc(&p, 4));
}

} // namespace faults

namespace callbacks
{
__global__ void k() {}
__global__ void trapk()
{
    asm("trap;");
}

SECTION(callback)
{
    cudaStream_t s;
    Q(cudaStreamCreate(&s));
    A(cudaStreamAddCallback(s, NULL, NULL, 0));
    A(cudaStreamAddCallback(
        s, [](cudaStream_t, cudaError_t, void *) {}, NULL, 1));
    A(cudaLaunchHostFunc(s, NULL, NULL));
    A(cudaStreamAddCallback(
        s,
        [](cudaStream_t st, cudaError_t e, void *u) {
            say("in callback: same stream %d, status %s", st == *(cudaStream_t *)u,
                cudaGetErrorName(e));
            void *p;
            int d;
            A(cudaMalloc(&p, 4));
            A(cudaGetDevice(&d));
            A(cudaStreamQuery(st));
            A(cudaGetLastError());
            A(cudaMemcpy(&d, &d, 4, cudaMemcpyHostToHost));
            A(cudaDeviceSynchronize());
            cudaEvent_t ev;
            A(cudaEventCreate(&ev));
            A(cudaStreamSynchronize(0));
            k<<<1, 1>>>();
            say("launch %s", cudaGetErrorName(cudaGetLastError()));
        },
        &s, 0));
    A(cudaStreamSynchronize(s));
    A(cudaLaunchHostFunc(
        s,
        [](void *) {
            void *p;
            int d;
            size_t f, t;
            cudaStream_t x;
            say("in host function");
            A(cudaMalloc(&p, 4));
            A(cudaGetDevice(&d));
            A(cudaGetDeviceCount(&d));
            A(cudaSetDevice(0));
            A(cudaMemGetInfo(&f, &t));
            A(cudaStreamCreate(&x));
            A(cudaPeekAtLastError());
            A(cudaFree(0));
            A(cudaFreeHost(0));
            A(cudaMallocHost(&p, 4));
            A(cudaDeviceGetAttribute(&d, cudaDevAttrWarpSize, 0));
            A(cudaDriverGetVersion(&d));
            CUcontext c;
            D(cuCtxGetCurrent(&c));
            D(cuDeviceGetCount(&d));
            D(cuCtxSynchronize());
            CUdeviceptr q;
            D(cuMemAlloc(&q, 4));
            cudaPointerAttributes a;
            A(cudaPointerGetAttributes(&a, p));
        },
        NULL));
    A(cudaStreamSynchronize(s));
    say("after %s", cudaGetErrorName(cudaGetLastError()));
}

} // namespace callbacks

namespace device
{

SECTION(limit_after_launch)
{
    extern __global__ void pf();
    pf<<<1, 1>>>();
    Q(cudaDeviceSynchronize());
    size_t v;
    A(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 22));
    A(cudaDeviceGetLimit(&v, cudaLimitPrintfFifoSize));
    V(v);
    A(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 64 << 20));
    A(cudaDeviceGetLimit(&v, cudaLimitMallocHeapSize));
    V(v);
    A(cudaDeviceSetLimit(cudaLimitStackSize, 8192));
    A(cudaDeviceGetLimit(&v, cudaLimitStackSize));
    V(v);
}

__global__ void pf()
{
    if (threadIdx.x == 1000) {
        printf("never");
        free(malloc(5));
    }
}

SECTION(pci)
{
    char b[32];
    memset(b, 'x', 32);
    A(cudaDeviceGetPCIBusId(b, 13, 0));
    V(strlen(b));
    A(cudaDeviceGetPCIBusId(b, 12, 0));
    A(cudaDeviceGetPCIBusId(b, 1, 0));
    A(cudaDeviceGetPCIBusId(b, 0, 0));
    A(cudaDeviceGetPCIBusId(b, -1, 0));
    A(cudaDeviceGetPCIBusId(NULL, 13, 0));
    A(cudaDeviceGetPCIBusId(b, 13, 9));
    Q(cudaDeviceGetPCIBusId(b, 32, 0));
    int d = -1;
    A(cudaDeviceGetByPCIBusId(&d, b));
    V(d);
    A(cudaDeviceGetByPCIBusId(&d, "nonsense"));
    A(cudaDeviceGetByPCIBusId(&d, "0000:ff:1f.7"));
    A(cudaDeviceGetByPCIBusId(NULL, b));
    A(cudaDeviceGetByPCIBusId(&d, NULL));
    A(cudaDeviceGetByPCIBusId(&d, ""));
    A(cudaDeviceGetByPCIBusId(&d, b + 5));
    V(d);
    char up[32];
    strcpy(up, b);
    for (char *c = up; *c; c++)
        if (*c >= 'a' && *c <= 'z') *c -= 32;
    A(cudaDeviceGetByPCIBusId(&d, up));
}

} // namespace device

namespace forks
{
__global__ void k(int *p)
{
    *p = 3;
}
static void in_child(void (*f)())
{
    fflush(stdout);
    pid_t p = fork();
    if (!p) {
        alarm(3);
        section = "child";
        f();
        fflush(stdout);
        _exit(0);
    }
    int st;
    waitpid(p, &st, 0);
    say("child ended %s %d", WIFSIGNALED(st) ? "by signal" : "with",
        WIFSIGNALED(st) ? WTERMSIG(st) : WEXITSTATUS(st));
}

SECTION(after_init)
{
    Q(cudaFree(0));
    in_child([]() {
        int n;
        void *p;
        A(cudaGetDeviceCount(&n));
        A(cudaGetDevice(&n));
        A(cudaSetDevice(0));
        A(cudaMalloc(&p, 4));
        A(cudaDeviceSynchronize());
        A(cudaFree(0));
        A(cudaDeviceReset());
        cudaDeviceProp pr;
        A(cudaGetDeviceProperties(&pr, 0));
        A(cudaDriverGetVersion(&n));
        A(cudaRuntimeGetVersion(&n));
        k<<<1, 1>>>((int *)p);
        say("launch %s", cudaGetErrorName(cudaGetLastError()));
    });
    void *p;
    A(cudaMalloc(&p, 4));
}

SECTION(after_count)
{
    int n;
    Q(cudaGetDeviceCount(&n));
    in_child([]() {
        int n;
        void *p;
        A(cudaGetDeviceCount(&n));
        A(cudaMalloc(&p, 4));
    });
}

SECTION(after_driver_init)
{
    Q(cuInit(0));
    in_child([]() {
        int n;
        CUdevice d;
        CUcontext c;
        D(cuInit(0));
        D(cuDeviceGetCount(&n));
        D(cuDeviceGet(&d, 0));
        D(cuDevicePrimaryCtxRetain(&c, 0));
        D(cuCtxCreate(&c, NULL, 0, 0));
        D(cuDriverGetVersion(&n));
        D(cuCtxGetCurrent(&c));
        CUdeviceptr p;
        D(cuMemAlloc(&p, 4));
    });
    CUcontext c;
    D(cuDevicePrimaryCtxRetain(&c, 0));
}

SECTION(after_driver_context)
{
    CUcontext c;
    Q(cuInit(0));
    Q(cuCtxCreate(&c, NULL, 0, 0));
    static CUdeviceptr p;
    Q(cuMemAlloc(&p, 4));
    in_child([]() {
        CUcontext c;
        D(cuCtxGetCurrent(&c));
        D(cuCtxSynchronize());
        CUdeviceptr q;
        D(cuMemAlloc(&q, 4));
        D(cuMemFree(p));
        D(cuStreamQuery(0));
    });
    D(cuMemFree(p));
}

SECTION(before)
{
    in_child([]() {
        void *p;
        A(cudaMalloc(&p, 4));
    });
    void *p;
    A(cudaMalloc(&p, 4));
    in_child([]() {
        cudaEvent_t e;
        cudaStream_t s;
        A(cudaEventCreate(&e));
        A(cudaStreamCreate(&s));
        A(cudaGetLastError());
        void *h;
        A(cudaMallocHost(&h, 4));
        cudaGraph_t g;
        A(cudaGraphCreate(&g, 0));
        cudaPointerAttributes pa;
        A(cudaPointerGetAttributes(&pa, &g));
        cudaFuncAttributes fa;
        A(cudaFuncGetAttributes(&fa, k));
        int v;
        A(cudaDeviceGetAttribute(&v, cudaDevAttrWarpSize, 0));
    });
}

} // namespace forks

namespace threads
{
__global__ void k(int *p)
{
    *p += 1;
}
#define T(...)                                                                                     \
    do {                                                                                           \
        pthread_t t_;                                                                              \
        pthread_create(                                                                            \
            &t_, NULL,                                                                             \
            [](void *) -> void * {                                                                 \
                __VA_ARGS__;                                                                       \
                return NULL;                                                                       \
            },                                                                                     \
            NULL);                                                                                 \
        pthread_join(t_, NULL);                                                                    \
    } while (0)

SECTION(device)
{
    int v;
    A(cudaGetDevice(&v));
    V(v);
    T(int w; A(cudaGetDevice(&w)); V(w); A(cudaSetDevice(-1)); void *p; A(cudaMalloc(&p, 4)););
    A(cudaGetDevice(&v));
    V(v);
}

SECTION(context)
{
    Q(cudaFree(0));
    T(CUcontext c; D(cuCtxGetCurrent(&c)); V(c == NULL); int n; A(cudaGetDevice(&n));
      D(cuCtxGetCurrent(&c)); V(c == NULL); cudaStream_t s; A(cudaStreamCreate(&s));
      D(cuCtxGetCurrent(&c)); V(c == NULL); A(cudaStreamDestroy(s)););
    T(cudaGraph_t g; A(cudaGraphCreate(&g, 0)); CUcontext c; D(cuCtxGetCurrent(&c)); V(c == NULL););
    T(cudaPointerAttributes a; A(cudaPointerGetAttributes(&a, &a)); CUcontext c;
      D(cuCtxGetCurrent(&c)); V(c == NULL););
    T(A(cudaSetDevice(0)); CUcontext c; D(cuCtxGetCurrent(&c)); V(c == NULL););
    T(A(cudaDeviceSynchronize()); CUcontext c; D(cuCtxGetCurrent(&c)); V(c == NULL););
    T(size_t z; A(cudaDeviceGetLimit(&z, cudaLimitStackSize)); CUcontext c; D(cuCtxGetCurrent(&c));
      V(c == NULL););
    T(unsigned z; A(cudaGetDeviceFlags(&z)); CUcontext c; D(cuCtxGetCurrent(&c)); V(c == NULL););
    T(A(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024)); CUcontext c;
      D(cuCtxGetCurrent(&c)); V(c == NULL););
    T(int l; A(cudaDeviceGetStreamPriorityRange(&l, &l)); CUcontext c; D(cuCtxGetCurrent(&c));
      V(c == NULL););
    T(A(cudaStreamQuery(0)); CUcontext c; D(cuCtxGetCurrent(&c)); V(c == NULL););
    T(A(cudaFreeHost(NULL)); CUcontext c; D(cuCtxGetCurrent(&c)); V(c == NULL););
    T(A(cudaFree(NULL)); CUcontext c; D(cuCtxGetCurrent(&c)); V(c == NULL););
}

SECTION(nothing_first)
{
    T(A(cudaFreeHost(NULL)); int a; unsigned f; D(cuDevicePrimaryCtxGetState(0, &f, &a)); V(a););
    int a;
    unsigned f;
    cudaEvent_t e;
    A(cudaEventCreate(&e));
    D(cuDevicePrimaryCtxGetState(0, &f, &a));
    V(a);
}

SECTION(exit_with_work)
{
    static int *d;
    Q(cudaMalloc(&d, 4));
    Q(cudaMemset(d, 0, 4));
    static cudaStream_t s;
    T(Q(cudaStreamCreate(&s)); k<<<1, 1, 0, s>>>(d); k<<<1, 1, 0, cudaStreamPerThread>>>(d););
    int v;
    A(cudaStreamSynchronize(s));
    A(cudaDeviceSynchronize());
    Q(cudaMemcpy(&v, d, 4, cudaMemcpyDefault));
    V(v);
}

SECTION(exit_with_context)
{
    Q(cuInit(0));
    static CUcontext c;
    T(Q(cuCtxCreate(&c, NULL, 0, 0)));
    CUcontext x;
    D(cuCtxGetCurrent(&x));
    V(x == NULL);
    D(cuCtxSetCurrent(c));
    CUdeviceptr p;
    D(cuMemAlloc(&p, 4));
    D(cuCtxDestroy(c));
}

SECTION(capture_exit)
{
    static cudaStream_t s;
    Q(cudaStreamCreate(&s));
    T(A(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal)););
    cudaStreamCaptureStatus st;
    A(cudaStreamIsCapturing(s, &st));
    V(st);
    void *p;
    A(cudaMalloc(&p, 4));
    cudaGraph_t g;
    A(cudaStreamEndCapture(s, &g));
    V(g == NULL);
    A(cudaStreamIsCapturing(s, &st));
    V(st);
    T(A(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed)););
    A(cudaStreamEndCapture(s, &g));
    V(g == NULL);
    T(A(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal)););
    A(cudaMalloc(&p, 4));
    A(cudaStreamEndCapture(s, &g));
    V(g == NULL);
}

SECTION(last_error_in_callback)
{
    Q(cudaFree(0));
    (void)cudaSetDevice(-1);
    Q(cudaLaunchHostFunc(
        0, [](void *) { say("in host function %s", cudaGetErrorName(cudaPeekAtLastError())); }, 0));
    cudaDeviceSynchronize();
    say("here %s", cudaGetErrorName(cudaGetLastError()));
}

} // namespace threads
