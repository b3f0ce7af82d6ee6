/* Contexts through the driver API: the thread's stack, creation and destruction, the primary
 * context, and work and handles of one context while another is current. */
#include "tests/differential_api/program.h"

enum { CONTEXTS = 3 };

struct contexts {
    CUcontext context[CONTEXTS + 1]; /* the last one is the primary */
    bool alive[CONTEXTS + 1], ever[CONTEXTS + 1];
    CUstream stream[CONTEXTS];
    CUevent event[CONTEXTS];
    CUdeviceptr memory[CONTEXTS];
    unsigned made, retained;
};

static void say_current(struct program *p, struct contexts *t)
{
    CUcontext current = NULL;
    dr(p, cuCtxGetCurrent(&current), "cuCtxGetCurrent()");
    int which = -1;
    for (int i = 0; i <= CONTEXTS; i++)
        if (t->ever[i] && current == t->context[i] && (which < 0 || t->alive[i])) which = i;
    note(p, current == NULL ? "none" : which < 0 ? "another" : "c%d", which);
}

static void create(struct program *p, void *self)
{
    struct contexts *t = self;
    int i = (int)draw(p, CONTEXTS);
    unsigned flags = PICK(p, unsigned, 0, 0, 0, 1, 2, 4, 8, 16, 3, 0x4000);
    CUdevice device = chance(p, 95) ? 0 : PICK(p, CUdevice, 99, -1);
    CUcontext made = NULL;
    if (t->alive[i] || t->made >= 4) return;
    bool right = device == 0 && flags != 0x4000 && flags != 3;
    if (right) t->made++;
    CUresult code = dr(p, cuCtxCreate(&made, NULL, flags, device), "cuCtxCreate(&c%d, %u, %d)", i,
                       flags, device);
    if (code != CUDA_SUCCESS) return;
    t->context[i] = made;
    t->alive[i] = t->ever[i] = true;
    cuStreamCreate(&t->stream[i], 0);
    cuEventCreate(&t->event[i], 0);
    cuMemAlloc(&t->memory[i], 256);
    cuMemsetD8(t->memory[i], (unsigned char)(i + 1), 256);
    cuCtxSynchronize();
}

static void destroy(struct program *p, void *self)
{
    struct contexts *t = self;
    int i = (int)draw(p, CONTEXTS);
    if (!t->alive[i]) return;
    dr(p, cuCtxDestroy(t->context[i]), "cuCtxDestroy(c%d)", i);
    t->alive[i] = false;
    say_current(p, t);
}

static void push(struct program *p, void *self)
{
    struct contexts *t = self;
    int i = (int)draw(p, CONTEXTS + 1);
    if (!t->alive[i]) {
        dr(p, cuCtxPushCurrent(NULL), "cuCtxPushCurrent(NULL)");
        return;
    }
    dr(p, cuCtxPushCurrent(t->context[i]), "cuCtxPushCurrent(c%d)", i);
}

static void pop(struct program *p, void *self)
{
    struct contexts *t = self;
    CUcontext popped = NULL;
    if (chance(p, 20))
        dr(p, cuCtxPopCurrent(NULL), "cuCtxPopCurrent(NULL)");
    else
        dr(p, cuCtxPopCurrent(&popped), "cuCtxPopCurrent()");
    say_current(p, t);
}

static void set(struct program *p, void *self)
{
    struct contexts *t = self;
    int i = (int)draw(p, CONTEXTS + 2);
    if (i > CONTEXTS || !t->alive[i])
        dr(p, cuCtxSetCurrent(NULL), "cuCtxSetCurrent(NULL)");
    else
        dr(p, cuCtxSetCurrent(t->context[i]), "cuCtxSetCurrent(c%d)", i);
    say_current(p, t);
}

static void primary(struct program *p, void *self)
{
    struct contexts *t = self;
    unsigned flags = 77;
    int active = 77;
    CUcontext context = NULL;
    switch (draw(p, 5)) {
    case 0:
        dr(p, cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain()");
        if (context == NULL) return;
        t->retained++;
        t->context[CONTEXTS] = context;
        t->alive[CONTEXTS] = t->ever[CONTEXTS] = true;
        break;
    case 1:
        dr(p, cuDevicePrimaryCtxRelease(0), "cuDevicePrimaryCtxRelease()");
        if (t->retained > 0 && --t->retained == 0) t->alive[CONTEXTS] = false;
        break;
    case 2:
        if (t->retained > 0) return;
        dr(p, cuDevicePrimaryCtxReset(0), "cuDevicePrimaryCtxReset()");
        break;
    case 3:
        if (!t->alive[CONTEXTS]) return;
        dr(p, cuCtxDestroy(t->context[CONTEXTS]), "cuCtxDestroy(the primary)");
        break;
    default:
        dr(p, cuDevicePrimaryCtxGetState(0, &flags, &active), "cuDevicePrimaryCtxGetState()");
        note(p, "%u %d", flags, active);
        break;
    }
}

static void work(struct program *p, void *self)
{
    struct contexts *t = self;
    int i = (int)draw(p, CONTEXTS), k = (int)draw(p, CONTEXTS);
    unsigned char bytes[256] = {0};
    CUdeviceptr fresh = 0, base = 0;
    size_t size = 0;
    CUcontext owner = NULL;
    if (!t->alive[i] || !t->alive[k]) {
        if (dr(p, cuMemAlloc(&fresh, 64), "cuMemAlloc(64)") == CUDA_SUCCESS)
            dr(p, cuMemFree(fresh), "cuMemFree()");
        return;
    }
    switch (draw(p, 14)) {
    case 0:
        dr(p, cuMemcpyDtoH(bytes, t->memory[i], 256), "cuMemcpyDtoH(memory of c%d)", i);
        note(p, "%d", bytes[9]);
        break;
    case 1:
        dr(p, cuMemcpyDtoD(t->memory[i], t->memory[k], 16), "cuMemcpyDtoD(c%d, c%d)", i, k);
        dr(p, cuCtxSynchronize(), "cuCtxSynchronize()");
        break;
    case 2:
        dr(p, cuMemsetD8Async(t->memory[i], 5, 16, t->stream[k]),
           "cuMemsetD8Async(memory of c%d, stream of c%d)", i, k);
        dr(p, cuStreamSynchronize(t->stream[k]), "cuStreamSynchronize(stream of c%d)", k);
        break;
    case 3:
        dr(p, cuEventRecord(t->event[i], t->stream[k]),
           "cuEventRecord(event of c%d, stream of c%d)", i, k);
        break;
    case 4:
        dr(p, cuStreamWaitEvent(t->stream[k], t->event[i], 0),
           "cuStreamWaitEvent(stream of c%d, event of c%d)", k, i);
        break;
    case 5:
        dr(p, cuEventSynchronize(t->event[i]), "cuEventSynchronize(event of c%d)", i);
        dr(p, cuEventQuery(t->event[i]), "cuEventQuery(event of c%d)", i);
        break;
    case 6:
        dr(p, cuStreamSynchronize(t->stream[i]), "cuStreamSynchronize(stream of c%d)", i);
        dr(p, cuStreamQuery(t->stream[i]), "cuStreamQuery(stream of c%d)", i);
        break;
    case 7:
        dr(p, cuStreamGetCtx(t->stream[i], &owner), "cuStreamGetCtx(stream of c%d)", i);
        note(p, "its own: %d", owner == t->context[i]);
        break;
    case 8:
        dr(p, cuMemGetAddressRange(&base, &size, t->memory[i] + 8), "cuMemGetAddressRange(of c%d)",
           i);
        note(p, "%d %zu", base == t->memory[i], size);
        break;
    case 9:
        dr(p, cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, t->memory[i]),
           "cuPointerGetAttribute(context, of c%d)", i);
        note(p, "its own: %d", owner == t->context[i]);
        break;
    case 10:
        dr(p, cuEventRecord(t->event[i], NULL), "cuEventRecord(event of c%d, NULL)", i);
        break;
    case 11:
        dr(p, cuMemcpyDtoHAsync(bytes, t->memory[i], 16, t->stream[k]),
           "cuMemcpyDtoHAsync(memory of c%d, stream of c%d)", i, k);
        cuStreamSynchronize(t->stream[k]);
        break;
    case 12:
        dr(p, cuLaunchHostFunc(t->stream[k], NULL, NULL), "cuLaunchHostFunc(stream of c%d, NULL)",
           k);
        break;
    default:
        dr(p, cuCtxSynchronize(), "cuCtxSynchronize()");
        break;
    }
}

static void ask(struct program *p, void *self)
{
    struct contexts *t = self;
    unsigned value = 77;
    size_t limit = 77;
    CUdevice device = 77;
    int i = (int)draw(p, CONTEXTS);
    switch (draw(p, 7)) {
    case 0:
        dr(p, cuCtxGetDevice(&device), "cuCtxGetDevice()");
        note(p, "%d", device);
        break;
    case 1:
        dr(p, cuCtxGetFlags(&value), "cuCtxGetFlags()");
        note(p, "%u", value);
        break;
    case 2:
        dr(p, cuCtxGetLimit(&limit, CU_LIMIT_STACK_SIZE), "cuCtxGetLimit(stack)");
        note(p, "%zu", limit);
        break;
    case 3:
        if (!t->alive[i]) return;
        dr(p, cuCtxGetApiVersion(t->context[i], &value), "cuCtxGetApiVersion(c%d)", i);
        note(p, "at least 3020: %d", value >= 3020);
        break;
    case 4:
        dr(p, cuCtxGetDevice(NULL), "cuCtxGetDevice(NULL)");
        break;
    case 5:
        dr(p, cuCtxGetCurrent(NULL), "cuCtxGetCurrent(NULL)");
        break;
    default:
        say_current(p, t);
        break;
    }
}

static void runtime(struct program *p, void *self)
{
    struct contexts *t = self;
    void *memory = NULL;
    CUcontext current = NULL;
    cuCtxGetCurrent(&current);
    if (current == NULL) return; /* otherwise it would make the primary context current for good */
    int i = -1;
    for (int k = 0; k < CONTEXTS; k++)
        if (t->alive[k] && current == t->context[k]) i = k;
    if (i < 0) return;
    rt(p, cudaMalloc(&memory, 64), "cudaMalloc(64)");
    rt(p, cudaMemset(memory, 3, 64), "cudaMemset()");
    rt(p, cudaDeviceSynchronize(), "cudaDeviceSynchronize()");
    rt(p, cudaFree(memory), "cudaFree()");
}

static const struct action actions[] = {
    {"create", 14, create}, {"destroy", 6, destroy}, {"push", 10, push},
    {"pop", 9, pop},        {"set", 12, set},        {"primary", 8, primary},
    {"work", 28, work},     {"ask", 12, ask},        {"runtime", 4, runtime},
};

void family_contexts(struct program *p)
{
    struct contexts t = {0};
    cuInit(0);
    for (unsigned left = 15 + draw(p, 25); left > 0; left--) ACT(p, actions, &t);
    for (int i = 0; i < CONTEXTS; i++)
        if (t.alive[i]) dr(p, cuCtxDestroy(t.context[i]), "cuCtxDestroy(c%d)", i);
    while (t.retained-- > 0) cuDevicePrimaryCtxRelease(0);
    for (int i = 0; i < 100 && cuCtxPopCurrent(NULL) == CUDA_SUCCESS; i++) continue;
}
