// Kinds of memory, asked of a GPU: flags, pointers inside, behind and after, advice, pools,
// libraries. Each line is a case and its answer, of a section of its own. memory_kinds.txt has an
// H200's.
//
//     nvcc -std=c++17 -arch=sm_90 -o memory_kinds tests/gpu/memory_kinds.cu -lcuda &&
//     ./memory_kinds >tests/gpu/memory_kinds.txt
#include "ask.cuh"

#include <cassert>

namespace host
{

SECTION(alloc)
{
    void *p;
    unsigned f;
    for (unsigned i = 0; i < 17; i++) {
        char b[40];
        snprintf(b, 40, "cudaHostAlloc flags %u", i);
        p = NULL;
        cudaError_t e = cudaHostAlloc(&p, 64, i);
        AL(b, e);
        if (!e) {
            f = 99;
            A(cudaHostGetFlags(&f, p));
            V(f);
            A(cudaFreeHost(p));
        }
    }
    A(cudaHostAlloc(NULL, 64, 0));
    A(cudaHostAlloc(&p, 0, 0));
    V(p == NULL);
    A(cudaHostAlloc(&p, 0, 99));
    A(cudaHostAlloc(&p, (size_t)1 << 60, 0));
    A(cudaMallocHost(&p, 0));
    V(p == NULL);
    A(cudaMallocHost((void **)NULL, 4));
    A(cudaFreeHost(NULL));
    int st;
    A(cudaFreeHost(&st));
    A(cudaMallocHost(&p, 4096));
    A(cudaFreeHost((char *)p + 64));
    A(cudaFree(p));
    A(cudaFreeHost(p));
    A(cudaFreeHost(p));
    A(cudaMalloc(&p, 64));
    A(cudaFreeHost(p));
    A(cudaFree((char *)p + 8));
    A(cudaFree(p));
    A(cudaFree(p));
    A(cudaMallocManaged(&p, 64));
    A(cudaFreeHost(p));
    A(cudaFree(p));
}

SECTION(reg)
{
    char *p = (char *)mmap(NULL, 1 << 20, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(p, 0, 1 << 20);
    unsigned f;
    void *d;
    for (unsigned i = 0; i < 17; i++) {
        char b[40];
        snprintf(b, 40, "register flags %u", i);
        cudaError_t e = cudaHostRegister(p, 4096, i);
        AL(b, e);
        if (!e) {
            f = 99;
            A(cudaHostGetFlags(&f, p));
            V(f);
            A(cudaHostGetDevicePointer(&d, p, 0));
            V(d == p);
            A(cudaHostUnregister(p));
        }
    }
    A(cudaHostRegister(NULL, 4096, 0));
    A(cudaHostRegister(p, 0, 0));
    A(cudaHostRegister(NULL, 0, 99));
    A(cudaHostRegister(p, 4096, 0));
    A(cudaHostRegister(p, 4096, 0));
    A(cudaHostRegister(p + 100, 100, 0));
    A(cudaHostRegister(p, 8192, 0));
    A(cudaHostRegister(p + 4096, 4096, 0));
    A(cudaHostUnregister(p + 100));
    A(cudaHostUnregister(p));
    A(cudaHostUnregister(p));
    A(cudaHostUnregister(p + 4096));
    A(cudaHostUnregister(NULL));
    int x;
    A(cudaHostUnregister(&x));
    A(cudaHostRegister(p + 10, 100, 0));
    cudaPointerAttributes a;
    A(cudaPointerGetAttributes(&a, p + 10));
    V(a.type);
    A(cudaPointerGetAttributes(&a, p + 50));
    V(a.type);
    V((char *)a.devicePointer - (p + 50));
    A(cudaPointerGetAttributes(&a, p));
    V(a.type);
    A(cudaPointerGetAttributes(&a, p + 200));
    V(a.type);
    A(cudaHostRegister(p + 300, 100, 0));
    A(cudaHostUnregister(p + 10));
    void *pin;
    Q(cudaMallocHost(&pin, 4096));
    A(cudaHostRegister(pin, 4096, 0));
    A(cudaHostUnregister(pin));
    void *m;
    Q(cudaMallocManaged(&m, 4096));
    A(cudaHostRegister(m, 4096, 0));
    void *dv;
    Q(cudaMalloc(&dv, 4096));
    A(cudaHostRegister(dv, 4096, 0));
    A(cudaHostRegister((void *)4096, 4096, 0));
    munmap(p, 1 << 20);
}

SECTION(devptr)
{
    char *p;
    void *d;
    Q(cudaHostAlloc(&p, 4096, 0));
    A(cudaHostGetDevicePointer(&d, p, 0));
    V(d == p);
    A(cudaHostGetDevicePointer(&d, p + 100, 0));
    V((char *)d - p);
    A(cudaHostGetDevicePointer(&d, p, 1));
    A(cudaHostGetDevicePointer(NULL, p, 0));
    A(cudaHostGetDevicePointer(&d, NULL, 0));
    int x;
    A(cudaHostGetDevicePointer(&d, &x, 0));
    A(cudaHostGetDevicePointer(&d, p + 4096, 0));
    void *v;
    Q(cudaMalloc(&v, 64));
    A(cudaHostGetDevicePointer(&d, v, 0));
    void *m;
    Q(cudaMallocManaged(&m, 64));
    A(cudaHostGetDevicePointer(&d, m, 0));
    unsigned f;
    A(cudaHostGetFlags(&f, p + 100));
    A(cudaHostGetFlags(NULL, p));
    A(cudaHostGetFlags(&f, NULL));
    A(cudaHostGetFlags(&f, &x));
    A(cudaHostGetFlags(&f, m));
    A(cudaHostGetFlags(&f, v));
}

SECTION(pointers)
{
    cudaPointerAttributes a;
    auto q = [&](const char *n, const void *p) {
        memset(&a, 0x55, sizeof a);
        cudaError_t e = cudaPointerGetAttributes(&a, p);
        say("%s: %s type %d device %d devptr %s hostptr %s", n, cudaGetErrorName(e), a.type,
            a.device,
            a.devicePointer == p ? "same"
            : a.devicePointer    ? "other"
                                 : "null",
            a.hostPointer == p ? "same"
            : a.hostPointer    ? "other"
                               : "null");
        cudaGetLastError();
    };
    int st;
    static int sg;
    char *d, *m, *h, *r, *as;
    Q(cudaMalloc(&d, 64));
    Q(cudaMallocManaged(&m, 64));
    Q(cudaMallocHost(&h, 64));
    r = (char *)aligned_alloc(4096, 4096);
    Q(cudaHostRegister(r, 4096, 0));
    Q(cudaMallocAsync(&as, 64, 0));
    Q(cudaDeviceSynchronize());
    char *ro = (char *)malloc(100000);
    q("null", NULL);
    q("stack", &st);
    q("static", &sg);
    q("heap", ro);
    q("device", d);
    q("device interior", d + 13);
    q("managed", m);
    q("managed interior", m + 13);
    q("pinned", h);
    q("pinned interior", h + 13);
    q("registered", r);
    q("registered interior", r + 4095);
    q("pool", as);
    q("small number", (void *)16);
    q("noncanonical", (void *)0xdead000000000000ull);
    q("minus one", (void *)-1);
    Q(cudaFree(d));
    q("freed device", d);
    Q(cudaFree(m));
    q("freed managed", m);
    Q(cudaHostUnregister(r));
    q("unregistered", r);
    A(cudaPointerGetAttributes(NULL, r));
    A(cudaPointerGetAttributes(NULL, NULL));
}

} // namespace host

namespace managed
{
static char *m;
static cudaMemLocation L(int t, int i)
{
    cudaMemLocation l;
    memset(&l, 0, sizeof l);
    l.type = (cudaMemLocationType)t;
    l.id = i;
    return l;
}

SECTION(prefetch)
{
    Q(cudaMallocManaged(&m, 1 << 20));
    void *d;
    Q(cudaMalloc(&d, 4096));
    int x;
    A(cudaMemPrefetchAsync(m, 1 << 20, L(1, 0), 0, 0));
    A(cudaMemPrefetchAsync(m, 0, L(1, 0), 0, 0));
    A(cudaMemPrefetchAsync(m, (1 << 20) + 1, L(1, 0), 0, 0));
    A(cudaMemPrefetchAsync(m, 4096, L(1, 0), 1, 0));
    for (int t = -1; t < 7; t++)
        for (int i = -2; i < 2; i++) {
            char b[64];
            snprintf(b, 64, "prefetch to type %d id %d", t, i);
            if (i == 1 && t == 1) continue;
            AL(b, cudaMemPrefetchAsync(m, 4096, L(t, i), 0, 0));
        }
    A(cudaMemPrefetchAsync(NULL, 4096, L(1, 0), 0, 0));
    A(cudaMemPrefetchAsync(d, 4096, L(1, 0), 0, 0));
    A(cudaMemPrefetchAsync(&x, 4, L(1, 0), 0, 0));
    A(cudaMemPrefetchAsync(m + 100, 10, L(1, 0), 0, 0));
    A(cudaMemPrefetchAsync(m, 4096, L(1, 77), 0, 0));
    A(cudaMemPrefetchAsync(NULL, 0, L(1, 77), 0, 0));
    A(cudaDeviceSynchronize());
}

SECTION(advise)
{
    Q(cudaMallocManaged(&m, 1 << 20));
    void *d;
    Q(cudaMalloc(&d, 4096));
    for (int a = 0; a < 9; a++)
        for (int t = 0; t < 6; t++) {
            char b[64];
            snprintf(b, 64, "advise %d at type %d", a, t);
            AL(b, cudaMemAdvise(m, 4096, (cudaMemoryAdvise)a, L(t, 0)));
        }
    A(cudaMemAdvise(m, 4096, cudaMemAdviseSetPreferredLocation, L(1, 99)));
    A(cudaMemAdvise(m, 4096, cudaMemAdviseSetReadMostly, L(1, 99)));
    A(cudaMemAdvise(m, 0, cudaMemAdviseSetReadMostly, L(1, 0)));
    A(cudaMemAdvise(NULL, 4096, cudaMemAdviseSetReadMostly, L(1, 0)));
    A(cudaMemAdvise(d, 4096, cudaMemAdviseSetReadMostly, L(1, 0)));
    A(cudaMemAdvise(m, 2 << 20, cudaMemAdviseSetReadMostly, L(1, 0)));
}

SECTION(range)
{
    Q(cudaMallocManaged(&m, 1 << 20));
    int v[8];
    auto g = [&](const char *n, int at, size_t sz) {
        memset(v, 0x55, sizeof v);
        cudaError_t e = cudaMemRangeGetAttribute(v, sz, (cudaMemRangeAttribute)at, m, 1 << 20);
        say("%s attr %d size %d: %s %d %d %d", n, at, (int)sz, cudaGetErrorName(e), v[0], v[1],
            v[2]);
        cudaGetLastError();
    };
    for (int at = 0; at < 11; at++) g("fresh", at, 4);
    g("fresh", 3, 8);
    g("fresh", 3, 12);
    g("fresh", 3, 6);
    g("fresh", 1, 8);
    g("fresh", 1, 0);
    g("fresh", 1, 2);
    Q(cudaMemAdvise(m, 1 << 20, cudaMemAdviseSetReadMostly, L(1, 0)));
    g("read mostly", 1, 4);
    Q(cudaMemAdvise(m, 1 << 19, cudaMemAdviseUnsetReadMostly, L(1, 0)));
    g("half", 1, 4);
    Q(cudaMemAdvise(m, 1 << 20, cudaMemAdviseSetPreferredLocation, L(1, 0)));
    g("preferred device", 2, 4);
    g("preferred device", 5, 4);
    g("preferred device", 6, 4);
    Q(cudaMemAdvise(m, 1 << 20, cudaMemAdviseSetPreferredLocation, L(2, 0)));
    g("preferred host", 2, 4);
    g("preferred host", 5, 4);
    g("preferred host", 6, 4);
    Q(cudaMemAdvise(m, 1 << 20, cudaMemAdviseUnsetPreferredLocation, L(2, 0)));
    g("unset", 2, 4);
    g("unset", 5, 4);
    Q(cudaMemAdvise(m, 1 << 20, cudaMemAdviseSetAccessedBy, L(1, 0)));
    g("accessed by 0", 3, 4);
    g("accessed by 0", 3, 8);
    Q(cudaMemAdvise(m, 1 << 20, cudaMemAdviseSetAccessedBy, L(2, 0)));
    g("and host", 3, 4);
    g("and host", 3, 8);
    g("and host", 3, 12);
    Q(cudaMemPrefetchAsync(m, 1 << 20, L(1, 0), 0, 0));
    Q(cudaDeviceSynchronize());
    g("prefetched", 4, 4);
    g("prefetched", 7, 4);
    g("prefetched", 8, 4);
    Q(cudaMemPrefetchAsync(m, 1 << 20, L(2, 0), 0, 0));
    Q(cudaDeviceSynchronize());
    g("prefetched back", 4, 4);
    g("prefetched back", 7, 4);
    g("prefetched back", 8, 4);
    A(cudaMemRangeGetAttribute(NULL, 4, cudaMemRangeAttributeReadMostly, m, 4096));
    A(cudaMemRangeGetAttribute(v, 4, cudaMemRangeAttributeReadMostly, NULL, 4096));
    A(cudaMemRangeGetAttribute(v, 4, cudaMemRangeAttributeReadMostly, m, 0));
    A(cudaMemRangeGetAttribute(v, 4, cudaMemRangeAttributeReadMostly, m, 2 << 20));
    int x;
    A(cudaMemRangeGetAttribute(v, 4, cudaMemRangeAttributeReadMostly, &x, 4));
    void *d;
    Q(cudaMalloc(&d, 64));
    A(cudaMemRangeGetAttribute(v, 4, cudaMemRangeAttributeReadMostly, d, 4));
    A(cudaMemRangeGetAttribute(v, 4, (cudaMemRangeAttribute)99, m, 4));
    int a0, a1;
    void *da[2] = {&a0, &a1};
    size_t sz[2] = {4, 4};
    cudaMemRangeAttribute at[2] = {cudaMemRangeAttributeReadMostly,
                                   cudaMemRangeAttributePreferredLocation};
    A(cudaMemRangeGetAttributes(da, sz, at, 2, m, 4096));
    V(a0);
    V(a1);
    A(cudaMemRangeGetAttributes(da, sz, at, 0, m, 4096));
    A(cudaMemRangeGetAttributes(NULL, sz, at, 2, m, 4096));
    A(cudaMemRangeGetAttributes(da, NULL, at, 2, m, 4096));
    A(cudaMemRangeGetAttributes(da, sz, NULL, 2, m, 4096));
    sz[1] = 8;
    A(cudaMemRangeGetAttributes(da, sz, at, 2, m, 4096));
}

SECTION(batch)
{
    Q(cudaMallocManaged(&m, 1 << 20));
    cudaStream_t s;
    Q(cudaStreamCreate(&s));
    void *ps[2] = {m, m + 65536};
    size_t sz[2] = {4096, 4096};
    cudaMemLocation l[2] = {L(1, 0), L(2, 0)};
    size_t ix[2] = {0, 1};
    A(cudaMemPrefetchBatchAsync(ps, sz, 2, l, ix, 2, 0, s));
    A(cudaMemPrefetchBatchAsync(ps, sz, 2, l, ix, 1, 0, s));
    A(cudaMemPrefetchBatchAsync(ps, sz, 2, l, ix, 0, 0, s));
    A(cudaMemPrefetchBatchAsync(ps, sz, 0, l, ix, 1, 0, s));
    A(cudaMemPrefetchBatchAsync(ps, sz, 2, l, ix, 2, 1, s));
    A(cudaMemPrefetchBatchAsync(ps, sz, 2, l, ix, 2, 0, 0));
    ix[0] = 1;
    A(cudaMemPrefetchBatchAsync(ps, sz, 2, l, ix, 1, 0, s));
    A(cudaMemDiscardBatchAsync(ps, sz, 2, 0, s));
    A(cudaMemDiscardBatchAsync(ps, sz, 2, 1, s));
    A(cudaMemDiscardBatchAsync(ps, sz, 0, 0, s));
    ix[0] = 0;
    A(cudaMemDiscardAndPrefetchBatchAsync(ps, sz, 2, l, ix, 2, 0, s));
    ps[1] = NULL;
    A(cudaMemPrefetchBatchAsync(ps, sz, 2, l, ix, 2, 0, s));
    A(cudaMemDiscardBatchAsync(ps, sz, 2, 0, s));
    A(cudaStreamSynchronize(s));
}

} // namespace managed

namespace pools
{
static cudaMemPool_t pool;
static cudaStream_t s, t;
static cudaMemPoolProps P()
{
    cudaMemPoolProps p;
    memset(&p, 0, sizeof p);
    p.allocType = cudaMemAllocationTypePinned;
    p.location.type = cudaMemLocationTypeDevice;
    return p;
}
static void prep()
{
    cudaMemPoolProps p = P();
    Q(cudaMemPoolCreate(&pool, &p));
    Q(cudaStreamCreate(&s));
    Q(cudaStreamCreate(&t));
}

SECTION(create)
{
    cudaMemPool_t q;
    cudaMemPoolProps p = P();
    A(cudaMemPoolCreate(&q, &p));
    A(cudaMemPoolCreate(NULL, &p));
    A(cudaMemPoolCreate(&q, NULL));
    p.allocType = (cudaMemAllocationType)0;
    A(cudaMemPoolCreate(&q, &p));
    p.allocType = (cudaMemAllocationType)5;
    A(cudaMemPoolCreate(&q, &p));
    p = P();
    p.location.id = 99;
    A(cudaMemPoolCreate(&q, &p));
    p = P();
    p.location.id = -1;
    A(cudaMemPoolCreate(&q, &p));
    p = P();
    p.location.type = (cudaMemLocationType)0;
    A(cudaMemPoolCreate(&q, &p));
    p.location.type = (cudaMemLocationType)9;
    A(cudaMemPoolCreate(&q, &p));
    p = P();
    p.handleTypes = (cudaMemAllocationHandleType)2;
    A(cudaMemPoolCreate(&q, &p));
    p.handleTypes = (cudaMemAllocationHandleType)64;
    A(cudaMemPoolCreate(&q, &p));
    p = P();
    p.maxSize = 1 << 20;
    A(cudaMemPoolCreate(&q, &p));
    void *x;
    A(cudaMallocFromPoolAsync(&x, 1 << 10, q, 0));
    A(cudaMallocFromPoolAsync(&x, 256 << 20, q, 0));
    p = P();
    p.reserved[3] = 1;
    A(cudaMemPoolCreate(&q, &p));
    p = P();
    p.usage = 1;
    A(cudaMemPoolCreate(&q, &p));
    p.usage = 2;
    A(cudaMemPoolCreate(&q, &p));
    A(cudaMemPoolDestroy(NULL));
    cudaMemPool_t d;
    A(cudaDeviceGetDefaultMemPool(&d, 0));
    A(cudaMemPoolDestroy(d));
    A(cudaDeviceGetDefaultMemPool(NULL, 0));
    A(cudaDeviceGetDefaultMemPool(&d, 9));
    A(cudaDeviceGetMemPool(&q, 0));
    Q(cudaDeviceGetDefaultMemPool(&d, 0));
    V(q == d);
}

SECTION(use)
{
    prep();
    unsigned long long u;
    void *p, *q;
    auto used = [&](const char *n) {
        unsigned long long a = 0, b = 0, c = 0;
        cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &a);
        cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &b);
        cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &c);
        say("%s: used %llu high %llu reserved %s", n, a, b, c ? "some" : "none");
    };
    used("fresh");
    A(cudaMallocFromPoolAsync(&p, 1000, pool, s));
    used("1000");
    A(cudaMallocFromPoolAsync(&q, 1, pool, s));
    used("and 1");
    A(cudaFreeAsync(p, s));
    used("1000 freed");
    Q(cudaStreamSynchronize(s));
    used("synchronized");
    A(cudaFreeAsync(q, s));
    used("all freed");
    Q(cudaStreamSynchronize(s));
    used("synchronized");
    A(cudaMemPoolTrimTo(pool, 0));
    used("trimmed");
    u = 0;
    A(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &u));
    used("reset");
    A(cudaMallocFromPoolAsync(&p, 0, pool, s));
    V(p == NULL);
    A(cudaMallocFromPoolAsync(NULL, 4, pool, s));
    A(cudaMallocFromPoolAsync(&p, 4, NULL, s));
    A(cudaMallocFromPoolAsync(&p, 0, NULL, s));
    A(cudaMallocFromPoolAsync(&p, (size_t)1 << 50, pool, s));
    A(cudaMallocAsync(&p, 0, s));
    V(p == NULL);
    A(cudaMallocAsync(NULL, 4, s));
    A(cudaMallocAsync(&p, (size_t)1 << 60, s));
    A(cudaFreeAsync(NULL, s));
    A(cudaFreeAsync(&u, s));
    A(cudaFreeAsync((void *)64, s));
    Q(cudaMalloc(&q, 64));
    A(cudaFreeAsync(q, s));
    Q(cudaStreamSynchronize(s));
    A(cudaFree(q));
    Q(cudaMallocAsync(&p, 64, s));
    A(cudaFreeAsync((char *)p + 8, s));
    A(cudaFreeAsync(p, s));
    A(cudaFreeAsync(p, s));
    Q(cudaStreamSynchronize(s));
    A(cudaFreeAsync(p, s));
    Q(cudaMallocAsync(&p, 64, s));
    A(cudaFree(p));
    A(cudaFree(p));
    Q(cudaMallocHost(&q, 64));
    A(cudaFreeAsync(q, s));
    void *m;
    Q(cudaMallocManaged(&m, 64));
    A(cudaFreeAsync(m, s));
    A(cudaStreamSynchronize(s));
}

SECTION(destroy)
{
    prep();
    void *p, *q;
    Q(cudaMallocFromPoolAsync(&p, 64, pool, s));
    A(cudaMemPoolDestroy(pool));
    A(cudaMallocFromPoolAsync(&q, 64, pool, s));
    A(cudaMemsetAsync(p, 1, 64, s));
    A(cudaFreeAsync(p, s));
    A(cudaStreamSynchronize(s));
}

SECTION(destroy_current)
{
    prep();
    cudaMemPool_t q, d;
    A(cudaDeviceSetMemPool(0, pool));
    A(cudaDeviceGetMemPool(&q, 0));
    V(q == pool);
    A(cudaMemPoolDestroy(pool));
    A(cudaDeviceGetMemPool(&q, 0));
    A(cudaDeviceGetDefaultMemPool(&d, 0));
    V(q == d);
    A(cudaDeviceSetMemPool(0, NULL));
    A(cudaDeviceSetMemPool(9, d));
    A(cudaDeviceSetMemPool(0, d));
    void *p;
    A(cudaMallocAsync(&p, 4, s));
}

SECTION(exporting)
{
    prep();
    int fd = -1;
    A(cudaMemPoolExportToShareableHandle(&fd, pool, cudaMemHandleTypePosixFileDescriptor, 0));
    A(cudaMemPoolExportToShareableHandle(&fd, pool, cudaMemHandleTypeNone, 0));
    A(cudaMemPoolExportToShareableHandle(NULL, pool, cudaMemHandleTypePosixFileDescriptor, 0));
    cudaMemPoolPtrExportData ed;
    void *p;
    Q(cudaMallocFromPoolAsync(&p, 64, pool, s));
    A(cudaMemPoolExportPointer(&ed, p));
    A(cudaMemPoolExportPointer(NULL, p));
    A(cudaMemPoolExportPointer(&ed, NULL));
    void *d;
    Q(cudaMalloc(&d, 64));
    A(cudaMemPoolExportPointer(&ed, d));
    cudaMemPool_t dp;
    Q(cudaDeviceGetDefaultMemPool(&dp, 0));
    A(cudaMemPoolExportToShareableHandle(&fd, dp, cudaMemHandleTypePosixFileDescriptor, 0));
    cudaIpcMemHandle_t ih;
    A(cudaIpcGetMemHandle(&ih, p));
}

SECTION(new_api)
{
    cudaMemLocation l;
    memset(&l, 0, sizeof l);
    l.type = cudaMemLocationTypeDevice;
    cudaMemPool_t a, b;
    A(cudaMemGetDefaultMemPool(&a, &l, cudaMemAllocationTypePinned));
    Q(cudaDeviceGetDefaultMemPool(&b, 0));
    V(a == b);
    A(cudaMemGetMemPool(&a, &l, cudaMemAllocationTypePinned));
    V(a == b);
    A(cudaMemGetDefaultMemPool(&a, NULL, cudaMemAllocationTypePinned));
    A(cudaMemGetDefaultMemPool(NULL, &l, cudaMemAllocationTypePinned));
    l.id = 88;
    A(cudaMemGetDefaultMemPool(&a, &l, cudaMemAllocationTypePinned));
    l.id = 0;
    A(cudaMemGetDefaultMemPool(&a, &l, (cudaMemAllocationType)0));
    A(cudaMemSetMemPool(&l, cudaMemAllocationTypePinned, b));
    A(cudaMemSetMemPool(&l, cudaMemAllocationTypePinned, NULL));
}

SECTION(reuse)
{
    /* the address after free in the same stream; of another stream with an event */ prep();
    void *p, *q, *r;
    Q(cudaMallocFromPoolAsync(&p, 1 << 20, pool, s));
    Q(cudaMemsetAsync(p, 3, 1 << 20, s));
    Q(cudaFreeAsync(p, s));
    Q(cudaStreamSynchronize(s));
    A(cudaMallocFromPoolAsync(&q, 1 << 20, pool, s));
    cudaPointerAttributes a;
    A(cudaPointerGetAttributes(&a, q));
    V(a.type);
    CUmemoryPool h;
    D(cuPointerGetAttribute(&h, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, (CUdeviceptr)q));
    V(h == (CUmemoryPool)pool);
    CUdeviceptr b;
    size_t n;
    D(cuMemGetAddressRange(&b, &n, (CUdeviceptr)q + 5));
    V(n);
    V(b == (CUdeviceptr)q);
    Q(cudaMalloc(&r, 1000));
    D(cuMemGetAddressRange(&b, &n, (CUdeviceptr)r + 5));
    V(n);
    D(cuMemGetAddressRange(NULL, &n, (CUdeviceptr)r));
    D(cuMemGetAddressRange(&b, NULL, (CUdeviceptr)r));
    D(cuMemGetAddressRange(NULL, NULL, (CUdeviceptr)r));
    D(cuMemGetAddressRange(&b, &n, 64));
    D(cuMemGetAddressRange(&b, &n, 0));
    Q(cudaMallocHost(&r, 1000));
    D(cuMemGetAddressRange(&b, &n, (CUdeviceptr)r + 5));
    V(n);
    Q(cudaMallocManaged(&r, 1000));
    D(cuMemGetAddressRange(&b, &n, (CUdeviceptr)r + 5));
    V(n);
}

} // namespace pools

namespace libraries
{
static const char *ptx =
    ".version 7.8\n.target sm_80\n.address_size 64\n.visible .global .align 4 .u32 g = "
    "41;\n.visible .const .align 4 .u32 c[4];\n.visible .global .attribute(.managed) .align 4 .u32 "
    "mg = 3;\n.visible .entry a(.param .u64 p)\n{\n.reg .u64 %rd<2>;\n.reg .u32 "
    "%r<2>;\nld.param.u64 %rd1, [p];\nld.global.u32 %r1, [g];\nst.global.u32 [%rd1], "
    "%r1;\nret;\n}\n.visible .entry b()\n{\nret;\n}\n";
SECTION(load)
{
    Q(cuInit(0));
    CUlibrary l;
    D(cuLibraryLoadData(&l, ptx, NULL, NULL, 0, NULL, NULL, 0));
    D(cuLibraryLoadData(NULL, ptx, NULL, NULL, 0, NULL, NULL, 0));
    D(cuLibraryLoadData(&l, NULL, NULL, NULL, 0, NULL, NULL, 0));
    D(cuLibraryLoadData(&l, "junk", NULL, NULL, 0, NULL, NULL, 0));
    D(cuLibraryLoadData(
        &l, ".version 7.8\n.target sm_80\n.address_size 64\n.visible .entry a() { foo; }\n", NULL,
        NULL, 0, NULL, NULL, 0));
    CUlibraryOption o[2] = {CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE, (CUlibraryOption)9};
    void *v[2] = {NULL, NULL};
    o[0] = CU_LIBRARY_BINARY_IS_PRESERVED;
    D(cuLibraryLoadData(&l, ptx, NULL, NULL, 0, o, v, 1));
    D(cuLibraryLoadData(&l, ptx, NULL, NULL, 0, o + 1, v, 1));
    D(cuLibraryLoadData(&l, ptx, NULL, NULL, 1, NULL, NULL, 0));
    D(cuLibraryLoadFromFile(&l, "/nonexistent", NULL, NULL, 0, NULL, NULL, 0));
    D(cuLibraryLoadFromFile(&l, NULL, NULL, NULL, 0, NULL, NULL, 0));
    D(cuLibraryUnload(NULL));
}

} // namespace libraries
