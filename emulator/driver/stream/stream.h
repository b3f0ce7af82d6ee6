/* stream: contexts, streams and events; operations on their way into the timeline; waits and
 * queries; host functions; and what a capture permits.
 *
 * This room makes no graphs: it passes captured work to graph/ through struct capture_verbs.
 *
 * Source: CUDA Driver API 13.0, "Context Management", "Stream Management", "Event Management".
 */
#ifndef OVERLAP_DRIVER_STREAM_STREAM_H
#define OVERLAP_DRIVER_STREAM_STREAM_H

#include "emulator/driver/core/core.h"

/* ---- contexts, streams -------------------------------------------------------------------- */

/* Returns CUDA_ERROR_CONTEXT_IS_DESTROYED and reports a finding if the context was destroyed. */
CUresult context_check(const struct context *context);
/* Finds the live context of a handle; otherwise returns the error and reports a finding. */
CUresult context_find(CUcontext handle, struct context **context);
/* Sets the context's sticky error and abandons its pending work. As on a GPU, no other context of
 * the process works any more. */
void context_fail(struct context *context, CUresult code);
/* The same for an injected error: the other contexts go on. */
void context_lose(struct context *context, CUresult code);
/* Runs work that nobody waited for, for the checks only, if it can show anything: that of a context
 * which is about to end, or of all (NULL) at the end of the process. Findings must not depend on
 * whether such work has run. */
void context_run_unseen(struct context *context);
/* Installs the function of the memory room that frees the memory of a context that ends. */
void context_memory_is_of(void (*release)(const struct context *context));

/* Finds the stream of a handle; NULL and the special handles mean the current context's default
 * streams. Also records the stream in the current call. Otherwise returns an error and reports a
 * finding. */
CUresult stream_resolve(CUstream handle, struct stream **stream);
/* The same for a call that submits work: also checks that captures permit it. */
CUresult stream_for_work(CUstream handle, struct stream **stream);

/* Is it the legacy default stream? Is it a stream that synchronises with the legacy default
 * stream? */
bool stream_is_legacy(const struct stream *stream);
/* Records an event behind the stream's latest kernel that comes before that one's end:
 * `at_trigger`, where the kernel lets others begin, as kernels alone may rely on (GPUs record it at
 * the end); else, once its blocks have begun. */
CUresult event_record_early(struct event *event, struct stream *stream, bool at_trigger);
/* Makes later work of the stream wait for the end of the kernels of stream->early. */
CUresult stream_await_early(struct stream *stream);
/* Clamps a priority, as documented for cuStreamCreateWithPriority. */
int stream_priority_kept(int priority);
bool stream_is_blocking(const struct stream *stream);

/* Checks an attribute of a stream or of a launch. Attributes without limits are always right. */
CUresult attribute_check(CUlaunchAttributeID id, const CUlaunchAttributeValue *value);
/* Refuses an attribute that the device does not have, and names it in a finding: `format` has one
 * %s for its name. A number that CUDA gives no attribute is a wrong value, and no finding. */
__attribute__((format(printf, 2, 0))) CUresult attribute_unsupported(CUlaunchAttributeID id,
                                                                     const char *format);

/* ---- operations --------------------------------------------------------------------------- */

/* Creates an operation of `stream` whose record has the current call's stream, request, caller and
 * so on. The payload is zero. NULL: no memory. */
struct operation *operation_make(const struct stream *stream, enum trace_what what,
                                 size_t payload_size);
/* Creates an operation that the running operation `parent` submits: it counts as work of the same
 * call, in the same stream. NULL: no memory. */
struct operation *operation_within(const struct operation *parent, size_t payload_size);
/* Submits the operation behind `op_before` (NULL: nothing else to wait for). Takes ownership of
 * the operation in any case; NULL counts as out of memory. If `op` is not NULL it receives a
 * reference. */
CUresult operation_submit(struct operation *operation, struct stream *stream,
                          const struct timeline_work *work, struct timeline_op *op_before,
                          struct timeline_op **op);
/* The same for a graph's node, in the context of `carrier`: see timeline_submit_part. */
CUresult operation_submit_part(struct operation *operation, struct timeline_stream *carrier,
                               unsigned lane, const struct timeline_work *work,
                               struct timeline_op *const *after, size_t after_count,
                               struct timeline_op **op);
/* Copies an operation that was never submitted, as work of the current call in `stream`. The call
 * site stays that of the original. NULL: no memory. */
struct operation *operation_copy(const struct operation *operation, const struct stream *stream);
/* Frees the memory only, of an operation that was never submitted and whose payload owns
 * nothing. */
void operation_free(struct operation *operation);
/* Releases an operation that is in no stream; NULL is fine. */
void operation_drop(struct operation *operation);
/* Called from `run`: the operation fails. Reports `found`, and sets its `code` as the waiting
 * caller's result or as the context's sticky error. Returns TIMELINE_RAN. */
enum timeline_ran operation_fail(struct operation *operation, const struct trace_record *found);

/* Waits as a synchronising call does: the host clock moves to the end of the work. Returns the
 * sticky error of `context`, to which the work belongs. */
CUresult wait_for_op(struct context *context, struct timeline_op *op);
/* The same for a wait that GPUs make but the documentation does not promise; code that relies on it
 * gets advice (findings/races.h). Waits for one operation of `stream`; for all work of `context`;
 * for all contexts of the device except `but` (NULL: for all). */
CUresult wait_for_op_on_gpus(const struct stream *stream, struct timeline_op *op);
CUresult wait_for_context_on_gpus(struct context *context);
void wait_for_others_on_gpus(int device, const struct context *but);

/* For a copy, in a default stream or by a synchronous call, of memory of the context `other`; NULL,
 * a dead one and the stream's own are ignored. Such a copy takes part in that context's legacy
 * default stream, too: it begins behind the earlier work of the context's blocking streams, and
 * their later work begins behind the copy. With `op` NULL `stream` is made to wait for the earlier
 * work; otherwise those streams wait for `op`. Source: two H200s (tests/gpu/peer_waits.cu,
 * context_memory.cu). cudaMemcpyPeer's documentation promises an order with all work of both
 * devices, which they do not give to non-blocking streams. */
CUresult stream_join_context(struct stream *stream, const struct context *other,
                             struct timeline_op *op);

/* ---- host functions: they run in a thread of their own (host.c) ---------------------------- */

/* Creates an operation that calls `function`, for a graph's node. */
CUresult host_function_operation(struct context *context, CUhostFn function, void *argument,
                                 struct operation **operation);
/* Returns false for a stream callback, which no graph can hold. */
bool host_function_describe(const struct operation *operation, CUDA_HOST_NODE_PARAMS_v2 *params);
/* Prepares a call of a function of the submission; NULL: no memory. host_function_call makes it
 * soon, in the host-function thread, and releases it. */
struct job;
struct job *host_function_prepare(CUhostFn function, void *argument);
void host_function_call(struct job *job);
/* The timeline's pause callback: releases the lock until something has changed, for a short time at
 * most. */
void host_pause(void *user, bool stuck);
/* Starts the thread that runs host functions, or wakes it. The thread also lets pending work run
 * while the host waits without calling CUDA. */
void host_thread_wake(void);
/* For a signal handler of a process that is about to die: has that thread call `run`, once in the
 * process and with the driver's lock, and waits until it has returned. Gives up when there is no
 * such thread, or when nothing of the process has run for `ms`. */
void host_thread_last(void (*run)(void), unsigned ms);
/* Returns the number of such threads, 0 or 1. */
unsigned host_threads(void);
/* Returns true if the process has no thread but the caller and the device's own. */
bool host_is_alone(void);

/* ---- values in memory (value.c) ------------------------------------------------------------ */

/* Creates an operation that writes values to memory and waits for values there, for a graph's node;
 * returns its parameters, which belong to the operation: false for any other operation. */
CUresult values_operation(struct context *context, const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *params,
                          struct operation **operation, struct timeline_work *work);
bool values_describe(const struct operation *operation, CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *params);
/* Do both do the same kinds of things in the same context, with whatever values and addresses? */
bool values_are_like(const struct operation *operation, const struct operation *other);

/* ---- capture: what it permits (capture.c) ------------------------------------------------- */

struct graph;

/* A capture sequence: it begins in one stream and spreads to others through events. */
struct capture {
    struct graph *graph; /* the graph that the captured work becomes */
    bool borrowed;       /* the graph existed before the capture */
    struct stream *origin;
    CUstreamCaptureMode mode;
    uint64_t thread; /* number of the thread that began it */
    uint64_t id;
    bool invalid;
    struct captured *parts;
    struct capture *next; /* in driver.captures */
};

/* A stream's part in a capture, or what an event recorded of it. This is the beginning of the
 * structure that graph/ keeps.
 */
struct captured {
    struct capture *capture; /* NULL: the capture has ended, and this belongs to an event */
    struct stream *stream;   /* NULL: belongs to an event, or its stream was destroyed */
    uint64_t stream_id;      /* 0: belongs to an event */
    struct captured *next;   /* list of the capture */
};

/* Callbacks for work in a stream that is being captured. graph/ installs them before the first
 * call. Only called when a stream or an event takes part in a capture. */
struct capture_verbs {
    /* Makes the operation a node of the graph and takes ownership of it. */
    CUresult (*take)(struct operation *operation, const struct stream *stream,
                     const struct timeline_work *work);
    /* Adds a node with these parameters behind the stream's captured work so far. */
    CUresult (*add)(const struct stream *stream, CUgraphNodeParams *params);
    /* cuEventRecord in a captured stream; cuStreamWaitEvent where either side takes part in a
     * capture. */
    CUresult (*record)(struct event *event, struct stream *stream, bool external);
    CUresult (*wait)(struct stream *stream, struct event *event, bool external);
    /* The event stands for the moment when the kernel that the stream has just captured has begun
     * (`at_once`) or lets others begin. `programmatic`: only kernels may begin then. */
    CUresult (*record_port)(struct event *event, const struct stream *stream, bool at_once,
                            bool programmatic);
    /* The event was recorded outside of a capture, or ends; the stream ends. */
    void (*forget_event)(struct event *event);
    void (*forget_stream)(struct stream *stream);
};
void capture_install(const struct capture_verbs *verbs);
extern const struct capture_verbs *capturing;

/* Called before work is submitted to `stream`. Returns the error that CUDA defines, after
 * invalidating the captures concerned. */
CUresult capture_check_work(const struct stream *stream);
/* The same before a call with an immediate effect, which a launch of the captured graph would not
 * repeat. */
CUresult capture_check_unsafe(void);
/* Work for `stream` was refused with `code`: invalidates the stream's capture, if there is one.
 * Call it only for refusals that do so in CUDA. Returns `code`. */
CUresult capture_refuse(const struct stream *stream, CUresult code);

/* For calls that no capture can take, whatever their arguments: ends a capture of the stream. */
CUresult capture_check_never(const struct stream *stream);
/* Invalidates the capture and reports `why`. Returns `code`. */
CUresult capture_invalidate(struct capture *capture, CUresult code, enum trace_finding_id why);

#endif
