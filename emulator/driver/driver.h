/* driver: libcuda.so.1. The state behind the driver API's functions (driver.def) and what their
 * implementations share: the calling thread, objects and their handles, the trace.
 *
 * One lock guards everything. A public function's wrapper takes it (driver_enter) and gives it back
 * (driver_leave); an implementation, driver_cuXxx, always runs under it and lets go of it only
 * while it waits for a host function. Kernels and copies run under it, in whichever thread forces
 * them.
 *
 * It never decides when an operation runs (timeline), what an address is (memory) or what an
 * instruction does (exec).
 *
 * Source: CUDA Driver API 13.0.
 */
#ifndef OVERLAP_DRIVER_DRIVER_H
#define OVERLAP_DRIVER_DRIVER_H

/* cuda.h then declares every version of every function under its own name. */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include <cudaProfiler.h>

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emulator/driver/private.h"
#include "emulator/memory/memory.h"
#include "emulator/timeline/model.h"
#include "emulator/timeline/timeline.h"
#include "trace/trace.h"

/* ---- the calls ---------------------------------------------------------------------------- */

enum driver_needs {
    ANY = 0,
    NEEDS_INIT = 1u << 0,
    NEEDS_CONTEXT = 1u << 1,
    STICKY_LATER = 1u << 2, /* done in spite of a sticky error */
    SUBMITS = 1u << 3,
    PER_THREAD = 1u << 4, /* stream 0 is the thread's own default stream */
    UNSAFE = 1u << 5,     /* a capture may prohibit it: it has an effect that no graph repeats */
    OF_HANDLE = 1u << 6,  /* a handle that it is given says in which context */
    READY = NEEDS_INIT,
    CURRENT = NEEDS_INIT | NEEDS_CONTEXT,
    CLEANUP = CURRENT | STICKY_LATER,
    HANDLE = NEEDS_INIT | OF_HANDLE,
    HANDLE_CLEANUP = HANDLE | STICKY_LATER,
    HANDLE_CLEANUP_UNSAFE = HANDLE_CLEANUP | UNSAFE,
    ASYNC = HANDLE | SUBMITS,
    ASYNC_CLEANUP = ASYNC | STICKY_LATER,
    READY_UNSAFE = READY | UNSAFE,
    CURRENT_UNSAFE = CURRENT | UNSAFE,
    CLEANUP_UNSAFE = CLEANUP | UNSAFE,
    CURRENT_PER_THREAD = CURRENT | PER_THREAD,
    CURRENT_UNSAFE_PER_THREAD = CURRENT_UNSAFE | PER_THREAD,
    HANDLE_PER_THREAD = HANDLE | PER_THREAD,
    CLEANUP_PER_THREAD = CLEANUP | PER_THREAD,
    READY_PER_THREAD = READY | PER_THREAD,
    ASYNC_PER_THREAD = ASYNC | PER_THREAD,
    ASYNC_CLEANUP_PER_THREAD = ASYNC_CLEANUP | PER_THREAD,
};

/* The implementations, one per distinct name in driver.def. */
#define ROW(name, implementation, since, needs, parameters, arguments)                             \
    CUresult driver_##implementation parameters;
#include "emulator/driver/entry/driver.def"
#undef ROW

/* The body of every wrapper: driver_enter, the implementation if that returned success, and in any
 * case driver_leave with the result, which returns what the caller gets. */
CUresult driver_enter(const char *name, unsigned needs, const void *caller);
CUresult driver_leave(CUresult code);

/* ---- objects ------------------------------------------------------------------------------ */

enum object_kind {
    OBJECT_CONTEXT,
    OBJECT_STREAM,
    OBJECT_EVENT,
    OBJECT_MODULE,
    OBJECT_FUNCTION,
    OBJECT_LIBRARY,
    OBJECT_KERNEL,
    OBJECT_POOL,
    OBJECT_GRAPH,
    OBJECT_GRAPH_NODE,
    OBJECT_GRAPH_EXEC,
    OBJECT_USER,
    OBJECT_LINK,
    OBJECT_ARRAY,
    OBJECT_TEXTURE, /* or a surface */
    OBJECT_ALLOCATION,
    OBJECT_KIND_COUNT
};

/* A call that was to make something, and failed: findings/unchecked.h. */
enum { MISSING_MEMORY = OBJECT_KIND_COUNT, MISSING_KIND_COUNT };
struct missing {
    const char *name; /* NULL: none */
    uint64_t caller, request;
    uint32_t stack;
    int code;
};

struct context;

/* What every handle points to. */
struct object {
    enum object_kind kind;
    uint64_t id;                    /* of the trace: never used twice */
    uint64_t caller;                /* of the call that made it; 0: the device itself did */
    uint64_t ended;                 /* of the call that ended it; 0: it has not ended */
    struct context *context;        /* that it ends with; NULL: of the process */
    struct object *next, *previous; /* in the context's list */
    struct object *bucket;          /* in the table of live handles */
};

struct stream {
    struct object object;
    struct timeline_stream *time;
    unsigned flags;
    int priority;
    CUsynchronizationPolicy policy;
    uint64_t thread;           /* of a per-thread default stream; 0: not one */
    struct captured *captured; /* its part in a capture; NULL: it is not being captured */
    struct stream *next;       /* in the context's list of those */
};

struct event {
    struct object object;
    unsigned flags;
    struct timeline_op *record; /* the latest; NULL: never recorded */
    struct captured *captured;  /* what a capture recorded, if that was later; NULL: it was not */
    bool tried;                 /* somebody has asked for a record of it */
    uint64_t request;           /* of the call that made it */
    /* The first wait for it that may have been meant to be for something; 0: none. */
    uint64_t waited, waited_request;
    uint32_t waited_stack;
};

enum { LIMITS = 16 };

struct context {
    struct object object;
    bool alive; /* a context that was destroyed is kept, to say so */
    bool primary;
    unsigned flags;
    unsigned api_version;
    CUresult sticky; /* of a kernel that failed; CUDA_SUCCESS: none */
    struct timeline_context *time;
    struct stream *legacy;
    struct stream *per_thread; /* list */
    struct object *objects;    /* all that ends with it */
    size_t limits[LIMITS];     /* by CUlimit */
    CUfunc_cache cache;
    const struct memory_region *heap; /* of malloc in kernels; NULL until a kernel runs */
    bool has_printed;                 /* a kernel has */
};

/* Gives a new object its id, makes its handle valid and, unless it is NULL, puts it in `context`'s
 * list: what ends with the context. */
void object_add(struct object *object, enum object_kind kind, struct context *context);
/* The reverse; the caller gives it to object_free. */
void object_remove(struct object *object);
/* Frees the memory that begins with the object, some time later: until then no other handle is the
 * same, and who uses this one is told when it ended. */
void object_free(struct object *object);
/* The object behind a handle that the submission uses, or NULL when it is none, is of another kind,
 * or has ended; what is wrong with it is then a finding. NULL is no mistake by itself. */
void *object_find(const void *handle, enum object_kind kind);
/* The same without a finding: for a handle that may be of several kinds, or that is our own. */
void *object_peek(const void *handle, enum object_kind kind);
/* What a call gives for a handle of a stream or an event that object_find does not know: that its
 * context is gone, or that it is none. */
CUresult object_error(const void *handle);
/* "the stream 7, created by the call before 0x..., destroyed by ..." */
void describe_object(const struct object *object, char *text, size_t size);

/* ---- the thread --------------------------------------------------------------------------- */

/* The outermost call that the thread is in. */
struct call {
    const char *name;
    const void *caller;
    unsigned flags; /* enum overlap_call_flag */
    uint64_t request;
    uint64_t start_ns;
    uint64_t context, stream, object; /* trace ids that the call named */
    unsigned injection;               /* TRACE_CAN_FAIL, TRACE_MADE_TO_FAIL: entry/injection.h */
    const char *as_if;                /* of a call that is made to fail: why; NULL: it is not */
    uint32_t stack;                   /* the same: stack_note */
};

struct thread {
    bool known;
    uint64_t number;   /* 1, 2, ... */
    uint64_t clock_ns; /* its virtual host clock */
    unsigned depth;    /* of public functions */
    bool locked;
    bool per_thread; /* stream 0 in the current driver call */
    bool in_host_function;
    struct timeline_op *host_op;      /* of the host function; NULL: in none */
    unsigned polls;                   /* queries in a row that were answered with not ready */
    CUstreamCaptureMode capture_mode; /* cuThreadExchangeStreamCaptureMode */
    CUresult owed; /* a sticky error that the call returns after it has done its work */
    struct call call;
    struct missing missing[MISSING_KIND_COUNT]; /* since when the thread has made nothing such */
    bool misses;                                /* any of them */
    struct context **stack;                     /* of current contexts, the last one on top */
    size_t depth_of_stack, room_of_stack;
};
extern __thread struct thread thread;

/* "cuMemcpyHtoDAsync" of "cuMemcpyHtoDAsync_v2_ptsz". */
void call_plain_name(char *to, size_t size, const char *name);
/* The context on top of the thread's stack, alive or not; NULL: none. */
struct context *thread_context(void);
/* Lets the calling thread's host clock run on. */
void thread_spend(double ns);
void thread_wait_until(uint64_t ns);
/* For what only one thread at a time can do in a process (creating a context). */
void thread_spend_exclusively(double ns);

/* ---- the process -------------------------------------------------------------------------- */

struct driver {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* something ran, or a host function ended */
    bool initialised;
    bool forked; /* the parent had CUDA */
    struct trace_writer *trace;
    struct timeline *timeline;
    uint64_t ids, requests, threads;
    uint64_t main_clock_ns;  /* atomic: the first thread's clock, and of every thread that ended */
    uint64_t start_clock_ns; /* atomic: where others start, the first thread's after a call */
    uint64_t exclusive_ns;   /* until when thread_spend_exclusively is taken */
    uint64_t calls;          /* public functions entered, for whoever watches for a pause */

    struct context *primary; /* kept for ever once made */
    unsigned primary_count;
    unsigned primary_flags;
    CUresult failed; /* the first sticky error of any context: from then on none is created */
    struct object *buckets[4096]; /* live handles */
    struct capture *captures;     /* sequences that have not ended */
};
extern struct driver driver;

/* The only device's number, name and so on are in entry/device.c. */
#define DRIVER_CAPABILITY 90 /* compute capability times ten: the newest PTX it takes */

/* ---- streams, contexts, work --------------------------------------------------------------- */

/* The stream behind a handle: 0 and the special handles are the current context's. On success also
 * names it in the call's record. Otherwise CUDA_ERROR_INVALID_HANDLE. */
CUresult stream_resolve(CUstream handle, struct stream **stream);
/* The same for a call that puts work into it: it must belong to the current context. */
CUresult stream_for_work(CUstream handle, struct stream **stream);
/* NULL: no memory. `implicit`: made by the device itself. */
struct stream *stream_make(struct context *context, enum timeline_stream_kind kind, unsigned flags,
                           int priority, bool implicit);
void stream_end(struct stream *stream, bool implicit);
void event_end(struct event *event, bool implicit);
/* A module's end: its variables and functions go with it. */
void module_end(struct object *module, bool implicit);
/* Ends a function, kernel, library or pool that goes with its context. */
void object_end(struct object *object, bool implicit);

/* CUDA_ERROR_INVALID_HANDLE, and a finding: `object` belongs to another context than `context`.
 * `rule` is what it breaks. */
CUresult wrong_context(const struct object *object, const struct context *context,
                       const char *rule);
/* CUDA_ERROR_CONTEXT_IS_DESTROYED, and a finding, for a context that is. */
CUresult context_check(const struct context *context);
/* What cuMemMap put behind an address, which may be a part of a region; false: it did not. */
bool virtual_range(CUdeviceptr ptr, uint64_t *base, size_t *size);
/* Memory is no longer in use, or no longer taken from its pool, if it has one. */
void pool_unused(const struct memory_region *region);
void pool_returned(const struct memory_region *region);
/* The context's sticky error is set, its pending work abandoned. */
void context_fail(struct context *context, CUresult code);

/* What an operation carries: made by operation_make, put into a stream by operation_submit, which
 * takes it over in any case. */
struct operation {
    struct trace_record record; /* completed and written when it has settled */
    struct context *context;
    enum timeline_ran (*run)(struct operation *operation); /* NULL: nothing to do */
    void (*abandoned)(struct operation *operation);        /* it will not run; may be NULL */
    void (*drop)(struct operation *operation);             /* what `payload` owns; may be NULL */
    void (*copied)(struct operation *operation);           /* it has a second owner; may be NULL */
    struct timeline_op *op;                                /* during `run` */
    struct actor *actor;    /* what findings/races.c knows of it; NULL: nothing yet */
    uint64_t flight;        /* of findings/in_flight.c; 0: none */
    struct missing missing; /* of memory, when it was asked for */
    bool awaited;           /* its end is for somebody to wait for: findings/unfinished.h */
    uint64_t stream_caller; /* who made the stream */
    CUresult *outcome;      /* of a caller that waits; NULL: an error becomes the context's */
    size_t payload_size;
    _Alignas(16) unsigned char payload[];
};
/* NULL: no memory. The record has the call's stream, request, caller and so on. */
struct operation *operation_make(const struct stream *stream, enum trace_what what,
                                 size_t payload_size);
/* `op` may be NULL; otherwise it receives a reference. */
CUresult operation_submit(struct operation *operation, struct stream *stream,
                          const struct timeline_work *work, struct timeline_op *op_before,
                          struct timeline_op **op);
/* The same for a graph's node, in the context of `carrier`: see timeline_submit_part. */
CUresult operation_submit_part(struct operation *operation, struct timeline_stream *carrier,
                               unsigned lane, const struct timeline_work *work,
                               struct timeline_op *const *after, size_t after_count,
                               struct timeline_op **op);
/* A second operation that does the same, as work of the call that is made now in `stream`; its
 * place in the source stays where the first was asked for. NULL: no memory. */
struct operation *operation_copy(const struct operation *operation, const struct stream *stream);
/* Releases an operation that is in no stream; NULL is fine. */
void operation_drop(struct operation *operation);
/* For `run`: the operation cannot be done. A finding with the call that asked for it, and the
 * error where it belongs. Returns TIMELINE_RAN. */
enum timeline_ran operation_fail(struct operation *operation, CUresult code, const char *kind,
                                 const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The same with a place in device code. */
enum timeline_ran operation_fail_at(struct operation *operation, CUresult code, const char *kind,
                                    const char *file, unsigned line, uint64_t address,
                                    const char *sentence);

/* Waits, as a synchronising call does: the host clock moves to the end of the work. Returns the
 * sticky error of `context`, whose work it is. */
CUresult wait_for_op(struct context *context, struct timeline_op *op);
/* The same for a stream; the legacy default stream stands for all blocking ones. */
CUresult wait_for_stream(struct stream *stream);
/* A query's cost and answer. */
CUresult answer_query(struct context *context, struct timeline_op *op);
CUresult answer_stream_query(struct stream *stream);

/* Host functions run in a thread of their own; see stream/host.c. `callback` or `function`. */
CUresult host_function_submit(struct stream *stream, CUhostFn function, CUstreamCallback callback,
                              CUstream handle, void *argument);
/* Calls a function of the submission some time soon, in the same thread. */
void host_function_call(CUhostFn function, void *argument);
/* The timeline's pause: lets go of the lock until something has changed. */
void host_pause(void *user, bool stuck);
/* Starts the thread that runs host functions and, for a host that waits without calling CUDA,
 * whatever is pending; wakes it if it is there. */
void host_thread_wake(void);

/* ---- capture: what it permits (graph/capture.c) ------------------------------------------- */

/* Work is about to go into `stream`; a wait for it or a query of it; one for a whole context. An
 * error is CUDA's, and has invalidated the captures that it concerns. */
CUresult capture_check_work(const struct stream *stream);
CUresult capture_check_wait(const struct stream *stream);
CUresult capture_check_context(const struct context *context);
/* A call that has an effect at once, which a launch of the captured graph would not repeat. */
CUresult capture_check_unsafe(void);
/* The same for a query of an event or a wait for it by the host. */
CUresult capture_check_event(const struct event *event);
/* The same for a time between events, which harms no capture. */
CUresult capture_check_elapsed(const struct event *event);
/* `code`, with which work for `stream` has been refused: where it is being captured, that spoils
 * the capture. Not every refusal does. */
CUresult capture_refuse(const struct stream *stream, CUresult code);
/* Makes work meant for `stream`, which is being captured, a node of the graph. Takes it over. */
CUresult capture_take(struct operation *operation, const struct stream *stream,
                      const struct timeline_work *work);
/* cuEventRecord in a stream that is being captured; cuStreamWaitEvent where either side is. */
CUresult capture_record(struct event *event, struct stream *stream, bool external);
CUresult capture_wait(struct stream *stream, struct event *event, bool external);
/* The event has been recorded outside, or ends; the stream ends. */
void capture_forget_event(struct event *event);
void capture_forget_stream(struct stream *stream);

/* ---- the trace and sentences --------------------------------------------------------------- */

void trace_object(const struct object *object, enum trace_kind kind, enum trace_what what,
                  unsigned flags);
void trace_memory(const struct memory_region *region, enum trace_kind kind, unsigned flags);
/* What a finding says, on stderr, unless OVERLAP_QUIET is set: whoever reads the trace prints it.
 */
void finding_say(const char *sentence);
/* The number of the TRACE_STACK with the calls that led to `caller`, which it writes if it is new;
 * 0 where the trace wants none. For a signal handler too. */
uint32_t stack_note(uint64_t caller);
void stack_after_fork(void);
/* Puts a finding into the trace and says it; or counts it, where the same has been found at the
 * same call. */
void finding_put(const struct trace_record *record);
/* A finding at the current call; printf-like. */
void finding(const char *kind, CUresult code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "device memory of 4096 bytes, allocated ..." for sentences. */
void describe_region(const struct memory_region *region, char *text, size_t size);
/* ", allocated by the call before 0x..., freed by the call before 0x..."; what is 0 is left out. */
void describe_life(uint64_t made, const char *making, uint64_t ended, const char *ending,
                   char *text, size_t size);
/* "1 byte", "4096 bytes", for the length of one expression. */
struct counted {
    char text[32];
};
struct counted count_bytes(uint64_t bytes);
/* Why `address` is no device memory, as the second half of a sentence. */
void describe_miss(uint64_t address, char *text, size_t size);

/* CUDA_ERROR_INVALID_VALUE unless all of them are given: `return`s from the implementation. */
#define NEED_POINTER(pointer)                                                                      \
    do {                                                                                           \
        if ((pointer) == NULL) return CUDA_ERROR_INVALID_VALUE;                                    \
    } while (0)
#define NEED_DEVICE(device)                                                                        \
    do {                                                                                           \
        if ((device) != 0) return CUDA_ERROR_INVALID_DEVICE;                                       \
    } while (0)
#define TRY(expression)                                                                            \
    do {                                                                                           \
        CUresult try_code = (expression);                                                          \
        if (try_code != CUDA_SUCCESS) return try_code;                                             \
    } while (0)

#endif
