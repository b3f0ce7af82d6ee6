/* Queries while a stream is held up by a host function or by a wait for a value, when their results
 * are certain. While a stream is held up, no call is made that may wait. */
#include "tests/differential_api/kernels.h"
#include "tests/differential_api/program.h"

#include <sched.h>
#include <stdlib.h>

enum { STREAMS = 6, EVENTS = 6, WORDS = 256 };

struct held {
    cudaStream_t stream[STREAMS]; /* 0: the legacy default stream, 1: the thread's own */
    cudaEvent_t event[EVENTS];
    bool blocking[STREAMS];
    bool stream_held[STREAMS], event_held[EVENTS];
    bool stream_clean[STREAMS]; /* no work since the host waited for everything */
    bool event_clean[EVENTS];
    bool timed[EVENTS], recorded[EVENTS];
    volatile unsigned *flag; /* pinned */
    unsigned gate;           /* opened to let the host function go on */
    uint32_t *device, *pinned;
};

static void CUDART_CB wait_for_gate(void *argument)
{
    struct held *h = argument;
    while (!__atomic_load_n(&h->gate, __ATOMIC_ACQUIRE)) sched_yield();
}

static void CUDART_CB nothing(void *argument)
{
    (void)argument;
}

/* Returns true when work put into a stream now is certain to be held up. */
static bool will_be_held(const struct held *h, int s)
{
    bool held = h->stream_held[s];
    for (int t = 0; t < STREAMS; t++)
        if (s == 0 && h->blocking[t]) held = held || h->stream_held[t];
    return held || (h->blocking[s] && h->stream_held[0]);
}

static void work_in(struct held *h, int s)
{
    h->stream_held[s] = will_be_held(h, s);
    h->stream_clean[s] = false;
}

/* Adds a wait for an event, or a record without a time. If such an operation only follows another
 * stream's work, a GPU's driver may treat it as nothing to do, so whether the stream has finished
 * is then unknown. */
static void passive_in(struct held *h, int s)
{
    if (s == 0) work_in(h, s); /* the barrier is inserted */
    h->stream_clean[s] = false;
}

static void hold(struct program *p, struct held *h, int s)
{
    h->gate = 0;
    *h->flag = 0;
    if (chance(p, 50))
        rt(p, cudaLaunchHostFunc(h->stream[s], wait_for_gate, h), "cudaLaunchHostFunc(s%d, gate)",
           s);
    else
        dr(p, cuStreamWaitValue32(h->stream[s], (CUdeviceptr)h->flag, 1, CU_STREAM_WAIT_VALUE_EQ),
           "cuStreamWaitValue32(s%d, flag, 1, eq)", s);
    h->stream_held[s] = true;
    h->stream_clean[s] = false;
}

static void release(struct program *p, struct held *h)
{
    __atomic_store_n(&h->gate, 1, __ATOMIC_RELEASE);
    *h->flag = 1;
    note(p, "released");
    rt(p, cudaDeviceSynchronize(), "cudaDeviceSynchronize()");
    for (int s = 0; s < STREAMS; s++) h->stream_held[s] = false, h->stream_clean[s] = true;
    for (int e = 0; e < EVENTS; e++) h->event_held[e] = false, h->event_clean[e] = true;
}

static void kernel(struct program *p, void *self)
{
    struct held *h = self;
    int s = (int)draw(p, STREAMS);
    unsigned words = WORDS, k = 1;
    uint32_t *mine = h->device + s * WORDS;
    void *arguments[] = {&mine, &words, &k};
    rt(p,
       cudaLaunchKernel(kernel_address(KERNEL_SCALE), (dim3){1, 1, 1}, (dim3){64, 1, 1}, arguments,
                        0, h->stream[s]),
       "scale<<<1, 64, 0, s%d>>>()", s);
    work_in(h, s);
}

static void copy(struct program *p, void *self)
{
    struct held *h = self;
    int s = (int)draw(p, STREAMS);
    uint32_t *mine = h->device + s * WORDS, *out = h->pinned + s * WORDS;
    if (chance(p, 50))
        rt(p, cudaMemcpyAsync(out, mine, WORDS * 4, cudaMemcpyDeviceToHost, h->stream[s]),
           "cudaMemcpyAsync(pin, dev, s%d)", s);
    else
        dr(p, cuMemsetD32Async((CUdeviceptr)mine, (unsigned)s, WORDS, h->stream[s]),
           "cuMemsetD32Async(dev, s%d)", s);
    work_in(h, s);
}

static void host_function(struct program *p, void *self)
{
    struct held *h = self;
    int s = (int)draw(p, STREAMS);
    rt(p, cudaLaunchHostFunc(h->stream[s], nothing, NULL), "cudaLaunchHostFunc(s%d, nothing)", s);
    work_in(h, s);
}

static void record(struct program *p, void *self)
{
    struct held *h = self;
    int s = (int)draw(p, STREAMS), e = (int)draw(p, EVENTS);
    rt(p, cudaEventRecord(h->event[e], h->stream[s]), "cudaEventRecord(e%d, s%d)", e, s);
    h->event_held[e] = will_be_held(h, s);
    if (h->timed[e])
        work_in(h, s);
    else
        passive_in(h, s);
    h->event_clean[e] = false;
    h->recorded[e] = true;
}

static void wait(struct program *p, void *self)
{
    struct held *h = self;
    int s = (int)draw(p, STREAMS), e = (int)draw(p, EVENTS);
    rt(p, cudaStreamWaitEvent(h->stream[s], h->event[e], 0), "cudaStreamWaitEvent(s%d, e%d)", s, e);
    if (!h->recorded[e]) return; /* "a functional no-op", and not an action of the default stream */
    passive_in(h, s);
    h->stream_held[s] = h->stream_held[s] || h->event_held[e];
}

static void query_stream(struct program *p, void *self)
{
    struct held *h = self;
    int s = (int)draw(p, STREAMS);
    bool clean = h->stream_clean[s], held = h->stream_held[s];
    for (int t = 0; s == 0 && t < STREAMS; t++) { /* it represents all blocking streams */
        if (!h->blocking[t]) continue;
        clean = clean && h->stream_clean[t];
        held = held || h->stream_held[t];
    }
    if (!clean && !held) return;
    if (chance(p, 50))
        rt(p, cudaStreamQuery(h->stream[s]), "cudaStreamQuery(s%d)", s);
    else
        dr(p, cuStreamQuery(h->stream[s]), "cuStreamQuery(s%d)", s);
}

static void query_event(struct program *p, void *self)
{
    struct held *h = self;
    int e = (int)draw(p, EVENTS);
    if (!h->event_clean[e] && !h->event_held[e]) return;
    if (chance(p, 50))
        rt(p, cudaEventQuery(h->event[e]), "cudaEventQuery(e%d)", e);
    else
        dr(p, cuEventQuery(h->event[e]), "cuEventQuery(e%d)", e);
}

static void elapsed(struct program *p, void *self)
{
    struct held *h = self;
    int a = (int)draw(p, EVENTS), b = (int)draw(p, EVENTS);
    if ((!h->event_clean[a] && !h->event_held[a]) || (!h->event_clean[b] && !h->event_held[b]))
        return;
    float ms;
    rt(p, cudaEventElapsedTime(&ms, h->event[a], h->event[b]), "cudaEventElapsedTime(e%d, e%d)", a,
       b);
}

static void last_error(struct program *p, void *self)
{
    (void)self;
    if (chance(p, 50))
        rt(p, cudaPeekAtLastError(), "cudaPeekAtLastError()");
    else
        rt(p, cudaGetLastError(), "cudaGetLastError()");
}

static const struct action actions[] = {
    {"kernel", 10, kernel},
    {"copy", 8, copy},
    {"host function", 3, host_function},
    {"record", 12, record},
    {"wait", 10, wait},
    {"query a stream", 12, query_stream},
    {"query an event", 12, query_event},
    {"elapsed", 5, elapsed},
    {"last error", 4, last_error},
};

void family_held(struct program *p)
{
    struct held *h = calloc(1, sizeof *h);
    void *memory;
    cudaMalloc(&memory, STREAMS * WORDS * 4);
    h->device = memory;
    cudaMallocHost(&memory, STREAMS * WORDS * 4);
    h->pinned = memory;
    cudaMallocHost(&memory, 64);
    h->flag = memory;
    cudaMemset(h->device, 0, STREAMS * WORDS * 4);
    h->stream[1] = cudaStreamPerThread;
    h->blocking[1] = true;
    for (int s = 2; s < STREAMS; s++) {
        h->blocking[s] = chance(p, 50);
        rt(p,
           cudaStreamCreateWithFlags(&h->stream[s],
                                     h->blocking[s] ? cudaStreamDefault : cudaStreamNonBlocking),
           "cudaStreamCreateWithFlags(&s%d, %d)", s, !h->blocking[s]);
    }
    for (int e = 0; e < EVENTS; e++) {
        h->timed[e] = chance(p, 60);
        unsigned flags = h->timed[e] ? cudaEventDefault : cudaEventDisableTiming;
        rt(p, cudaEventCreateWithFlags(&h->event[e], flags), "cudaEventCreateWithFlags(&e%d, %u)",
           e, flags);
    }
    /* Everything that is made at the first use is made now. */
    for (int s = 0; s < STREAMS; s++) {
        cudaLaunchHostFunc(h->stream[s], nothing, NULL);
        cudaMemcpyAsync(h->pinned, h->device, 4, cudaMemcpyDeviceToHost, h->stream[s]);
    }
    h->gate = 1;
    *h->flag = 1;
    release(p, h);
    for (unsigned rounds = 1 + draw(p, 3); rounds > 0; rounds--) {
        for (unsigned before = draw(p, 4); before > 0; before--) ACT(p, actions, h);
        hold(p, h, (int)draw(p, STREAMS));
        for (unsigned left = 6 + draw(p, 18); left > 0; left--) ACT(p, actions, h);
        release(p, h);
        for (unsigned after = draw(p, 6); after > 0; after--) ACT(p, actions, h);
    }
    rt(p, cudaDeviceSynchronize(), "cudaDeviceSynchronize()");
    rt(p, cudaGetLastError(), "cudaGetLastError()");
    for (int s = 2; s < STREAMS; s++) cudaStreamDestroy(h->stream[s]);
    for (int e = 0; e < EVENTS; e++) cudaEventDestroy(h->event[e]);
    cudaFree(h->device);
    cudaFreeHost(h->pinned);
    cudaFreeHost((void *)h->flag);
    free(h);
}
