/* Copies, fills, kernels and host functions in streams, ordered by waits of every kind: the data is
 * compared. */
#include "tests/differential_api/kernels.h"
#include "tests/differential_api/order.h"
#include "tests/differential_api/program.h"

#include <stdlib.h>
#include <string.h>

enum { HOST = ORDER_STREAMS, MOST_WORDS = 700 };

enum side { DEVICE, PINNED, MAPPED, MANAGED, PAGEABLE, REGISTERED };

static const char *const side_names[] = {"dev", "pin", "map", "man", "page", "reg"};

struct buffer {
    enum side side;
    unsigned words;
    void *bytes;
};

struct ordered {
    struct order order;
    cudaStream_t stream[ORDER_STREAMS];
    cudaEvent_t event[ORDER_EVENTS];
    struct buffer buffer[ORDER_BUFFERS];
    unsigned streams, buffers;
    bool recorded[ORDER_EVENTS];
    bool by_host_function[ORDER_BUFFERS]; /* the last write was a host function's, to pageable
                                             memory */
};

static bool on_host(const struct buffer *buffer)
{
    return buffer->side != DEVICE;
}

static bool on_device(const struct buffer *buffer)
{
    return buffer->side == DEVICE || buffer->side == MANAGED || buffer->side == MAPPED;
}

/* ---- waits -------------------------------------------------------------------------------- */

static void record(struct program *p, struct ordered *o, int event, int stream)
{
    if (chance(p, 25))
        dr(p, cuEventRecord(o->event[event], o->stream[stream]), "cuEventRecord(e%d, s%d)", event,
           stream);
    else
        rt(p, cudaEventRecord(o->event[event], o->stream[stream]), "cudaEventRecord(e%d, s%d)",
           event, stream);
    o->recorded[event] = true;
    order_record(&o->order, event, stream);
}

static void wait_event(struct program *p, struct ordered *o, int stream, int event)
{
    if (chance(p, 25))
        dr(p, cuStreamWaitEvent(o->stream[stream], o->event[event], 0),
           "cuStreamWaitEvent(s%d, e%d)", stream, event);
    else
        rt(p, cudaStreamWaitEvent(o->stream[stream], o->event[event], 0),
           "cudaStreamWaitEvent(s%d, e%d)", stream, event);
    /* Otherwise it is "a functional no-op", and not an action of the default stream. */
    if (o->recorded[event]) order_wait(&o->order, stream, event);
}

/* Makes the host wait for everything that was put into a stream. */
static void host_waits(struct program *p, struct ordered *o, int stream)
{
    int event;
    switch (draw(p, 6)) {
    case 0:
        rt(p, cudaDeviceSynchronize(), "cudaDeviceSynchronize()");
        order_host_saw_all(&o->order);
        break;
    case 1:
        dr(p, cuCtxSynchronize(), "cuCtxSynchronize()");
        order_host_saw_all(&o->order);
        break;
    case 2:
        event = (int)draw(p, ORDER_EVENTS);
        record(p, o, event, stream);
        rt(p, cudaEventSynchronize(o->event[event]), "cudaEventSynchronize(e%d)", event);
        order_host_saw_event(&o->order, event);
        break;
    case 3:
        dr(p, cuStreamSynchronize(o->stream[stream]), "cuStreamSynchronize(s%d)", stream);
        order_host_saw_stream(&o->order, stream);
        break;
    default:
        rt(p, cudaStreamSynchronize(o->stream[stream]), "cudaStreamSynchronize(s%d)", stream);
        order_host_saw_stream(&o->order, stream);
        break;
    }
}

/* Orders the next operation of `stream`, or of the host, after all accesses to a buffer. */
static void order_behind(struct program *p, struct ordered *o, int stream, int buffer,
                         enum order_access access)
{
    int other;
    while ((other = order_missing(&o->order, stream, buffer, access)) >= 0) {
        if (stream == HOST || chance(p, 25)) {
            host_waits(p, o, other);
            continue;
        }
        int event = (int)draw(p, ORDER_EVENTS);
        record(p, o, event, other);
        /* Recording again does not change an earlier wait. */
        wait_event(p, o, stream, event);
    }
}

/* Orders the next operation of `stream` after the writes to a buffer that it copies from, because a
 * GPU's driver may read the buffer during the call: pageable memory without waiting for the stream
 * (host functions may still have to write to it; copies into it were waited for), and a little of
 * other host memory where only the default stream's barrier precedes the copy. */
static void order_source(struct program *p, struct ordered *o, int stream, int buffer)
{
    const enum side side = o->buffer[buffer].side;
    int writer = -1;
    if (side == PAGEABLE && o->by_host_function[buffer])
        order_behind(p, o, HOST, buffer, ORDER_READ);
    if (stream == ORDER_LEGACY && (side == PINNED || side == MAPPED || side == REGISTERED))
        writer = order_by_barrier_alone(&o->order, buffer);
    if (writer >= 0) host_waits(p, o, writer);
    order_behind(p, o, stream, buffer, ORDER_READ);
}

/* ---- work --------------------------------------------------------------------------------- */

static int any_stream(struct program *p, const struct ordered *o)
{
    return (int)draw(p, o->streams);
}

static int any_buffer(struct program *p, const struct ordered *o,
                      bool (*fits)(const struct buffer *buffer))
{
    for (;;) {
        int b = (int)draw(p, o->buffers);
        if (fits == NULL || fits(&o->buffer[b])) return b;
    }
}

static void run_kernel(struct program *p, void *self)
{
    struct ordered *o = self;
    int s = any_stream(p, o), b = any_buffer(p, o, on_device);
    struct buffer *to = &o->buffer[b];
    unsigned grid = 1 + draw(p, 4), block = 1 + draw(p, 200), k = draw(p, 1000);
    order_behind(p, o, s, b, ORDER_WRITE);
    void *arguments[] = {&to->bytes, &to->words, &k};
    rt(p,
       cudaLaunchKernel(kernel_address(KERNEL_SCALE), (dim3){grid, 1, 1}, (dim3){block, 1, 1},
                        arguments, 0, o->stream[s]),
       "scale<<<%u, %u, 0, s%d>>>(b%d, %u, %u)", grid, block, s, b, to->words, k);
    order_operation(&o->order, s);
    order_access(&o->order, s, b, ORDER_WRITE);
}

static void run_mix(struct program *p, void *self)
{
    struct ordered *o = self;
    int s = any_stream(p, o), a = any_buffer(p, o, on_device), b = any_buffer(p, o, on_device);
    if (a == b) return;
    struct buffer *to = &o->buffer[a], *from = &o->buffer[b];
    unsigned words = to->words < from->words ? to->words : from->words;
    order_behind(p, o, s, a, ORDER_WRITE);
    order_behind(p, o, s, b, ORDER_READ);
    void *arguments[] = {&to->bytes, &from->bytes, &words};
    rt(p,
       cudaLaunchKernel(kernel_address(KERNEL_MIX), (dim3){3, 1, 1}, (dim3){64, 1, 1}, arguments, 0,
                        o->stream[s]),
       "mix<<<3, 64, 0, s%d>>>(b%d, b%d, %u)", s, a, b, words);
    order_operation(&o->order, s);
    order_access(&o->order, s, a, ORDER_WRITE);
    order_access(&o->order, s, b, ORDER_READ);
}

static void copy(struct program *p, void *self)
{
    struct ordered *o = self;
    int a = any_buffer(p, o, NULL), b = any_buffer(p, o, NULL);
    if (a == b) return;
    struct buffer *to = &o->buffer[a], *from = &o->buffer[b];
    bool async = chance(p, 75);
    int s = async ? any_stream(p, o) : ORDER_LEGACY;
    unsigned most = to->words < from->words ? to->words : from->words;
    unsigned words = chance(p, 10) ? 0 : 1 + draw(p, most);
    unsigned to_at = draw(p, to->words - words + 1), from_at = draw(p, from->words - words + 1);
    size_t bytes = words * 4u;
    char *destination = (char *)to->bytes + to_at * 4u,
         *source = (char *)from->bytes + from_at * 4u;
    /* A copy of nothing, or only on the host's side, need not be an action of the default stream
     * that orders other streams. */
    bool counts = words > 0 && (!on_host(to) || !on_host(from) || s != ORDER_LEGACY);
    if (!counts && words > 0 && (to->side == MANAGED || from->side == MANAGED)) return;
    int who = counts ? s : HOST;
    order_behind(p, o, who, a, ORDER_WRITE);
    order_source(p, o, who, b);
    o->by_host_function[a] = o->by_host_function[a] && words == 0;
    if (counts) {
        order_operation(&o->order, s);
        order_access(&o->order, s, a, ORDER_WRITE);
        order_access(&o->order, s, b, ORDER_READ);
    } else if (words > 0) {
        async = false; /* complete on return */
        order_access(&o->order, HOST, a, ORDER_WRITE);
    }
    if (async && chance(p, 30)) {
        dr(p, cuMemcpyAsync((CUdeviceptr)destination, (CUdeviceptr)source, bytes, o->stream[s]),
           "cuMemcpyAsync(b%d+%u, b%d+%u, %zu, s%d)", a, to_at * 4, b, from_at * 4, bytes, s);
        return;
    }
    if (async) {
        rt(p, cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDefault, o->stream[s]),
           "cudaMemcpyAsync(b%d+%u, b%d+%u, %zu, default, s%d)", a, to_at * 4, b, from_at * 4,
           bytes, s);
        return;
    }
    rt(p, cudaMemcpy(destination, source, bytes, cudaMemcpyDefault),
       "cudaMemcpy(b%d+%u, b%d+%u, %zu, default)", a, to_at * 4, b, from_at * 4, bytes);
    /* Only a copy from the device to the host is certain to be complete on return. */
    if (words > 0 && from->side == DEVICE && (to->side == PAGEABLE || to->side == PINNED))
        order_host_saw_stream(&o->order, s);
}

static void copy_2d(struct program *p, void *self)
{
    struct ordered *o = self;
    int s = any_stream(p, o), a = any_buffer(p, o, NULL), b = any_buffer(p, o, NULL);
    if (a == b) return;
    struct buffer *to = &o->buffer[a], *from = &o->buffer[b];
    unsigned width = 1 + draw(p, 40), height = 1 + draw(p, 5);
    unsigned to_pitch = width + draw(p, 20), from_pitch = width + draw(p, 20);
    if (to_pitch * height > to->words * 4 || from_pitch * height > from->words * 4) return;
    order_behind(p, o, s, a, ORDER_WRITE);
    order_source(p, o, s, b);
    o->by_host_function[a] = false;
    rt(p,
       cudaMemcpy2DAsync(to->bytes, to_pitch, from->bytes, from_pitch, width, height,
                         cudaMemcpyDefault, o->stream[s]),
       "cudaMemcpy2DAsync(b%d, %u, b%d, %u, %u, %u, default, s%d)", a, to_pitch, b, from_pitch,
       width, height, s);
    order_operation(&o->order, s);
    order_access(&o->order, s, a, ORDER_WRITE);
    order_access(&o->order, s, b, ORDER_READ);
}

static void fill(struct program *p, void *self)
{
    struct ordered *o = self;
    int s = any_stream(p, o), b = any_buffer(p, o, on_device);
    struct buffer *to = &o->buffer[b];
    unsigned at = draw(p, to->words), words = 1 + draw(p, to->words - at), value = draw(p, 1 << 16);
    unsigned which = draw(p, 4);
    char *bytes = (char *)to->bytes + at * 4u;
    if (which == 3) s = ORDER_LEGACY;
    order_behind(p, o, s, b, ORDER_WRITE);
    switch (which) {
    case 0:
        rt(p, cudaMemsetAsync(bytes, (int)value, words, o->stream[s]),
           "cudaMemsetAsync(b%d+%u, %u, %u, s%d)", b, at * 4, value, words, s);
        break;
    case 1:
        dr(p, cuMemsetD32Async((CUdeviceptr)bytes, value, words, o->stream[s]),
           "cuMemsetD32Async(b%d+%u, %u, %u, s%d)", b, at * 4, value, words, s);
        break;
    case 2:
        dr(p, cuMemsetD16Async((CUdeviceptr)bytes, (unsigned short)value, words, o->stream[s]),
           "cuMemsetD16Async(b%d+%u, %u, %u, s%d)", b, at * 4, value, words, s);
        break;
    default:
        rt(p, cudaMemset(bytes, (int)value, words), "cudaMemset(b%d+%u, %u, %u)", b, at * 4, value,
           words);
        break;
    }
    order_operation(&o->order, s);
    order_access(&o->order, s, b, ORDER_WRITE);
}

/* Uses a temporary stream-ordered allocation: copy in, kernel, copy out. */
static void through_temporary(struct program *p, void *self)
{
    struct ordered *o = self;
    int s = any_stream(p, o), b = any_buffer(p, o, on_device);
    struct buffer *to = &o->buffer[b];
    void *temporary = NULL;
    unsigned k = draw(p, 100);
    order_behind(p, o, s, b, ORDER_WRITE);
    order_source(p, o, s, b);
    order_operation(&o->order, s);
    order_access(&o->order, s, b, ORDER_WRITE);
    if (rt(p, cudaMallocAsync(&temporary, to->words * 4u, o->stream[s]),
           "cudaMallocAsync(&t, %u, s%d)", to->words * 4, s) != cudaSuccess)
        return;
    void *arguments[] = {&temporary, &to->words, &k};
    rt(p, cudaMemcpyAsync(temporary, to->bytes, to->words * 4u, cudaMemcpyDefault, o->stream[s]),
       "cudaMemcpyAsync(t, b%d, default, s%d)", b, s);
    rt(p,
       cudaLaunchKernel(kernel_address(KERNEL_SCALE), (dim3){2, 1, 1}, (dim3){96, 1, 1}, arguments,
                        0, o->stream[s]),
       "scale<<<2, 96, 0, s%d>>>(t, %u, %u)", s, to->words, k);
    rt(p, cudaMemcpyAsync(to->bytes, temporary, to->words * 4u, cudaMemcpyDefault, o->stream[s]),
       "cudaMemcpyAsync(b%d, t, default, s%d)", b, s);
    rt(p, cudaFreeAsync(temporary, o->stream[s]), "cudaFreeAsync(t, s%d)", s);
}

static void CUDART_CB add_seven(void *argument)
{
    struct buffer *buffer = argument;
    for (unsigned i = 0; i < buffer->words; i++) ((uint32_t *)buffer->bytes)[i] += 7;
}

static void host_function(struct program *p, void *self)
{
    struct ordered *o = self;
    int s = any_stream(p, o), b = any_buffer(p, o, on_host);
    struct buffer *to = &o->buffer[b];
    if (to->side == MANAGED) return;
    order_behind(p, o, s, b, ORDER_WRITE);
    rt(p, cudaLaunchHostFunc(o->stream[s], add_seven, to), "cudaLaunchHostFunc(s%d, add 7, b%d)", s,
       b);
    order_operation(&o->order, s);
    order_access(&o->order, s, b, ORDER_WRITE);
    o->by_host_function[b] = true;
}

static void host_writes(struct program *p, void *self)
{
    struct ordered *o = self;
    int b = any_buffer(p, o, on_host);
    struct buffer *to = &o->buffer[b];
    order_behind(p, o, HOST, b, ORDER_WRITE);
    uint32_t value = (uint32_t)draw64(p);
    for (unsigned i = 0; i < to->words; i++) ((uint32_t *)to->bytes)[i] += value + i;
    note(p, "the host adds %u+i to b%d", value, b);
    order_access(&o->order, HOST, b, ORDER_WRITE);
}

static void show(struct program *p, struct ordered *o, int b)
{
    struct buffer *from = &o->buffer[b];
    uint32_t copy[MOST_WORDS];
    if (on_host(from)) {
        order_behind(p, o, HOST, b, ORDER_READ);
        memcpy(copy, from->bytes, from->words * 4u);
    } else {
        order_behind(p, o, ORDER_LEGACY, b, ORDER_READ);
        rt(p, cudaMemcpy(copy, from->bytes, from->words * 4u, cudaMemcpyDeviceToHost),
           "cudaMemcpy(host, b%d)", b);
        order_operation(&o->order, ORDER_LEGACY);
        order_access(&o->order, ORDER_LEGACY, b, ORDER_READ);
        order_host_saw_stream(&o->order, ORDER_LEGACY);
    }
    note(p, "b%d: %u %u ... %08x", b, copy[0], copy[from->words - 1],
         digest(copy, from->words * 4u));
}

static void show_any(struct program *p, void *self)
{
    struct ordered *o = self;
    show(p, o, any_buffer(p, o, NULL));
}

static void record_any(struct program *p, void *self)
{
    struct ordered *o = self;
    int event = (int)draw(p, ORDER_EVENTS);
    record(p, o, event, any_stream(p, o));
}

static void wait_any(struct program *p, void *self)
{
    struct ordered *o = self;
    int event = (int)draw(p, ORDER_EVENTS);
    wait_event(p, o, any_stream(p, o), event);
}

static void ask(struct program *p, void *self)
{
    struct ordered *o = self;
    int s = any_stream(p, o), e = (int)draw(p, ORDER_EVENTS);
    /* The legacy stream represents all blocking streams. */
    bool known = order_host_knows_stream(&o->order, s);
    for (int t = 0; s == ORDER_LEGACY && t < (int)o->streams; t++)
        known = known && order_host_knows_stream(&o->order, t);
    if (known) rt(p, cudaStreamQuery(o->stream[s]), "cudaStreamQuery(s%d)", s);
    if (order_host_knows_event(&o->order, e))
        rt(p, cudaEventQuery(o->event[e]), "cudaEventQuery(e%d)", e);
}

static void elapsed(struct program *p, void *self)
{
    struct ordered *o = self;
    int a = (int)draw(p, ORDER_EVENTS), b = (int)draw(p, ORDER_EVENTS);
    if (!order_host_knows_event(&o->order, a) || !order_host_knows_event(&o->order, b)) return;
    float ms = 0;
    rt(p, cudaEventElapsedTime(&ms, o->event[a], o->event[b]), "cudaEventElapsedTime(e%d, e%d)", a,
       b);
}

static void end_stream(struct program *p, void *self)
{
    struct ordered *o = self;
    int s = any_stream(p, o);
    if (s < 2) return;
    /* The old stream's work goes on, and the model keeps its clock; the new one is ordered after it
     * by an event. */
    rt(p, cudaStreamSynchronize(o->stream[s]), "cudaStreamSynchronize(s%d)", s);
    order_host_saw_stream(&o->order, s);
    rt(p, cudaStreamDestroy(o->stream[s]), "cudaStreamDestroy(s%d)", s);
    o->order.blocking[s] = chance(p, 50);
    rt(p,
       cudaStreamCreateWithFlags(&o->stream[s],
                                 o->order.blocking[s] ? cudaStreamDefault : cudaStreamNonBlocking),
       "cudaStreamCreateWithFlags(&s%d, %d)", s, !o->order.blocking[s]);
}

static void wait_for_some(struct program *p, void *self)
{
    struct ordered *o = self;
    host_waits(p, o, any_stream(p, o));
}

static const struct action actions[] = {
    {"kernel", 14, run_kernel},
    {"mix", 14, run_mix},
    {"copy", 24, copy},
    {"copy 2D", 8, copy_2d},
    {"fill", 10, fill},
    {"temporary", 3, through_temporary},
    {"host function", 4, host_function},
    {"host writes", 4, host_writes},
    {"show", 6, show_any},
    {"record", 6, record_any},
    {"wait", 6, wait_any},
    {"ask", 8, ask},
    {"elapsed", 3, elapsed},
    {"end of a stream", 1, end_stream},
    {"host waits", 3, wait_for_some},
};

/* ---- the program -------------------------------------------------------------------------- */

static void make_buffer(struct program *p, struct ordered *o, int b)
{
    struct buffer *buffer = &o->buffer[b];
    static const enum side first[] = {DEVICE, DEVICE, PINNED, PAGEABLE};
    buffer->side = b < 4 ? first[b] : (enum side)draw(p, 6);
    buffer->words = 16 + draw(p, MOST_WORDS - 16 + 1);
    size_t bytes = buffer->words * 4u;
    cudaError_t code = cudaSuccess;
    switch (buffer->side) {
    case DEVICE:
        code = cudaMalloc(&buffer->bytes, bytes);
        break;
    case PINNED:
        code = cudaMallocHost(&buffer->bytes, bytes);
        break;
    case MAPPED:
        code = cudaHostAlloc(&buffer->bytes, bytes, cudaHostAllocMapped);
        break;
    case MANAGED:
        code = cudaMallocManaged(&buffer->bytes, bytes, cudaMemAttachGlobal);
        break;
    case PAGEABLE:
        buffer->bytes = malloc(bytes);
        break;
    case REGISTERED:
        buffer->bytes = aligned_alloc(4096, 4096);
        code = cudaHostRegister(buffer->bytes, 4096, cudaHostRegisterDefault);
        break;
    }
    rt(p, code, "b%d: %s of %u words", b, side_names[buffer->side], buffer->words);
    uint32_t initial[MOST_WORDS];
    for (unsigned i = 0; i < buffer->words; i++) initial[i] = (uint32_t)b * 1000 + i;
    if (on_host(buffer))
        memcpy(buffer->bytes, initial, bytes);
    else
        cudaMemcpy(buffer->bytes, initial, bytes, cudaMemcpyHostToDevice);
    o->order.buffer[b].writer = HOST;
}

static void free_buffer(struct program *p, struct ordered *o, int b)
{
    struct buffer *buffer = &o->buffer[b];
    cudaError_t code = cudaSuccess;
    switch (buffer->side) {
    case DEVICE:
    case MANAGED:
        code = cudaFree(buffer->bytes);
        break;
    case PINNED:
    case MAPPED:
        code = cudaFreeHost(buffer->bytes);
        break;
    case REGISTERED:
        code = cudaHostUnregister(buffer->bytes);
        free(buffer->bytes);
        break;
    case PAGEABLE:
        free(buffer->bytes);
        break;
    }
    if (code != cudaSuccess) rt(p, code, "freeing b%d", b);
}

void family_ordered(struct program *p)
{
    struct ordered *o = calloc(1, sizeof *o);
    o->streams = 3 + draw(p, ORDER_STREAMS - 2);
    o->buffers = 6 + draw(p, ORDER_BUFFERS - 6 + 1);
    o->stream[0] = chance(p, 50) ? NULL : cudaStreamLegacy;
    o->stream[1] = cudaStreamPerThread;
    o->order.blocking[1] = true;
    for (unsigned s = 2; s < o->streams; s++) {
        o->order.blocking[s] = chance(p, 50);
        int priority = -(int)draw(p, 6);
        rt(p,
           cudaStreamCreateWithPriority(
               &o->stream[s], o->order.blocking[s] ? cudaStreamDefault : cudaStreamNonBlocking,
               priority),
           "cudaStreamCreateWithPriority(&s%u, %d, %d)", s, !o->order.blocking[s], priority);
    }
    for (int e = 0; e < ORDER_EVENTS; e++) {
        unsigned flags =
            PICK(p, unsigned, cudaEventDefault, cudaEventDisableTiming, cudaEventBlockingSync);
        rt(p, cudaEventCreateWithFlags(&o->event[e], flags), "cudaEventCreateWithFlags(&e%d, %u)",
           e, flags);
    }
    for (unsigned b = 0; b < o->buffers; b++) make_buffer(p, o, (int)b);
    cudaDeviceSynchronize();

    for (unsigned left = 15 + draw(p, 35); left > 0; left--) ACT(p, actions, o);

    if (chance(p, 50)) {
        rt(p, cudaDeviceSynchronize(), "cudaDeviceSynchronize()");
        order_host_saw_all(&o->order);
    }
    for (unsigned b = 0; b < o->buffers; b++) show(p, o, (int)b);
    rt(p, cudaDeviceSynchronize(), "cudaDeviceSynchronize()");
    rt(p, cudaGetLastError(), "cudaGetLastError()");
    for (unsigned b = 0; b < o->buffers; b++) free_buffer(p, o, (int)b);
    for (int e = 0; e < ORDER_EVENTS; e++) cudaEventDestroy(o->event[e]);
    for (unsigned s = 2; s < o->streams; s++) cudaStreamDestroy(o->stream[s]);
    free(o);
}
