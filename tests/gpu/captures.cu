// Captures, asked of a GPU: which calls end one in each mode, and what is then left of it; streams
// that join, threads that end it, events that it recorded. Each line is a case and its answer, of a
// section of its own. captures.txt has an H200's.
//
//     nvcc -std=c++17 -arch=sm_90 -o captures tests/gpu/captures.cu -lcuda && ./captures
//     >tests/gpu/captures.txt
#include "ask.cuh"

#include <cassert>

namespace calls
{
__global__ void k(int *p)
{
    if (p) *p += 1;
}
static cudaStream_t s, t;
static int *d;
static void *h;
static cudaEvent_t e, f;
static void prep()
{
    Q(cudaStreamCreate(&s));
    Q(cudaStreamCreate(&t));
    Q(cudaMalloc(&d, 4096));
    Q(cudaMallocHost(&h, 4096));
    Q(cudaEventCreate(&e));
    Q(cudaEventCreate(&f));
    Q(cudaEventRecord(f, t));
    k<<<1, 1>>>(d);
    Q(cudaDeviceSynchronize());
}
typedef cudaError_t (*fn)();
static void one(cudaStreamCaptureMode m, const char *n, fn c)
{
    cudaStreamCaptureStatus st = (cudaStreamCaptureStatus)9;
    cudaGraph_t g = (cudaGraph_t)1;
    Q(cudaStreamBeginCapture(s, m));
    cudaError_t r = c();
    cudaError_t l = cudaGetLastError();
    cudaError_t i = cudaStreamIsCapturing(s, &st);
    cudaError_t x = cudaStreamEndCapture(s, &g);
    size_t c2 = 99;
    if (!x) cudaGraphGetNodes(g, NULL, &c2);
    cudaGetLastError();
    say("mode %d %s: %s last %s; is %s %d; end %s graph %s nodes %d", m, n, cudaGetErrorName(r),
        cudaGetErrorName(l), cudaGetErrorName(i), st, cudaGetErrorName(x),
        g == NULL             ? "null"
        : g == (cudaGraph_t)1 ? "untouched"
                              : "some",
        (int)c2);
    if (!x && g) cudaGraphDestroy(g);
    st = (cudaStreamCaptureStatus)9;
    cudaStreamIsCapturing(s, &st);
    if (st) say("still %d", st);
    cudaGetLastError();
}
#define C(x)                                                                                       \
    one((cudaStreamCaptureMode)m, #x, []() -> cudaError_t {                                        \
        void *p;                                                                                   \
        size_t z;                                                                                  \
        int i;                                                                                     \
        (void)p;                                                                                   \
        (void)z;                                                                                   \
        (void)i;                                                                                   \
        return x;                                                                                  \
    })
static void many(int m)
{
    prep();
    C(cudaMalloc(&p, 4));
    C(cudaFree(0));
    C(cudaMallocHost(&p, 4));
    C(cudaMallocManaged(&p, 4));
    C(cudaMallocAsync(&p, 4, t));
    C(cudaMallocAsync(&p, 4, s));
    C(cudaDeviceSynchronize());
    C(cudaStreamSynchronize(s));
    C(cudaStreamSynchronize(t));
    C(cudaStreamSynchronize(0));
    C(cudaStreamQuery(s));
    C(cudaStreamQuery(t));
    C(cudaStreamQuery(0));
    C(cudaEventQuery(f));
    C(cudaEventSynchronize(f));
    C(cudaEventRecord(e, s));
    C(cudaEventRecord(f, t));
    C(cudaEventRecord(e, 0));
    C(cudaStreamWaitEvent(s, f));
    C(cudaStreamWaitEvent(0, f));
    C(cudaStreamWaitEvent(t, f));
    C(cudaMemcpy(h, d, 4, cudaMemcpyDefault));
    C(cudaMemcpyAsync(h, d, 4, cudaMemcpyDefault, 0));
    C(cudaMemcpyAsync(h, d, 4, cudaMemcpyDefault, t));
    C(cudaMemcpyAsync(h, d, 4, cudaMemcpyDefault, s));
    C(cudaMemcpyAsync(&i, d, 4, cudaMemcpyDefault, s));
    C(cudaMemset(d, 0, 4));
    C(cudaMemsetAsync(d, 0, 4, s));
    C(cudaMemsetAsync(d, 0, 4, 0));
    C(cudaMemsetAsync(d, 0, 0, s));
    C((k<<<1, 1>>>(d), cudaPeekAtLastError()));
    C((k<<<1, 1, 0, t>>>(d), cudaPeekAtLastError()));
    C((k<<<1, 1, 0, s>>>(d), cudaPeekAtLastError()));
    C((k<<<1, 2000, 0, s>>>(d), cudaPeekAtLastError()));
    C((k<<<1, 1, 0, cudaStreamPerThread>>>(d), cudaPeekAtLastError()));
    C(cudaStreamCreate((cudaStream_t *)&p));
    C(cudaEventCreate((cudaEvent_t *)&p));
    C(cudaMemGetInfo(&z, &z));
    C(cudaSetDevice(0));
    C(cudaDeviceSetLimit(cudaLimitStackSize, 2048));
    C(cudaDeviceGetLimit(&z, cudaLimitStackSize));
    C(cudaHostRegister(memalign(4096, 4096), 4096, 0));
    C(cudaLaunchHostFunc(
        s, [](void *) {}, 0));
    C(cudaLaunchHostFunc(
        0, [](void *) {}, 0));
    C(cudaStreamAddCallback(
        s, [](cudaStream_t, cudaError_t, void *) {}, 0, 0));
    C(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    C(cudaStreamGetPriority(s, &i));
    C(cudaMemPrefetchAsync(d, 4, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0, s));
    C(cudaStreamAttachMemAsync(s, d, 0, 1));
    C(cudaMemcpyToSymbol(&s, &i, 4));
    C(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 1024));
    C(cudaStreamDestroy(t = (cudaStreamCreate(&t), t)));
    C(cudaFreeHost(0));
    C(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    C(cudaCtxResetPersistingL2Cache());
    C(cudaGraphLaunch(0, s));
    C(cudaMemcpyPeer(d, 0, d + 8, 0, 4));
    C(cudaMemcpy2DAsync(h, 8, d, 8, 4, 4, cudaMemcpyDefault, s));
    C(cudaFreeAsync(d, s));
    C(cudaEventElapsedTime((float *)&i, f, f));
}

SECTION(global)
{
    many(0);
}

SECTION(local)
{
    many(1);
}

SECTION(relaxed)
{
    many(2);
}

SECTION(mode_bad)
{
    prep();
    A(cudaStreamBeginCapture(s, (cudaStreamCaptureMode)3));
    A(cudaStreamBeginCapture(s, (cudaStreamCaptureMode)-1));
    A(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal));
    A(cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeRelaxed));
    A(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeRelaxed));
    cudaGraph_t g;
    A(cudaStreamEndCapture(cudaStreamPerThread, &g));
    A(cudaStreamEndCapture(s, &g));
    A(cudaStreamEndCapture(0, &g));
    A(cudaStreamEndCapture(s, NULL));
    Q(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    A(cudaStreamEndCapture(s, NULL));
    cudaStreamCaptureStatus st;
    A(cudaStreamIsCapturing(s, &st));
    V(st);
    A(cudaStreamIsCapturing(s, NULL));
    A(cudaStreamEndCapture(s, &g));
    A(cudaStreamIsCapturing(0, &st));
    V(st);
}

} // namespace calls

namespace joins
{
__global__ void k(int *p)
{
    if (p) *p += 1;
}
static cudaStream_t s, t, u;
static int *d;
static cudaEvent_t e, f;
static void prep()
{
    Q(cudaStreamCreate(&s));
    Q(cudaStreamCreate(&t));
    Q(cudaStreamCreate(&u));
    Q(cudaMalloc(&d, 4096));
    Q(cudaEventCreate(&e));
    Q(cudaEventCreate(&f));
    k<<<1, 1>>>(d);
    Q(cudaDeviceSynchronize());
}
static void st(const char *n, cudaStream_t x)
{
    cudaStreamCaptureStatus c = (cudaStreamCaptureStatus)9;
    cudaError_t r = cudaStreamIsCapturing(x, &c);
    say("%s is capturing: %s %d", n, cudaGetErrorName(r), c);
    cudaGetLastError();
}
static void edges(cudaGraph_t g)
{
    size_t n = 0, m = 0, r = 0;
    Q(cudaGraphGetNodes(g, NULL, &n));
    Q(cudaGraphGetEdges(g, NULL, NULL, NULL, &m));
    Q(cudaGraphGetRootNodes(g, NULL, &r));
    say("nodes %d edges %d roots %d", (int)n, (int)m, (int)r);
    std::vector<cudaGraphNode_t> v(n), a(m), b(m);
    Q(cudaGraphGetNodes(g, v.data(), &n));
    if (m) Q(cudaGraphGetEdges(g, a.data(), b.data(), NULL, &m));
    for (size_t i = 0; i < n; i++) {
        cudaGraphNodeType y;
        Q(cudaGraphNodeGetType(v[i], &y));
        say("node %d type %d", (int)i, y);
    }
    for (size_t i = 0; i < m; i++) {
        int x = -1, y = -1;
        for (size_t j = 0; j < n; j++) {
            if (v[j] == a[i]) x = j;
            if (v[j] == b[i]) y = j;
        }
        say("edge %d -> %d", x, y);
    }
}

SECTION(unjoined)
{
    prep();
    Q(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    Q(cudaEventRecord(e, s));
    A(cudaStreamWaitEvent(t, e));
    st("t", t);
    k<<<1, 1, 0, t>>>(d);
    cudaGraph_t g = (cudaGraph_t)1;
    A(cudaStreamEndCapture(s, &g));
    V(g == NULL);
    V(g == (cudaGraph_t)1);
    st("s", s);
    st("t", t);
    A(cudaStreamQuery(t));
    A(cudaEventQuery(e));
    A(cudaStreamWaitEvent(u, e));
    A(cudaEventRecord(e, u));
    A(cudaEventSynchronize(e));
}

SECTION(joined_without_work)
{
    prep();
    Q(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    k<<<1, 1, 0, s>>>(d);
    Q(cudaEventRecord(e, s));
    Q(cudaStreamWaitEvent(t, e));
    cudaGraph_t g;
    A(cudaStreamEndCapture(s, &g));
    st("t", t);
    if (!cudaGetLastError()) edges(g);
}

SECTION(end_other)
{
    prep();
    Q(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    Q(cudaEventRecord(e, s));
    Q(cudaStreamWaitEvent(t, e));
    k<<<1, 1, 0, t>>>(d);
    cudaGraph_t g;
    A(cudaStreamEndCapture(t, &g));
    st("s", s);
    st("t", t);
    Q(cudaEventRecord(f, t));
    A(cudaStreamWaitEvent(s, f));
    A(cudaStreamEndCapture(s, &g));
    st("s", s);
    st("t", t);
}

SECTION(merge)
{
    prep();
    Q(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    Q(cudaStreamBeginCapture(t, cudaStreamCaptureModeRelaxed));
    Q(cudaEventRecord(e, s));
    A(cudaStreamWaitEvent(t, e));
    st("s", s);
    st("t", t);
    cudaGraph_t g;
    A(cudaStreamEndCapture(s, &g));
    A(cudaStreamEndCapture(t, &g));
}

SECTION(event_from_capture_used_outside)
{
    prep();
    Q(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    Q(cudaEventRecord(e, s));
    A(cudaEventQuery(e));
    st("s", s);
    A(cudaEventSynchronize(e));
    st("s", s);
    float ms;
    A(cudaEventElapsedTime(&ms, e, e));
    A(cudaStreamWaitEvent(0, e));
    st("s", s);
    cudaGraph_t g;
    A(cudaStreamEndCapture(s, &g));
    A(cudaEventQuery(e));
    A(cudaEventSynchronize(e));
    A(cudaStreamWaitEvent(u, e));
    A(cudaEventElapsedTime(&ms, e, e));
}

SECTION(legacy)
{
    prep();
    cudaStream_t n;
    Q(cudaStreamCreateWithFlags(&n, 1));
    Q(cudaStreamBeginCapture(n, cudaStreamCaptureModeGlobal));
    k<<<1, 1>>>(d);
    AL("legacy launch beside a nonblocking capture", cudaGetLastError());
    st("n", n);
    st("0", 0);
    cudaGraph_t g;
    A(cudaStreamEndCapture(n, &g));
}

SECTION(legacy2)
{
    prep();
    Q(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    st("0", 0);
    st("legacy", cudaStreamLegacy);
    st("ptds", cudaStreamPerThread);
    cudaStreamCaptureStatus c;
    unsigned long long id;
    A(cudaStreamGetCaptureInfo(0, &c, &id));
    k<<<1, 1>>>(d);
    AL("legacy launch", cudaGetLastError());
    st("s", s);
    k<<<1, 1, 0, s>>>(d);
    AL("launch into s", cudaGetLastError());
    cudaGraph_t g;
    A(cudaStreamEndCapture(s, &g));
}

SECTION(other_thread)
{
    prep();
    for (int m = 0; m < 3; m++) {
        V(m);
        Q(cudaStreamBeginCapture(s, (cudaStreamCaptureMode)m));
        pthread_t th;
        pthread_create(
            &th, NULL,
            [](void *) -> void * {
                void *p;
                A(cudaMalloc(&p, 4));
                A(cudaStreamQuery(t));
                A(cudaDeviceSynchronize());
                A(cudaEventQuery(f));
                cudaStreamCaptureMode mm = cudaStreamCaptureModeRelaxed;
                A(cudaThreadExchangeStreamCaptureMode(&mm));
                V(mm);
                A(cudaMalloc(&p, 4));
                cudaGraph_t g;
                A(cudaStreamEndCapture(s, &g));
                return NULL;
            },
            NULL);
        pthread_join(th, NULL);
        st("s", s);
        cudaGraph_t g;
        A(cudaStreamEndCapture(s, &g));
        st("s", s);
    }
}

SECTION(info)
{
    prep();
    cudaStreamCaptureStatus c = (cudaStreamCaptureStatus)9;
    unsigned long long id = 77, id2;
    cudaGraph_t g = (cudaGraph_t)5;
    const cudaGraphNode_t *dp = (const cudaGraphNode_t *)5;
    const cudaGraphEdgeData *ed;
    size_t n = 55;
    A(cudaStreamGetCaptureInfo(s, &c, &id, &g, &dp, &ed, &n));
    V(c);
    V(id);
    V(g == (cudaGraph_t)5);
    V(n);
    Q(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    A(cudaStreamGetCaptureInfo(s, &c, &id, &g, &dp, &ed, &n));
    V(c);
    V(n);
    V(dp == NULL);
    V(g != NULL);
    A(cudaStreamGetCaptureInfo(s, NULL));
    A(cudaStreamGetCaptureInfo(s, &c));
    k<<<1, 1, 0, s>>>(d);
    A(cudaStreamGetCaptureInfo(s, &c, &id2, &g, &dp, NULL, &n));
    V(n);
    V(id == id2);
    Q(cudaEventRecord(e, s));
    Q(cudaStreamWaitEvent(t, e));
    A(cudaStreamGetCaptureInfo(t, &c, &id2, NULL, &dp, NULL, &n));
    V(n);
    V(id == id2);
    k<<<1, 1, 0, t>>>(d);
    k<<<1, 1, 0, s>>>(d);
    Q(cudaEventRecord(f, t));
    Q(cudaStreamWaitEvent(s, f));
    A(cudaStreamGetCaptureInfo(s, &c, NULL, NULL, &dp, &ed, &n));
    V(n);
    A(cudaStreamGetCaptureInfo(s, &c, NULL, NULL, &dp, NULL, NULL));
    size_t nn;
    Q(cudaGraphGetNodes(g, NULL, &nn));
    V(nn);
    cudaGraph_t r;
    A(cudaStreamEndCapture(s, &r));
    V(r == g);
    edges(r);
    Q(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    A(cudaStreamGetCaptureInfo(s, &c, &id2));
    V(id2 != id);
    (void)cudaStreamSynchronize(s);
    cudaGetLastError();
    A(cudaStreamGetCaptureInfo(s, &c, &id2, &g, &dp, NULL, &n));
    V(c);
    A(cudaStreamEndCapture(s, &r));
}

SECTION(update)
{
    prep();
    Q(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    k<<<1, 1, 0, s>>>(d);
    cudaStreamCaptureStatus c;
    cudaGraph_t g;
    const cudaGraphNode_t *dp;
    size_t n;
    Q(cudaStreamGetCaptureInfo(s, &c, NULL, &g, &dp, NULL, &n));
    cudaGraphNode_t first = dp[0], x;
    A(cudaGraphAddEmptyNode(&x, g, NULL, 0));
    A(cudaStreamUpdateCaptureDependencies(s, &x, NULL, 1, cudaStreamAddCaptureDependencies));
    Q(cudaStreamGetCaptureInfo(s, &c, NULL, &g, &dp, NULL, &n));
    V(n);
    A(cudaStreamUpdateCaptureDependencies(s, &x, NULL, 1, cudaStreamAddCaptureDependencies));
    Q(cudaStreamGetCaptureInfo(s, &c, NULL, &g, &dp, NULL, &n));
    V(n);
    A(cudaStreamUpdateCaptureDependencies(s, &x, NULL, 1, cudaStreamSetCaptureDependencies));
    Q(cudaStreamGetCaptureInfo(s, &c, NULL, &g, &dp, NULL, &n));
    V(n);
    A(cudaStreamUpdateCaptureDependencies(s, NULL, NULL, 0, cudaStreamSetCaptureDependencies));
    Q(cudaStreamGetCaptureInfo(s, &c, NULL, &g, &dp, NULL, &n));
    V(n);
    A(cudaStreamUpdateCaptureDependencies(s, &first, NULL, 1, 2));
    A(cudaStreamUpdateCaptureDependencies(s, NULL, NULL, 1, 1));
    A(cudaStreamUpdateCaptureDependencies(t, &first, NULL, 1, 1));
    A(cudaStreamUpdateCaptureDependencies(s, NULL, NULL, 0, 0));
    k<<<1, 1, 0, s>>>(d);
    cudaGraph_t o;
    cudaGraphNode_t on;
    Q(cudaGraphCreate(&o, 0));
    Q(cudaGraphAddEmptyNode(&on, o, NULL, 0));
    A(cudaStreamUpdateCaptureDependencies(s, &on, NULL, 1, 1));
    A(cudaStreamEndCapture(s, &g));
    if (g) edges(g);
}

SECTION(destroy_capturing)
{
    prep();
    Q(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    k<<<1, 1, 0, s>>>(d);
    A(cudaStreamDestroy(s));
    void *p;
    A(cudaMalloc(&p, 4));
    A(cudaDeviceSynchronize());
}

SECTION(external_events)
{
    prep();
    Q(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
    A(cudaEventRecordWithFlags(e, s, cudaEventRecordExternal));
    A(cudaStreamWaitEvent(s, f, cudaEventWaitExternal));
    A(cudaStreamWaitEvent(s, e));
    A(cudaStreamWaitEvent(s, f));
    st("s", s);
    cudaGraph_t g;
    A(cudaStreamEndCapture(s, &g));
    if (g) edges(g);
}

} // namespace joins
