/* Creating, recording, querying and destroying events; bad arguments. */
#include "tests/differential_api/program.h"

enum { EVENTS = 5 };

struct events {
    cudaEvent_t event[EVENTS]; /* NULL: none */
    cudaStream_t stream;
};

static void create(struct program *p, void *self)
{
    struct events *t = self;
    int e = (int)draw(p, EVENTS);
    if (t->event[e] != NULL) return;
    unsigned flags = PICK(p, unsigned, 0, 0, 1, 2, 3, 4, 6, 7, 8, 0x100);
    bool right = flags < 8 && !((flags & 4) && !(flags & 2));
    cudaEvent_t made = NULL;
    if (chance(p, 50))
        rt(p, cudaEventCreateWithFlags(&made, flags), "cudaEventCreateWithFlags(&e%d, %u)", e,
           flags);
    else
        dr(p, cuEventCreate(&made, flags), "cuEventCreate(&e%d, %u)", e, flags);
    if (right) t->event[e] = made;
}

static void destroy(struct program *p, void *self)
{
    struct events *t = self;
    int e = (int)draw(p, EVENTS);
    const char *none = t->event[e] == NULL ? " (none)" : "";
    if (chance(p, 50))
        rt(p, cudaEventDestroy(t->event[e]), "cudaEventDestroy(e%d%s)", e, none);
    else
        dr(p, cuEventDestroy(t->event[e]), "cuEventDestroy(e%d%s)", e, none);
    t->event[e] = NULL;
}

static void record(struct program *p, void *self)
{
    struct events *t = self;
    int e = (int)draw(p, EVENTS);
    const char *none = t->event[e] == NULL ? " (none)" : "";
    cudaStream_t stream = PICK(p, cudaStream_t, NULL, t->stream, cudaStreamPerThread);
    unsigned flags = PICK(p, unsigned, 0, 0, 0, 1, 2, 99);
    switch (draw(p, 3)) {
    case 0:
        rt(p, cudaEventRecord(t->event[e], stream), "cudaEventRecord(e%d%s)", e, none);
        break;
    case 1:
        rt(p, cudaEventRecordWithFlags(t->event[e], stream, flags),
           "cudaEventRecordWithFlags(e%d%s, %u)", e, none, flags);
        break;
    default:
        dr(p, cuEventRecord(t->event[e], stream), "cuEventRecord(e%d%s)", e, none);
        break;
    }
    cudaDeviceSynchronize();
}

static void ask(struct program *p, void *self)
{
    struct events *t = self;
    int e = (int)draw(p, EVENTS);
    const char *none = t->event[e] == NULL ? " (none)" : "";
    switch (draw(p, 4)) {
    case 0:
        rt(p, cudaEventQuery(t->event[e]), "cudaEventQuery(e%d%s)", e, none);
        break;
    case 1:
        dr(p, cuEventQuery(t->event[e]), "cuEventQuery(e%d%s)", e, none);
        break;
    case 2:
        rt(p, cudaEventSynchronize(t->event[e]), "cudaEventSynchronize(e%d%s)", e, none);
        break;
    default:
        dr(p, cuEventSynchronize(t->event[e]), "cuEventSynchronize(e%d%s)", e, none);
        break;
    }
}

static void elapsed(struct program *p, void *self)
{
    struct events *t = self;
    int a = (int)draw(p, EVENTS), b = (int)draw(p, EVENTS);
    const char *a_none = t->event[a] == NULL ? " (none)" : "",
               *b_none = t->event[b] == NULL ? " (none)" : "";
    float ms = -1;
    if (chance(p, 50))
        rt(p, cudaEventElapsedTime(&ms, t->event[a], t->event[b]),
           "cudaEventElapsedTime(e%d%s, e%d%s)", a, a_none, b, b_none);
    else
        dr(p, cuEventElapsedTime(&ms, t->event[a], t->event[b]), "cuEventElapsedTime(e%d%s, e%d%s)",
           a, a_none, b, b_none);
    if (a == b && ms != -1) note(p, "zero: %d", ms == 0);
}

static void wait(struct program *p, void *self)
{
    struct events *t = self;
    int e = (int)draw(p, EVENTS);
    const char *none = t->event[e] == NULL ? " (none)" : "";
    unsigned flags = PICK(p, unsigned, 0, 0, 0, 1, 2, 16);
    if (chance(p, 50))
        rt(p, cudaStreamWaitEvent(t->stream, t->event[e], flags),
           "cudaStreamWaitEvent(s, e%d%s, %u)", e, none, flags);
    else
        dr(p, cuStreamWaitEvent(t->stream, t->event[e], flags), "cuStreamWaitEvent(s, e%d%s, %u)",
           e, none, flags);
}

static void wrong(struct program *p, void *self)
{
    struct events *t = self;
    int e = (int)draw(p, EVENTS);
    switch (draw(p, 4)) {
    case 0:
        rt(p, cudaEventCreate(NULL), "cudaEventCreate(NULL)");
        break;
    case 1:
        dr(p, cuEventCreate(NULL, 0), "cuEventCreate(NULL, 0)");
        break;
    case 2:
        rt(p, cudaEventElapsedTime(NULL, t->event[e], t->event[e]),
           "cudaEventElapsedTime(NULL, e%d%s)", e, t->event[e] == NULL ? " (none)" : "");
        break;
    default:
        rt(p, cudaPeekAtLastError(), "cudaPeekAtLastError()");
        break;
    }
}

static void last_error(struct program *p, void *self)
{
    (void)self;
    rt(p, cudaGetLastError(), "cudaGetLastError()");
}

static const struct action actions[] = {
    {"create", 20, create}, {"destroy", 6, destroy},       {"record", 20, record},
    {"ask", 20, ask},       {"elapsed", 14, elapsed},      {"wait", 8, wait},
    {"wrong", 6, wrong},    {"last error", 8, last_error},
};

void family_events(struct program *p)
{
    struct events t = {0};
    cudaStreamCreate(&t.stream);
    for (unsigned left = 20 + draw(p, 25); left > 0; left--) ACT(p, actions, &t);
    for (int e = 0; e < EVENTS; e++)
        if (t.event[e] != NULL) cudaEventDestroy(t.event[e]);
    cudaStreamDestroy(t.stream);
    cudaDeviceSynchronize();
    cudaGetLastError();
}
