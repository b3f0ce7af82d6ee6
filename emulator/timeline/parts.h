/* timeline_parts: types that the parts of timeline share: the order (timeline.c), the virtual clock
 * (clock.h) and happens-before (seen.h). Private to emulator/timeline. */
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
    EACH_RUNNING = 256, /* more than the resident grids plus one operation per engine */
};

enum order_state {
    ORDER_WAITING, /* waits for operations that have not run */
    ORDER_READY,   /* in timeline.ready */
    ORDER_RUNNING,
    ORDER_HAS_RUN
};

/* The operations that one depends on, or that depend on it; an operation of a stream has one or
 * two. `ops` is NULL before the first. */
enum { EDGES_FEW = 2 };
struct timeline_edges {
    struct timeline_op **ops, *few[EDGES_FEW]; /* `few`, or from malloc */
    size_t count, room;
};

struct timeline_op {
    unsigned references; /* the caller's, the timeline's until settled, one per edge */
    struct timeline *timeline;
    struct clock_device *device;
    struct timeline_work work;
    uint64_t number;  /* by submission; dependencies have smaller ones */
    uint64_t context; /* its number */
    unsigned connection;
    int queue;        /* of its connection; QUEUE_NONE: none */
    uint64_t follows; /* number of the stream's previous operation in a queue; 0: none */
    bool is_left;     /* a stamp that a copy engine serves only when no copy is ready */
    int priority;
    bool abandoned;
    bool unseen; /* it may still run, for what the run shows, and counts as abandoned then */
    bool settled;
    bool begun;         /* a kernel whose `run` has returned TIMELINE_NOT_YET */
    uint64_t loads;     /* of its context, when it was submitted */
    unsigned overtaken; /* by how many operations of behind a load: loads.c */
    uint64_t passed;    /* number of the latest pass there that tried it */
    bool heard;         /* set by timeline_op_heard, since it went on */
    bool loads_wait;    /* a load waited for it while it waited for something: loads.c */

    struct timeline_edges before, after; /* what it depends on, what depends on it */

    enum order_state state;
    unsigned unrun;                  /* dependencies that have not run */
    size_t ready_index;              /* in timeline.ready */
    uint64_t wanted;                 /* number of the wait that needs it to run */
    struct timeline_op *next_wanted; /* a list, while a wait's operations are marked */
    uint64_t tried;                  /* number of the round in which its `run` was last called */
    struct timeline_op *older, *younger; /* list of operations that have not run */
    struct timeline_op *earlier, *later; /* list of operations that are not settled */

    struct timeline_when when;
    struct happens_clock clock; /* its vector clock, complete once it has run */
    uint64_t host_steps;        /* timeline_host_steps when it was submitted */

    enum clock_phase phase;
    unsigned unended; /* dependencies that have not ended */
    bool cost_known;  /* it has run, or its cost follows from its size */
    bool late;        /* it became ready at a virtual time that has already passed */
    bool expected;    /* its cost is that of a kernel with the same signature that has run */
    struct timeline_cost cost;
    double done_ns; /* progress towards cost.duration_ns, once started */
    struct clock_cached cached;
    uint64_t known_ns; /* when the device has received it */
    uint64_t ready_ns, start_ns, end_ns;
    struct timeline_op *behind; /* next in its hardware queue */
    struct clock_queue own;     /* the queue of an operation that waits in no shared one */
};

struct timeline_stream {
    struct timeline_context *context;
    uint64_t number; /* in the order in which the context's streams were made */
    enum timeline_stream_kind kind;
    int priority;
    unsigned connection;
    int queue;                /* of its latest work: a timed event waits in the same one */
    uint64_t queued;          /* number of its latest operation in a queue */
    bool destroyed;           /* freed when its last operation is settled */
    struct timeline_op *last; /* a reference; NULL before the first */
    struct timeline_op *own;  /* a reference: the operation that a wait for the stream waits for */
    struct timeline_stream *next;
};

struct timeline_context {
    struct timeline *timeline;
    struct clock_device *device;
    uint64_t number;
    uint64_t streams_made, loads;
    struct timeline_stream *streams;
    struct clock_queue queues[QUEUES];       /* QUEUE_COUNT for each connection */
    uint64_t waiting[(QUEUES + 63) / 64];    /* one bit per queue: it may hold operations */
    unsigned submitted[TIMELINE_KIND_COUNT]; /* connection of the latest operation of each kind */
    struct clock_queue *beside; /* queues of single operations, which wait in no shared one */
    /* Joined clocks of destroyed streams that have been freed: of all, and of the blocking ones. */
    struct happens_clock gone, gone_blocking;
    struct timeline_context *next;
};

struct timeline {
    struct timeline_settings settings;
    struct happens happens;
    uint64_t random; /* state of the generator */
    uint64_t ops, contexts_made, waits, rounds, passes;
    struct timeline_context *contexts;

    struct timeline_op *oldest, *youngest; /* operations that have not run, by number */
    size_t unrun_count;
    size_t begun_count;                    /* of those, kernels that have begun */
    size_t value_count;                    /* and operations that wait for a value */
    size_t conversing_count;               /* and kernels that may wait for others */
    unsigned run_untils;                   /* calls of run_until that are running something */
    unsigned tries;                        /* of loads.c, in which kernels only have a look */
    bool holds;                            /* set by timeline_hold */
    bool has_hurried;                      /* set by timeline_hurry */
    struct timeline_op *earliest, *latest; /* operations that are not settled, by number */
    size_t unsettled_count;
    struct timeline_op **ready;
    size_t ready_count, ready_room;

    uint64_t now_ns;
    struct clock_device *devices;
    unsigned device_count;
    struct timeline_op **running; /* room for EACH_RUNNING of each device */
    size_t running_count;
    struct {
        uint64_t signature;
        struct timeline_cost cost;
    } expectations[EXPECTATIONS]; /* hash table by signature: the latest cost */
};

/* ---- the order, for the clock ---------------------------------------------------------------- */

/* Settles an operation that has both run and ended; otherwise does nothing. */
void order_settle(struct timeline_op *op);

/* Runs a ready operation. False: `run` returned TIMELINE_NOT_YET, and it is ready again. */
bool order_run(struct timeline_op *op);
/* The same. If a kernel was loaded between it and kernels that wait, runs these before and behind
 * it, and calls the settings' `held_up` for those that it lets go on (loads.c). */
bool loads_run(struct timeline_op *op);
/* A kernel that a load waited for goes on. */
void loads_let_on(struct timeline_op *op);

/* ---- operations that have not run, for the order (ready.c) -------------------------------------
 */

/* Makes room for one more: every operation that has not run may become ready, and ready_add must
 * not fail. Returns false without memory. */
bool ready_make_room(struct timeline *timeline);
/* Puts an operation that waits for nothing among those that may run, and takes it out again. */
void ready_add(struct timeline_op *op);
void ready_remove(struct timeline_op *op);
/* Takes an operation that has run off the list of those that have not. */
void unrun_list_remove(struct timeline_op *op);

#endif
