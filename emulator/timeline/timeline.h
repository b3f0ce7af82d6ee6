/* timeline: when each operation of the device happens, in two senses that are kept apart.
 *
 * Order: an operation may run once everything that it depends on has run: its stream's earlier
 * work, the legacy default stream's barriers, the events it waits for. When among the legal moments
 * it does run is the order policy's choice (latest, earliest, random); a right program gives the
 * same answer under each.
 *
 * Time: a virtual clock in nanoseconds says when the operation would have started and ended on a
 * GPU (timeline/model.h). Time never decides what a right program computes; it answers queries and
 * elapsed times and fills the trace.
 *
 * What happens before what is happens.h's, what an operation is made of work.h's.
 *
 * It knows nothing of the API's names, of memory or of kernels: an operation is a function to call,
 * a kind and a cost. It takes no lock: the caller holds its own around every function here, and may
 * release it in `run` and in `pause` only.
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
struct timeline_op; /* counted references */

enum timeline_order {
    TIMELINE_LATEST,   /* only what somebody waits for, and of that the youngest first */
    TIMELINE_EARLIEST, /* at submission, or as soon after as possible, the oldest first */
    TIMELINE_RANDOM,   /* some at any call, any of the ready ones first; by seed */
};

struct timeline_settings {
    enum timeline_order order;
    uint64_t seed;        /* of TIMELINE_RANDOM */
    unsigned connections; /* hardware queues, 1 to 32: CUDA_DEVICE_MAX_CONNECTIONS */
    /* Called when a thread waits for an operation that another thread is running, or for one that
     * answers TIMELINE_NOT_YET (`stuck`). Releases the caller's lock, lets time pass until
     * something may have changed, takes the lock again. */
    void (*pause)(void *user, bool stuck);
    void *user;
};

struct timeline *timeline_create(const struct timeline_settings *settings); /* NULL: no memory */
/* Everything that was not run is released without running. */
void timeline_destroy(struct timeline *timeline);

/* ---- contexts and streams -------------------------------------------------------------------- */

/* Kernels of different contexts never overlap in virtual time. */
struct timeline_context *timeline_context_create(struct timeline *timeline);
/* Abandons what is pending, then ends the context with all its streams. */
void timeline_context_destroy(struct timeline_context *context);
/* The context's pending operations will not run; whoever depends on them no longer waits. */
void timeline_context_abandon(struct timeline_context *context);

enum timeline_stream_kind {
    TIMELINE_BLOCKING,
    TIMELINE_NON_BLOCKING, /* exempt from the legacy default stream's barriers */
    TIMELINE_LEGACY,       /* waits for all blocking streams of its context, and they for it */
};

/* Priority: a lower number is served first. NULL: no memory. */
struct timeline_stream *timeline_stream_create(struct timeline_context *context,
                                               enum timeline_stream_kind kind, int priority);
/* Returns at once; pending work stays pending and is still waited for by others. */
void timeline_stream_destroy(struct timeline_stream *stream);

/* ---- operations ------------------------------------------------------------------------------ */

/* Puts work into `stream` at host time `issue_ns`, after the stream's earlier work and the
 * `extra_count` operations `extra`. Under earliest it may have run on return. Returns a reference
 * (timeline_op_release), or NULL when there is no memory; then `release` has not been called. */
struct timeline_op *timeline_submit(struct timeline_stream *stream,
                                    const struct timeline_work *work, uint64_t issue_ns,
                                    struct timeline_op *const *extra, size_t extra_count);

/* Host time, in ns, that it takes the thread which does so. */
double timeline_submission_time(struct timeline_stream *stream, enum timeline_kind kind);

/* The same for a part of something larger that `stream` has accepted, a graph's node: it comes
 * after the operations `after` and nothing else, and what the stream gets later does not come after
 * it, unless through an operation of the stream that does. Parts of different lanes take different
 * hardware queues, so that they do not hold each other up; lane 0 is the stream's own. */
struct timeline_op *timeline_submit_part(struct timeline_stream *stream, unsigned lane,
                                         const struct timeline_work *work, uint64_t issue_ns,
                                         struct timeline_op *const *after, size_t after_count);

/* For `run` of an operation before `op`, which decides only now what else comes before it: `op`
 * comes after `before`, too, which may be younger. false: no memory. */
bool timeline_op_also_after(struct timeline_op *op, struct timeline_op *before);
/* For `run`, of one of a long row that nobody looks at: the clock catches up with what `op` comes
 * after, so that this can be forgotten. */
void timeline_catch_up(struct timeline_op *op);
/* For `run` that submits, and keeps the lock: while held, nothing runs at its submission, however
 * early the order. Whoever called `run` goes on with it. */
void timeline_hold(struct timeline *timeline, bool hold);

struct timeline_op *timeline_op_retain(struct timeline_op *op); /* NULL is passed through */
void timeline_op_release(struct timeline_op *op);               /* NULL is fine */

/* For `run`: what a kernel has turned out to cost. */
void timeline_op_cost(struct timeline_op *op, const struct timeline_cost *cost);
/* The end of an operation that was TIMELINE_STARTED. */
void timeline_op_ran(struct timeline_op *op);

/* Virtual start and end; meaningful once it is settled. */
uint64_t timeline_op_start(const struct timeline_op *op);
uint64_t timeline_op_end(const struct timeline_op *op);

/* The stream's latest operation, or NULL when there is none: what an event captures. No reference
 * is given. */
struct timeline_op *timeline_stream_last(const struct timeline_stream *stream);

/* By submission, from 1 on; no two have the same. */
uint64_t timeline_op_number(const struct timeline_op *op);

/* The queues to the device are not endless: when more is pending than they hold, the oldest runs
 * and ends. Returns the time at which there was room, for the host that had to wait; 0: at once. */
uint64_t timeline_make_room(struct timeline *timeline);

/* Freed memory is cleared, from `now_ns` on, while the device does other work. */
void timeline_clear(struct timeline *timeline, uint64_t bytes, uint64_t now_ns);

/* ---- waiting and asking ---------------------------------------------------------------------- */

/* Runs `op` and all that it depends on; its effects are then there, and the host knows. Returns its
 * virtual end. */
uint64_t timeline_finish(struct timeline_op *op);
/* The same for all of a stream (its own work, and for the legacy default stream that of all
 * blocking ones) or of a context. 0 when there was none. */
uint64_t timeline_stream_finish(struct timeline_stream *stream);
uint64_t timeline_context_finish(struct timeline_context *context);
/* The same for waits that GPUs make and nobody promises. */
uint64_t timeline_finish_on_gpus(struct timeline_op *op);
uint64_t timeline_context_finish_on_gpus(struct timeline_context *context);

/* Has `op` ended by host time `now_ns`? Only then (and then for certain) has it run, and the host
 * knows; an answer of false makes nothing visible, unless a kernel whose duration nobody knew had
 * to be run to know. */
bool timeline_query(struct timeline_op *op, uint64_t now_ns);
/* Whether that is known already; nothing runs for it, and the host does not learn it. */
bool timeline_op_is_over(const struct timeline_op *op, uint64_t now_ns);
/* The same as timeline_query for all that timeline_stream_finish waits for. */
bool timeline_stream_query(struct timeline_stream *stream, uint64_t now_ns);

/* ---- the rest of the host's program ---------------------------------------------------------- */

/* A call of the submission begins: the random order may run something. */
void timeline_nudge(struct timeline *timeline);
/* Runs whatever can run, for a host that waits without calling: everything, or only this and what
 * it depends on. Returns whether anything was run. */
enum timeline_some { TIMELINE_HOST_FUNCTIONS, TIMELINE_CONVERSING, TIMELINE_ALL };
bool timeline_progress(struct timeline *timeline, enum timeline_some some);

/* Are there kernels that have begun and not ended? Goes on with each of them; returns whether one
 * ended. */
bool timeline_has_begun(const struct timeline *timeline);
bool timeline_go_on(struct timeline *timeline);
/* For `run`: the host is in a call that returns when what it waits for has run, not before. */
bool timeline_is_awaited(const struct timeline *timeline);

/* From now on work runs as in the order earliest, and what is pending does so now: somebody
 * outside, of whom nothing is known, may look at its effects. Nobody learns of it. */
void timeline_hurry(struct timeline *timeline);

/* Nothing is left to run. */
bool timeline_is_idle(const struct timeline *timeline);

/* For a process that ends: runs what can run and is no host function. Nobody learns of it. */
void timeline_run_rest(struct timeline *timeline);

/* Gives what has run its final times, for a process that ends without waiting. */
void timeline_settle(struct timeline *timeline);

#endif
