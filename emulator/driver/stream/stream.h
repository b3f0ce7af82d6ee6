/* stream: contexts, streams and events; operations on their way into the timeline; waiting for them
 * and asking; host functions; and what a capture permits.
 *
 * It makes no graph: what a capture turns work into is told to it (struct capture_verbs).
 *
 * Source: CUDA Driver API 13.0, "Context Management", "Stream Management", "Event Management".
 */
#ifndef OVERLAP_DRIVER_STREAM_STREAM_H
#define OVERLAP_DRIVER_STREAM_STREAM_H

#include "emulator/driver/core/core.h"

/* ---- contexts, streams -------------------------------------------------------------------- */

/* CUDA_ERROR_CONTEXT_IS_DESTROYED, and a finding, for a context that is. */
CUresult context_check(const struct context *context);
/* The context's sticky error is set, its pending work abandoned; and no other context of the
 * process works any more, as on a GPU. */
void context_fail(struct context *context, CUresult code);
/* The same, and the other contexts go on: for an error that was injected into this one. */
void context_lose(struct context *context, CUresult code);
/* Who gives back the memory of a context that ends: a room above. */
void context_memory_is_of(void (*release)(const struct context *context));

/* The stream behind a handle: 0 and the special handles are the current context's. On success also
 * names it in the call's record. Otherwise CUDA_ERROR_INVALID_HANDLE. */
CUresult stream_resolve(CUstream handle, struct stream **stream);
/* The same for a call that puts work into it: it must belong to the current context. */
CUresult stream_for_work(CUstream handle, struct stream **stream);

/* Is it the legacy default stream, or one of those that it waits for? */
bool stream_is_legacy(const struct stream *stream);
bool stream_is_blocking(const struct stream *stream);

/* ---- operations --------------------------------------------------------------------------- */

/* NULL: no memory. The record has the call's stream, request, caller and so on. */
struct operation *operation_make(const struct stream *stream, enum trace_what what,
                                 size_t payload_size);
/* The same kind of work, that `parent` itself asks for while it runs: as work of the same call, in
 * the same stream. */
struct operation *operation_within(const struct operation *parent, size_t payload_size);
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
/* The memory of one that nobody knows of yet and whose payload owns nothing. */
void operation_free(struct operation *operation);
/* Releases an operation that is in no stream; NULL is fine. */
void operation_drop(struct operation *operation);
/* For `run`: the operation cannot be done. Puts `found`, which says why, and the error, its `code`,
 * where it belongs. Returns TIMELINE_RAN. */
enum timeline_ran operation_fail(struct operation *operation, const struct trace_record *found);

/* Waits, as a synchronising call does: the host clock moves to the end of the work. Returns the
 * sticky error of `context`, whose work it is. */
CUresult wait_for_op(struct context *context, struct timeline_op *op);
/* The same for a wait that GPUs make and the documentation does not promise: whoever relies on it
 * is advised (findings/races.h). Of one operation of `stream`; for all work of `context`; of all
 * contexts but one (NULL: of all). */
CUresult wait_for_op_on_gpus(const struct stream *stream, struct timeline_op *op);
CUresult wait_for_context_on_gpus(struct context *context);
void wait_for_others_on_gpus(const struct context *but);

/* A copy between the memories of two devices in a default stream, or by a synchronous call, begins
 * when all that went to either device before has ended, and what goes there later begins when it
 * has: with `op` NULL `stream` comes to wait so, otherwise all streams of both wait for `op`.
 * Source: CUDA Programming Guide, "Peer-to-Peer Memory Copy"; cudaMemcpyPeer. */
CUresult stream_join_devices(struct stream *stream, const unsigned devices[2],
                             struct timeline_op *op);

/* ---- host functions: they run in a thread of their own (host.c) ---------------------------- */

/* An operation that calls `function`, for a graph's node. */
CUresult host_function_operation(struct context *context, CUhostFn function, void *argument,
                                 struct operation **operation);
/* false: it is a stream's callback, which no graph can hold. */
bool host_function_describe(const struct operation *operation, CUDA_HOST_NODE_PARAMS_v2 *params);
/* Calls a function of the submission some time soon, in the same thread. */
void host_function_call(CUhostFn function, void *argument);
/* The timeline's pause: lets go of the lock until something has changed. */
void host_pause(void *user, bool stuck);
/* Starts the thread that runs host functions and, for a host that waits without calling CUDA,
 * whatever is pending; wakes it if it is there. */
void host_thread_wake(void);
/* How many such threads there are. */
unsigned host_threads(void);

/* ---- capture: what it permits (capture.c) ------------------------------------------------- */

struct graph;

/* One capture sequence: from the stream in which it began, through events, into others. */
struct capture {
    struct graph *graph; /* that the captured work becomes */
    bool borrowed;       /* the graph was there before */
    struct stream *origin;
    CUstreamCaptureMode mode;
    uint64_t thread; /* that began it */
    uint64_t id;
    bool invalid;
    struct captured *parts;
    struct capture *next; /* in driver.captures */
};

/* A stream's part in a capture, or what an event recorded of it: the beginning of what graph keeps.
 */
struct captured {
    struct capture *capture; /* NULL: it has ended, and this is an event's */
    struct stream *stream;   /* NULL: an event's, or of a stream that has been destroyed */
    uint64_t stream_id;      /* 0: an event's */
    struct captured *next;   /* in the capture */
};

/* What happens to work of a stream that is being captured, installed by graph before the first
 * call. Only used where a stream or an event has a part in a capture. */
struct capture_verbs {
    /* Makes the operation a node of the graph. Takes it over. */
    CUresult (*take)(struct operation *operation, const struct stream *stream,
                     const struct timeline_work *work);
    /* A node with these parameters behind what the stream has got so far. */
    CUresult (*add)(const struct stream *stream, CUgraphNodeParams *params);
    /* cuEventRecord in such a stream; cuStreamWaitEvent where either side takes part. */
    CUresult (*record)(struct event *event, struct stream *stream, bool external);
    CUresult (*wait)(struct stream *stream, struct event *event, bool external);
    /* The event has been recorded outside, or ends; the stream ends. */
    void (*forget_event)(struct event *event);
    void (*forget_stream)(struct stream *stream);
};
void capture_install(const struct capture_verbs *verbs);
extern const struct capture_verbs *capturing;

/* Work is about to go into `stream`; one for a whole context. An error is CUDA's, and has
 * invalidated the captures that it concerns. */
CUresult capture_check_work(const struct stream *stream);
/* A call that has an effect at once, which a launch of the captured graph would not repeat. */
CUresult capture_check_unsafe(void);
/* `code`, with which work for `stream` has been refused: where it is being captured, that spoils
 * the capture. Not every refusal does. */
CUresult capture_refuse(const struct stream *stream, CUresult code);
/* The capture is spoiled, and `why` is told. Returns `code`. */
CUresult capture_invalidate(struct capture *capture, CUresult code, enum trace_finding_id why);

#endif
