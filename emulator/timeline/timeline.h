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
 * It knows nothing of the API's names, of memory or of kernels: an operation is a function to call,
 * a kind and a cost. It takes no lock: the caller holds its own around every function here, and may
 * release it in `run` and in `pause` only.
 *
 * Source: Driver API, "Stream synchronization behavior"; CUDA Programming Guide, "Streams",
 * "Events", "Overlapping Behavior".
 */
#ifndef OVERLAP_TIMELINE_TIMELINE_H
#define OVERLAP_TIMELINE_TIMELINE_H

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

enum timeline_kind {
    TIMELINE_KERNEL,
    TIMELINE_COPY_IN,     /* host to device */
    TIMELINE_COPY_OUT,    /* device to host */
    TIMELINE_COPY_INSIDE, /* device to device */
    TIMELINE_COPY_HOST,   /* host to host, by the host */
    TIMELINE_SET,
    TIMELINE_HOST_FUNCTION,
    TIMELINE_STAMP, /* a timed event's record: takes no time, but its turn among the kernels */
    TIMELINE_MARK,  /* takes no time: an untimed event's record, a wait, a free, a value */
    TIMELINE_KIND_COUNT
};

enum timeline_ran {
    TIMELINE_RAN,
    /* What is waited for is not there; call again later. A kernel that answers so has begun: the
     * device goes on with it whatever the order policy. */
    TIMELINE_NOT_YET,
    TIMELINE_STARTED, /* another thread is at it, and will say timeline_op_ran */
};

/* What an operation costs when it has the device to itself, and which share of the device it takes:
 * operations that together ask for more than all of it slow each other down. */
struct timeline_cost {
    double duration_ns;
    double issue;   /* of the issue slots, 0 to 1 */
    double traffic; /* of device memory's bandwidth, 0 to 1 */
    double room;    /* of the places for resident blocks, 0 to 1 */
};

struct timeline_work {
    enum timeline_kind kind;
    uint64_t bytes;     /* of copies and sets: their cost follows from it */
    bool pageable;      /* a copy that is staged through pageable memory */
    uint64_t signature; /* kernels: equal ones are expected to take equally long; 0: none */
    bool converses;     /* the host may await what it does without a call */
    bool waits;         /* it ends when `run` says so, not before: a wait for a value */
    /* An untimed record, or a wait for what is over: nothing for the device to do. Who waits for a
     * stream that has nothing else to do, or asks it, does not wait for what this stands behind in
     * other streams, as a GPU does not: only who waits for the event, or for later work. */
    bool passive;
    enum timeline_ran (*run)(struct timeline_op *op, void *user); /* NULL: nothing to do */
    /* Called once, when the operation has run and its times are known; not when abandoned. */
    void (*settled)(const struct timeline_op *op, void *user); /* may be NULL */
    void (*abandoned)(void *user); /* called once, instead of running it; may be NULL */
    void (*release)(void *user);   /* called last, some time later; may be NULL */
    void *user;
};

/* Puts work into `stream` at host time `issue_ns`, after the stream's earlier work and the
 * `extra_count` operations `extra`. Under earliest it may have run on return. Returns a reference
 * (timeline_op_release), or NULL when there is no memory; then `release` has not been called. */
struct timeline_op *timeline_submit(struct timeline_stream *stream,
                                    const struct timeline_work *work, uint64_t issue_ns,
                                    struct timeline_op *const *extra, size_t extra_count);

/* The same for a part of something larger that `stream` has accepted, a graph's node: it comes
 * after the operations `after` and nothing else, and what the stream gets later does not come after
 * it, unless through an operation of the stream that does. Parts of different lanes take different
 * hardware queues, so that they do not hold each other up; lane 0 is the stream's own. */
struct timeline_op *timeline_submit_part(struct timeline_stream *stream, unsigned lane,
                                         const struct timeline_work *work, uint64_t issue_ns,
                                         struct timeline_op *const *after, size_t after_count);

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

/* The queues to the device are not endless: when more is pending than they hold, the oldest runs
 * and ends. Returns the time at which there was room, for the host that had to wait; 0: at once. */
uint64_t timeline_make_room(struct timeline *timeline);

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
 * knows; an answer of
 * false makes nothing visible, unless a kernel whose duration nobody knew had to be run to know. */
bool timeline_query(struct timeline_op *op, uint64_t now_ns);
/* Whether that is known already; nothing runs for it, and the host does not learn it. */
bool timeline_op_is_over(const struct timeline_op *op, uint64_t now_ns);
/* The same as timeline_query for all that timeline_stream_finish waits for. */
bool timeline_stream_query(struct timeline_stream *stream, uint64_t now_ns);

/* ---- what happens before what ---------------------------------------------------------------- */

/* In which of two senses: what the documentation promises, and what a GPU does. A wait that is only
 * a GPU's habit orders in the second alone. */
enum timeline_sense { TIMELINE_PROMISED, TIMELINE_ON_GPUS, TIMELINE_SENSES };

/* A point that others are ordered against: an operation's, or one in the host's program. It stays
 * meaningful when the operation is gone. */
struct timeline_when {
    uint32_t track, sequence;
};

struct timeline_when timeline_op_when(const struct timeline_op *op);
/* A new point in the host's program: operations submitted from now on happen after it. */
struct timeline_when timeline_host_when(struct timeline *timeline);

/* Does `earlier` happen before `op`, by stream order, events and the host's waits? For an operation
 * that runs or has run. */
bool timeline_happens_before(struct timeline_when earlier, const struct timeline_op *op,
                             enum timeline_sense sense);
/* Has the host waited for it? A point of the host's always is. */
bool timeline_host_knows(const struct timeline *timeline, struct timeline_when earlier,
                         enum timeline_sense sense);
/* Is everything that has yet to run, or to be submitted, promised to happen after it? */
bool timeline_all_follow(const struct timeline *timeline, struct timeline_when earlier);
/* For `run`: `op` waited for a value in memory, so that whatever has happened may be ordered before
 * it. */
void timeline_op_follows_all(struct timeline_op *op);
/* `op`, a host function, is about to be called: it may tell other host threads, by means that
 * nobody sees, that what happens before it is done. */
void timeline_host_function_begins(struct timeline_op *op);
/* And has returned: other host threads may have told it of all that they have done by now. */
void timeline_host_function_ends(struct timeline_op *op);

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

/* Nothing is left to run. */
bool timeline_is_idle(const struct timeline *timeline);

/* For a process that ends: runs what can run and is no host function. Nobody learns of it. */
void timeline_run_rest(struct timeline *timeline);

/* Gives what has run its final times, for a process that ends without waiting. */
void timeline_settle(struct timeline *timeline);

#endif
