/* timeline: when each operation of the device happens, in two senses that are kept apart.
 *
 * Order: an operation may run once everything that it depends on has run: earlier work of its
 * stream, the legacy default stream's barriers, the events it waits for. The order policy (latest,
 * earliest, random) chooses among the legal moments; a correct program computes the same result
 * under each.
 *
 * Time: a virtual clock in nanoseconds computes when the operation would have started and ended on
 * a GPU (timeline/model.h). Time never decides what a correct program computes; it answers queries
 * and elapsed times and fills the trace.
 *
 * An operation has run when its effects exist, it has ended when the virtual clock has passed its
 * end, and it is settled when both are true. An operation is pending until it has run.
 *
 * happens.h holds the happens-before relation, work.h describes an operation's content.
 *
 * This module knows nothing of the API's names, of memory or of kernels: an operation is a function
 * to call, a kind and a cost. It takes no lock: the caller holds its own lock around every function
 * here, and may release it in `run` and in `pause` only.
 *
 * Source: Driver API, "Stream synchronization behavior"; CUDA Programming Guide, "Streams",
 * "Events", "Overlapping Behavior".
 */
#ifndef OVERLAP_TIMELINE_TIMELINE_H
#define OVERLAP_TIMELINE_TIMELINE_H

#include "emulator/timeline/happens.h"
#include "emulator/timeline/work.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct timeline;
struct timeline_context;
struct timeline_stream;
struct timeline_op; /* reference-counted */

enum timeline_order {
    TIMELINE_LATEST,   /* only what the host waits for, and of that the youngest first */
    TIMELINE_EARLIEST, /* at submission or as soon after as possible, oldest first */
    TIMELINE_RANDOM,   /* at any call some ready operations, in random order, by seed */
};

struct timeline_settings {
    enum timeline_order order;
    uint64_t seed;        /* of TIMELINE_RANDOM */
    unsigned connections; /* hardware queues, 1 to 32: CUDA_DEVICE_MAX_CONNECTIONS */
    /* Called when a thread waits for an operation that another thread is running, or (`stuck`) for
     * one whose `run` returns TIMELINE_NOT_YET. Releases the caller's lock, waits until something
     * may have changed, and takes the lock again. */
    void (*pause)(void *user, bool stuck);
    /* Called when a kernel whose wait nothing else could end goes on because of work that was
     * submitted behind the load of a kernel (timeline_context_loads): with lazy loading a GPU
     * begins that only when the kernel has ended. `held` and `later` are the users of their work;
     * `later` is NULL if it goes on because of what the host did behind a load that waits
     * (timeline_context_loads_waiting). May be NULL. */
    void (*held_up)(void *user, void *held, void *later);
    /* Returns whether no thread of the program but the caller could tell a kernel something: asked
     * before `later` runs. With others nothing is held up. NULL: there are others. */
    bool (*is_alone)(void *user);
    void *user;
};

struct timeline *timeline_create(const struct timeline_settings *settings); /* NULL: no memory */
/* Pending operations are released without running. NULL is ignored. */
void timeline_destroy(struct timeline *timeline);

/* ---- contexts and streams -------------------------------------------------------------------- */

/* Kernels of different contexts of one device never overlap in virtual time; devices have nothing
 * in common but the clock. Returns NULL when the host has no memory. */
struct timeline_context *timeline_context_create(struct timeline *timeline, unsigned device);
/* Abandons pending operations, then destroys the context and its streams. */
void timeline_context_destroy(struct timeline_context *context);
/* The context's pending operations will not run; operations that depend on them no longer wait. */
void timeline_context_abandon(struct timeline_context *context);

/* A kernel is loaded into the context by its first use. */
void timeline_context_loads(struct timeline_context *context);
/* Code is loaded by a call of the process's only thread, which on a GPU returns only when all that
 * runs in the context has ended. Lets what is ready go on, under any order policy, if a kernel may
 * wait. */
void timeline_context_loads_waiting(struct timeline_context *context);

enum timeline_stream_kind {
    TIMELINE_BLOCKING,
    TIMELINE_NON_BLOCKING, /* exempt from the legacy default stream's barriers */
    TIMELINE_LEGACY,       /* waits for all blocking streams of its context, and they for it */
};

/* A lower `priority` number is served first. Returns NULL when the host has no memory. */
struct timeline_stream *timeline_stream_create(struct timeline_context *context,
                                               enum timeline_stream_kind kind, int priority);
/* Holds for operations that are submitted from now on. */
void timeline_stream_prioritise(struct timeline_stream *stream, int priority);
/* Returns at once. Pending work stays pending, and other operations still wait for it. */
void timeline_stream_destroy(struct timeline_stream *stream);

/* ---- operations ------------------------------------------------------------------------------ */

/* Submits `work` to `stream` at host time `issue_ns`. The operation depends on the stream's earlier
 * work and on the `extra_count` operations `extra`, of which NULLs are ignored. Under
 * TIMELINE_EARLIEST it may have run on return. Returns a reference (timeline_op_release), or NULL
 * when the host has no memory; `release` of the work is not called then. */
struct timeline_op *timeline_submit(struct timeline_stream *stream,
                                    const struct timeline_work *work, uint64_t issue_ns,
                                    struct timeline_op *const *extra, size_t extra_count);

/* Returns the host time, in ns, that the submitting thread spends on it. */
double timeline_submission_time(struct timeline_stream *stream, enum timeline_kind kind);

/* As timeline_submit, for a part of something larger that `stream` has accepted, such as a node of
 * a graph. The part depends on the operations `after` and nothing else. Later work of the stream
 * depends on the part only through an operation of the stream that does. Parts of different lanes
 * use different hardware queues, so that they do not hold each other up; lane 0 uses the stream's
 * own. */
struct timeline_op *timeline_submit_part(struct timeline_stream *stream, unsigned lane,
                                         const struct timeline_work *work, uint64_t issue_ns,
                                         struct timeline_op *const *after, size_t after_count);

/* Makes `op`, which has not become ready, depend on `before` as well; `before` may be younger than
 * `op`. Called from `run` of an operation that `op` depends on. Returns false when the host has no
 * memory. */
bool timeline_op_also_after(struct timeline_op *op, struct timeline_op *before);
/* Called from `run`. Lets the virtual clock pass the end of the operations that `op` depends on and
 * that have run, so that they are settled and their memory is released. A long chain of operations
 * that no call waits for needs this. */
void timeline_catch_up(struct timeline_op *op);
/* Called from a `run` that submits work and keeps the lock. While `hold` is true, submission runs
 * nothing, even under TIMELINE_EARLIEST; the loop that called `run` runs the work later. */
void timeline_hold(struct timeline *timeline, bool hold);

struct timeline_op *timeline_op_retain(struct timeline_op *op); /* NULL is passed through */
void timeline_op_release(struct timeline_op *op);               /* NULL is ignored */

/* Called from `run` of a kernel: sets the cost that has turned out. */
void timeline_op_cost(struct timeline_op *op, const struct timeline_cost *cost);
/* Called from `run` of a kernel: since it went on, it has read a new value where it waits. */
void timeline_op_heard(struct timeline_op *op);
/* Marks as run an operation whose `run` returned TIMELINE_STARTED. */
void timeline_op_ran(struct timeline_op *op);

/* Virtual start and end in ns; meaningful once the operation is settled. */
uint64_t timeline_op_start(const struct timeline_op *op);
uint64_t timeline_op_end(const struct timeline_op *op);

/* Returns the stream's latest operation, which an event captures, or NULL when there is none. The
 * caller gets no reference. */
struct timeline_op *timeline_stream_last(const struct timeline_stream *stream);

/* Returns the operation's unique number, by order of submission, from 1 on. */
uint64_t timeline_op_number(const struct timeline_op *op);

/* The device's queues are bounded. While more operations are unsettled than they hold, runs the
 * oldest and lets it end. Returns the virtual time at which there was room, for the host that had
 * to wait; 0: there was room at once. */
uint64_t timeline_make_room(struct timeline *timeline);

/* The device of that number clears `bytes` of freed memory, from `now_ns` on, while it does other
 * work. */
void timeline_clear(struct timeline *timeline, unsigned device, uint64_t bytes, uint64_t now_ns);

/* ---- waiting and querying -------------------------------------------------------------------- */

/* Runs `op` and everything that it depends on. Its effects then exist, and the host is ordered
 * after it. Returns its virtual end. */
uint64_t timeline_finish(struct timeline_op *op);
/* As timeline_finish, for all work of a stream or a context. For a stream that is its own work and,
 * for the legacy default stream, the work of all blocking streams. Returns 0 when there was
 * none. */
uint64_t timeline_stream_finish(struct timeline_stream *stream);
uint64_t timeline_context_finish(struct timeline_context *context);
/* As the functions above, for waits that GPUs make and no documentation promises: they order in the
 * sense TIMELINE_ON_GPUS alone. */
uint64_t timeline_finish_on_gpus(struct timeline_op *op);
uint64_t timeline_context_finish_on_gpus(struct timeline_context *context);

/* Returns true when `op` has ended by host time `now_ns`; it has then run, and the host is ordered
 * after it. On false nothing becomes visible, except that a kernel of unknown duration may have
 * been run to find its end. */
bool timeline_query(struct timeline_op *op, uint64_t now_ns);
/* As timeline_query, but runs nothing and does not order the host after the operation. */
bool timeline_op_is_over(const struct timeline_op *op, uint64_t now_ns);
/* As timeline_query, for everything that timeline_stream_finish waits for. */
bool timeline_stream_query(struct timeline_stream *stream, uint64_t now_ns);

/* ---- the rest of the host's program ---------------------------------------------------------- */

/* Called at the beginning of each API call: continues begun kernels and, under TIMELINE_RANDOM and
 * TIMELINE_EARLIEST, may run ready operations. */
void timeline_nudge(struct timeline *timeline);
/* Runs whatever can run, for a host that waits without an API call: everything, or only operations
 * of one sort and what they depend on. Returns whether anything was run. */
enum timeline_some { TIMELINE_HOST_FUNCTIONS, TIMELINE_CONVERSING, TIMELINE_ALL };
bool timeline_progress(struct timeline *timeline, enum timeline_some some);

/* A kernel has begun when its `run` has returned TIMELINE_NOT_YET. timeline_has_begun returns
 * whether there are such kernels; timeline_go_on calls `run` of each again and returns whether one
 * has run to its end. */
bool timeline_has_begun(const struct timeline *timeline);
bool timeline_go_on(struct timeline *timeline);
/* Called from `run`: returns whether the host is in a call that returns only once what it waits for
 * has run. */
bool timeline_is_awaited(const struct timeline *timeline);

/* From now on the order policy is TIMELINE_EARLIEST, and everything pending runs now: a process of
 * which nothing is known may look at the effects. The host is not ordered after any of it. */
void timeline_hurry(struct timeline *timeline);

/* Returns whether no operation is left to run. */
bool timeline_is_idle(const struct timeline *timeline);

/* For a process that ends: runs what can run, except host functions. The host is not ordered after
 * any of it. */
void timeline_run_rest(struct timeline *timeline);

/* For a context that is about to be destroyed: the same of its operations alone, which count as
 * abandoned behind it. What depends on pending work of another context does not run. */
void timeline_context_run_rest(struct timeline_context *context);

/* Gives operations that have run their final times, for a process that ends without waiting. */
void timeline_settle(struct timeline *timeline);

#endif
