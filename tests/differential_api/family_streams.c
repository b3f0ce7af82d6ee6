/* Creating, querying and destroying streams; their attributes; bad arguments. */
#include "tests/differential_api/program.h"

enum { STREAMS = 5 };

struct streams {
    cudaStream_t stream[STREAMS]; /* NULL: the legacy default stream */
    bool made[STREAMS];
};

static void create(struct program *p, void *self)
{
    struct streams *t = self;
    int s = (int)draw(p, STREAMS);
    if (t->made[s]) return;
    unsigned flags = PICK(p, unsigned, 0, 0, 1, 1, 2, 3, 0x80);
    int priority = PICK(p, int, 0, -1, -2, -3, -5, -6, 5, 100, -100);
    switch (draw(p, 4)) {
    case 0:
        t->made[s] = flags < 2;
        rt(p, cudaStreamCreateWithFlags(&t->stream[s], flags),
           "cudaStreamCreateWithFlags(&s%d, %u)", s, flags);
        break;
    case 1:
        t->made[s] = flags < 2;
        rt(p, cudaStreamCreateWithPriority(&t->stream[s], flags, priority),
           "cudaStreamCreateWithPriority(&s%d, %u, %d)", s, flags, priority);
        break;
    case 2:
        t->made[s] = flags < 2;
        dr(p, cuStreamCreateWithPriority(&t->stream[s], flags, priority),
           "cuStreamCreateWithPriority(&s%d, %u, %d)", s, flags, priority);
        break;
    default:
        t->made[s] = true;
        rt(p, cudaStreamCreate(&t->stream[s]), "cudaStreamCreate(&s%d)", s);
        break;
    }
    if (!t->made[s]) t->stream[s] = NULL;
}

static void destroy(struct program *p, void *self)
{
    struct streams *t = self;
    int s = (int)draw(p, STREAMS);
    if (chance(p, 50))
        rt(p, cudaStreamDestroy(t->stream[s]), "cudaStreamDestroy(%s%d)", t->made[s] ? "s" : "none",
           s);
    else
        dr(p, cuStreamDestroy(t->stream[s]), "cuStreamDestroy(%s%d)", t->made[s] ? "s" : "none", s);
    t->stream[s] = NULL;
    t->made[s] = false;
}

/* Returns an existing stream, or a default one. */
static cudaStream_t any(struct program *p, struct streams *t, const char **name)
{
    static const char *const names[] = {"s0", "s1", "s2", "s3", "s4"};
    unsigned s = draw(p, STREAMS + 3);
    *name = s == STREAMS ? "legacy" : s == STREAMS + 1 ? "per-thread" : "null";
    if (s == STREAMS) return cudaStreamLegacy;
    if (s == STREAMS + 1) return cudaStreamPerThread;
    if (s == STREAMS + 2 || !t->made[s]) return NULL;
    *name = names[s];
    return t->stream[s];
}

static void get(struct program *p, void *self)
{
    const char *name;
    cudaStream_t stream = any(p, self, &name);
    unsigned flags = 77;
    int value = 77;
    CUcontext context = NULL, current = NULL;
    switch (draw(p, 6)) {
    case 0:
        rt(p, cudaStreamGetFlags(stream, &flags), "cudaStreamGetFlags(%s)", name);
        note(p, "%u", flags);
        break;
    case 1:
        rt(p, cudaStreamGetPriority(stream, &value), "cudaStreamGetPriority(%s)", name);
        note(p, "%d", value);
        break;
    case 2:
        dr(p, cuStreamGetFlags(stream, &flags), "cuStreamGetFlags(%s)", name);
        note(p, "%u", flags);
        break;
    case 3:
        dr(p, cuStreamGetPriority(stream, &value), "cuStreamGetPriority(%s)", name);
        note(p, "%d", value);
        break;
    case 4:
        dr(p, cuStreamGetCtx(stream, &context), "cuStreamGetCtx(%s)", name);
        cuCtxGetCurrent(&current);
        note(p, "the current one: %d", context == current);
        break;
    default:
        rt(p, cudaStreamGetDevice(stream, &value), "cudaStreamGetDevice(%s)", name);
        note(p, "%d", value);
        break;
    }
}

static void ids(struct program *p, void *self)
{
    const char *a, *b;
    cudaStream_t first = any(p, self, &a), second = any(p, self, &b);
    unsigned long long id = 0, other = 0;
    rt(p, cudaStreamGetId(first, &id), "cudaStreamGetId(%s)", a);
    rt(p, cudaStreamGetId(second, &other), "cudaStreamGetId(%s)", b);
    note(p, "equal: %d", id == other);
}

static void attributes(struct program *p, void *self)
{
    const char *name;
    cudaStream_t stream = any(p, self, &name);
    cudaLaunchAttributeValue value = {{0}};
    switch (draw(p, 4)) {
    case 0:
        rt(p, cudaStreamGetAttribute(stream, cudaLaunchAttributePriority, &value),
           "cudaStreamGetAttribute(%s, priority)", name);
        note(p, "%d", value.priority);
        break;
    case 1:
        rt(p, cudaStreamGetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &value),
           "cudaStreamGetAttribute(%s, policy)", name);
        note(p, "%d", (int)value.syncPolicy);
        break;
    case 2:
        value.syncPolicy = PICK(p, enum cudaSynchronizationPolicy, 1, 2, 3, 4);
        rt(p, cudaStreamSetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &value),
           "cudaStreamSetAttribute(%s, policy, %d)", name, (int)value.syncPolicy);
        value.syncPolicy = cudaSyncPolicyAuto;
        cudaStreamSetAttribute(stream, cudaLaunchAttributeSynchronizationPolicy, &value);
        break;
    default:
        rt(p, cudaStreamGetAttribute(stream, cudaLaunchAttributeCooperative, &value),
           "cudaStreamGetAttribute(%s, cooperative)", name);
        break;
    }
}

static void finished(struct program *p, void *self)
{
    const char *name;
    cudaStream_t stream = any(p, self, &name);
    cudaDeviceSynchronize();
    switch (draw(p, 4)) {
    case 0:
        rt(p, cudaStreamQuery(stream), "cudaStreamQuery(%s)", name);
        break;
    case 1:
        dr(p, cuStreamQuery(stream), "cuStreamQuery(%s)", name);
        break;
    case 2:
        rt(p, cudaStreamSynchronize(stream), "cudaStreamSynchronize(%s)", name);
        break;
    default:
        dr(p, cuStreamSynchronize(stream), "cuStreamSynchronize(%s)", name);
        break;
    }
}

static void wrong(struct program *p, void *self)
{
    const char *name;
    cudaStream_t stream = any(p, self, &name);
    int least = 7, greatest = 7;
    enum cudaStreamCaptureStatus status = 7;
    switch (draw(p, 12)) {
    case 0:
        rt(p, cudaStreamCreate(NULL), "cudaStreamCreate(NULL)");
        break;
    case 1:
        dr(p, cuStreamCreate(NULL, 0), "cuStreamCreate(NULL, 0)");
        break;
    case 2:
        rt(p, cudaStreamWaitEvent(stream, NULL, 0), "cudaStreamWaitEvent(%s, NULL)", name);
        break;
    case 3:
        dr(p, cuStreamWaitEvent(stream, NULL, 0), "cuStreamWaitEvent(%s, NULL)", name);
        break;
    case 4:
        rt(p, cudaStreamGetFlags(stream, NULL), "cudaStreamGetFlags(%s, NULL)", name);
        break;
    case 5:
        rt(p, cudaStreamGetPriority(stream, NULL), "cudaStreamGetPriority(%s, NULL)", name);
        break;
    case 6:
        rt(p, cudaLaunchHostFunc(stream, NULL, NULL), "cudaLaunchHostFunc(%s, NULL)", name);
        break;
    case 7:
        rt(p, cudaStreamAddCallback(stream, NULL, NULL, 0), "cudaStreamAddCallback(%s, NULL)",
           name);
        break;
    case 8:
        rt(p, cudaDeviceGetStreamPriorityRange(&least, &greatest),
           "cudaDeviceGetStreamPriorityRange()");
        note(p, "%d %d", least, greatest);
        break;
    case 9:
        rt(p, cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing(%s)", name);
        note(p, "%d", (int)status);
        break;
    case 10:
        rt(p, cudaStreamDestroy(chance(p, 50) ? cudaStreamLegacy : cudaStreamPerThread),
           "cudaStreamDestroy(a default one)");
        break;
    default:
        dr(p, cuLaunchHostFunc(stream, NULL, NULL), "cuLaunchHostFunc(%s, NULL)", name);
        break;
    }
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
    {"create", 20, create}, {"destroy", 8, destroy},        {"get", 20, get},
    {"ids", 4, ids},        {"attributes", 8, attributes},  {"finished", 8, finished},
    {"wrong", 12, wrong},   {"last error", 10, last_error},
};

void family_streams(struct program *p)
{
    struct streams t = {0};
    cudaFree(NULL);
    for (unsigned left = 20 + draw(p, 25); left > 0; left--) ACT(p, actions, &t);
    for (int s = 0; s < STREAMS; s++)
        if (t.made[s]) cudaStreamDestroy(t.stream[s]);
    cudaDeviceSynchronize();
    cudaGetLastError();
}
