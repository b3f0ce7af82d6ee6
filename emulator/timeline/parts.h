/* timeline_parts: what the parts of timeline share: the order (timeline.c), the virtual clock
 * (clock.h) and what happens before what (seen.h). Nobody else includes it. */
#ifndef OVERLAP_TIMELINE_PARTS_H
#define OVERLAP_TIMELINE_PARTS_H

#include "emulator/timeline/clock.h"
#include "emulator/timeline/model.h"
#include "emulator/timeline/seen.h"
#include "emulator/timeline/timeline.h"

enum {
    MAX_CONNECTIONS = 32,
    QUEUES = MAX_CONNECTIONS * QUEUE_COUNT,
    EXPECTATIONS = 1024,
    MAX_RUNNING = 256, /* more than the resident grids and one operation of each engine */
    MAX_PAST = 1024,
};

enum order_state {
    ORDER_WAITING, /* for operations that have not run */
    ORDER_READY,   /* in timeline.ready */
    ORDER_RUNNING,
    ORDER_HAS_RUN
};

/* Operations that one depends on, or that depend on it: a stream's have one or two. `ops` is NULL
 * before the first. */
enum { EDGES_FEW = 2 };
struct timeline_edges {
    struct timeline_op **ops, *few[EDGES_FEW]; /* ops: few, or from malloc */
    size_t count, room;
};

struct timeline_op {
    unsigned references; /* the caller's, the timeline's until it is settled, one per edge */
    struct timeline *timeline;
    struct timeline_work work;
    uint64_t number;  /* by submission: dependencies always have smaller ones */
    uint64_t context; /* number */
    unsigned connection;
    int queue;        /* of its connection; QUEUE_NONE: it takes none */
    uint64_t follows; /* number of what its stream put into a queue before; 0: none */
    bool is_left;     /* a stamp that the copy engine leaves until it has nothing to copy */
    int priority;
    bool abandoned;
    bool settled;
    bool begun; /* a kernel that has answered TIMELINE_NOT_YET */

    struct timeline_edges before, after; /* what it depends on, what depends on it */

    enum order_state state;
    unsigned unrun;                  /* dependencies that have not run */
    size_t ready_index;              /* in timeline.ready */
    uint64_t wanted;                 /* number of the wait that wants it run */
    struct timeline_op *next_wanted; /* while these are marked */
    uint64_t tried;                  /* number of the round in which it answered TIMELINE_NOT_YET */
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
    double done_ns; /* of cost.duration_ns, while started */
    struct clock_cached cached;
    uint64_t known_ns; /* the device has it */
    uint64_t ready_ns, start_ns, end_ns;
    struct timeline_op *behind; /* next in its hardware queue */
    struct clock_queue own;     /* of one that waits in none */
};

struct timeline_stream {
    struct timeline_context *context;
    enum timeline_stream_kind kind;
    int priority;
    unsigned connection;
    int queue;                /* of its latest work: a timed event behind it takes its turn there */
    uint64_t queued;          /* number of the latest that took a queue */
    bool destroyed;           /* freed when its last operation is settled */
    struct timeline_op *last; /* a reference; NULL before the first */
    struct timeline_op *own;  /* a reference: the last that a wait for the stream waits for */
    struct timeline_stream *next;
};

struct timeline_context {
    struct timeline *timeline;
    uint64_t number;
    uint64_t streams_made;
    struct timeline_stream *streams;
    struct clock_queue queues[QUEUES];       /* of each connection QUEUE_COUNT */
    uint64_t waiting[(QUEUES + 63) / 64];    /* a bit each: those that may hold something */
    unsigned submitted[TIMELINE_KIND_COUNT]; /* the connection of the latest of each kind */
    struct clock_queue *beside; /* a queue for each operation that waits in none of those */
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
    bool holds;                            /* see timeline_hold */
    struct timeline_op *earliest, *latest; /* what is not settled, by number */
    size_t unsettled_count;
    struct timeline_op **ready;
    size_t ready_count, ready_room;

    uint64_t now_ns;
    struct clock_cache cache;
    struct timeline_op *running[MAX_RUNNING];
    size_t running_count;
    unsigned engines[TIMELINE_KIND_COUNT];  /* operations of each kind that are running */
    uint64_t clear_from_ns, clear_until_ns; /* freed memory is cleared */
    struct clock_turn
        turns[TIMELINE_KIND_COUNT]; /* of each copy engine; TIMELINE_KERNEL: of kernels */
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

/* ---- the order, for the clock ---------------------------------------------------------------- */

/* Called when an operation has both run and ended, or may have. */
void order_settle(struct timeline_op *op);

#endif
