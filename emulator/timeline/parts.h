/* timeline_parts: what the parts of timeline share: the order (timeline.c), the virtual clock
 * (timeline/clock.c) and what happens before what (timeline/happens.c). Nobody else includes it. */
#ifndef OVERLAP_TIMELINE_PARTS_H
#define OVERLAP_TIMELINE_PARTS_H

#include "emulator/timeline/model.h"
#include "emulator/timeline/timeline.h"

enum {
    MAX_CONNECTIONS = 32,
    EXPECTATIONS = 1024,
    MAX_RUNNING = 256, /* more than the resident grids and one operation of each engine */
    MAX_PAST = 1024,
    CACHE_PIECES = 1024,
};

enum order_state {
    ORDER_WAITING, /* for operations that have not run */
    ORDER_READY,   /* in timeline.ready */
    ORDER_RUNNING,
    ORDER_HAS_RUN
};

enum clock_phase {
    CLOCK_HELD,    /* for operations that have not ended */
    CLOCK_QUEUED,  /* its time to start depends on the device only */
    CLOCK_STARTED, /* in timeline.running */
    CLOCK_ENDED
};

/* For every track the latest operation on it that is known to happen before, in each sense. What is
 * promised is kept on GPUs as well. */
struct happens_clock {
    uint32_t (*seen)[TIMELINE_SENSES]; /* by track; 0: none */
    uint32_t count;
    bool everything[TIMELINE_SENSES]; /* whatever there is: for waits that end by what nobody can
                                         see */
};

enum { HAPPENS_HOST = 0 }; /* the host's track */

struct happens {
    uint32_t *last; /* by track: the sequence number of the latest operation */
    uint32_t tracks;
    size_t room;
    struct happens_clock host; /* what the host has waited for */
};

struct timeline_op {
    unsigned references; /* the caller's, the timeline's until it is settled, one per edge */
    struct timeline *timeline;
    struct timeline_work work;
    uint64_t number;  /* by submission: dependencies always have smaller ones */
    uint64_t context; /* number */
    unsigned connection;
    int priority;
    bool abandoned;
    bool settled;
    bool begun; /* a kernel that has answered TIMELINE_NOT_YET */

    struct timeline_op **before; /* what it depends on */
    size_t before_count;
    struct timeline_op **after; /* what depends on it */
    size_t after_count, after_room;

    enum order_state state;
    unsigned unrun;     /* dependencies that have not run */
    size_t ready_index; /* in timeline.ready */
    uint64_t wanted;    /* number of the wait that wants it run */
    uint64_t tried;     /* number of the round in which it answered TIMELINE_NOT_YET */
    struct timeline_op *older, *younger; /* the list of what has not run */
    struct timeline_op *earlier, *later; /* the list of what is not settled */

    struct timeline_when when;
    struct happens_clock clock; /* complete once it has run */

    enum clock_phase phase;
    unsigned unended; /* dependencies that have not ended */
    bool cost_known;  /* it has run, or its cost follows from its size */
    bool late;        /* it became ready for a time that had passed already */
    bool expected;    /* its cost is that of an equal kernel that has run */
    struct timeline_cost cost;
    double done_ns;       /* of cost.duration_ns, while started */
    uint64_t cache_stamp; /* of what it touches; CACHE_NEVER: it was not all in the cache */
    uint64_t ready_ns, start_ns, end_ns;
    struct timeline_op *behind; /* next in its hardware queue */
};

struct timeline_stream {
    struct timeline_context *context;
    enum timeline_stream_kind kind;
    int priority;
    unsigned connection;
    bool destroyed;           /* freed when its last operation is settled */
    struct timeline_op *last; /* a reference; NULL before the first */
    struct timeline_op *own;  /* a reference: the last that a wait for the stream waits for */
    struct timeline_stream *next;
};

#define CACHE_NEVER UINT64_MAX

/* The device's second-level cache, which forgets what was brought in longest ago. Small pieces that
 * share a place drive each other out. */
struct clock_cache {
    uint64_t brought; /* bytes, since the beginning */
    struct clock_piece {
        uint64_t object, bytes;
        uint64_t stamp;     /* `brought` when it was */
    } pieces[CACHE_PIECES]; /* by object */
};

/* First in, first started: an operation that cannot start holds up those behind it. */
struct clock_queue {
    struct timeline_op *first, *last;
};

enum { QUEUE_IN, QUEUE_OUT, QUEUE_INSIDE, QUEUE_COMPUTE, QUEUE_COUNT, QUEUE_NONE = QUEUE_COUNT };

struct timeline_context {
    struct timeline *timeline;
    uint64_t number;
    uint64_t streams_made;
    struct timeline_stream *streams;
    struct clock_queue queues[MAX_CONNECTIONS][QUEUE_COUNT];
    /* Of destroyed streams that are gone: all of them, and the blocking ones. */
    struct happens_clock gone, gone_blocking;
    struct timeline_context *next;
};

struct timeline {
    struct timeline_settings settings;
    struct happens happens;
    uint64_t random; /* state of the generator */
    uint64_t ops, contexts_made, waits, rounds;
    struct timeline_context *contexts;

    struct timeline_op *oldest, *youngest; /* what has not run, by number */
    size_t unrun_count;
    size_t begun_count;                    /* of them, those that have begun */
    unsigned run_untils;                   /* waits that are running something */
    struct timeline_op *earliest, *latest; /* what is not settled, by number */
    size_t unsettled_count;
    struct timeline_op **ready;
    size_t ready_count, ready_room;

    uint64_t now_ns;
    struct clock_cache cache;
    struct timeline_op *running[MAX_RUNNING];
    size_t running_count;
    unsigned engines[TIMELINE_KIND_COUNT]; /* operations of each kind that are running */
    const struct clock_queue
        *served[TIMELINE_KIND_COUNT]; /* the queue of the latest of each kind */
    /* What has ended lately, a ring: for operations of a host thread whose clock is behind. */
    struct clock_past {
        enum timeline_kind kind;
        uint64_t context, start_ns, end_ns;
        struct timeline_cost cost;
    } past[MAX_PAST];
    uint64_t past_count;
    struct {
        uint64_t signature;
        struct timeline_cost cost;
    } expectations[EXPECTATIONS]; /* by signature, the latest that ran */
};

/* ---- the clock, for the order ---------------------------------------------------------------- */

/* Takes in an operation of `context` with all its dependencies. */
void clock_enter(struct timeline_op *op, struct timeline_context *context);
/* Ends, at the present, all that is left of a context whose operations have run or are abandoned.
 */
void clock_context_end(struct timeline_context *context);
/* It has run, so its cost is known. */
void clock_has_run(struct timeline_op *op);
/* Lets virtual time pass until `op`, which has run, has ended; then NULL. Otherwise a kernel that
 * has not run, so that nobody knows when it ends, and that holds up op's hardware queue: to be run
 * before the next call. */
struct timeline_op *clock_until_ended(struct timeline_op *op);
/* Lets virtual time pass, up to `limit_ns`. */
void clock_until(struct timeline *timeline, uint64_t limit_ns);
/* Ends, at the present, kernels that have not run and are past the time one would guess. Returns
 * whether there were any. */
bool clock_end_overdue(struct timeline *timeline);
bool clock_any_overdue(const struct timeline *timeline);
/* Nothing will happen any more by itself. */
bool clock_is_stuck(const struct timeline *timeline);

/* ---- the cache, for the clock ---------------------------------------------------------------- */

/* The operation starts: what it brings in, and whether what it touches is there. */
void cache_start(struct timeline_op *op);
/* Is it still there? */
bool cache_holds(const struct timeline_op *op);
/* The operation ends: a kernel has brought in what it touched. */
void cache_end(const struct timeline_op *op);

/* ---- what happens before what, for the order ------------------------------------------------- */

bool happens_start(struct happens *happens);
void happens_end(struct happens *happens);
void happens_join(struct happens_clock *clock, const struct happens_clock *other);
void happens_clear(struct happens_clock *clock);
/* Gives an operation that has all its dependencies its place. false: no memory. */
bool happens_enter(struct timeline_op *op);
/* Passes on its clock, which is complete, to those that depend on it. */
void happens_has_run(struct timeline_op *op);
/* The host has waited for something, by a promise or because GPUs do. */
void happens_host_saw(struct timeline *timeline, const struct happens_clock *clock,
                      enum timeline_sense sense);

/* ---- the order, for the clock ---------------------------------------------------------------- */

/* Called when an operation has both run and ended, or may have. */
void order_settle(struct timeline_op *op);

#endif
