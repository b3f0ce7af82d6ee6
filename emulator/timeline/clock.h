/* timeline_clock: when each operation runs in virtual time, by the model of model.h: hardware
 * queues, engines, the second-level cache. The clock never decides in which order operations run;
 * the order (timeline.c) tells it what has run. Private to emulator/timeline.
 */
#ifndef OVERLAP_TIMELINE_CLOCK_H
#define OVERLAP_TIMELINE_CLOCK_H

#include "emulator/timeline/work.h"

#include <stdbool.h>
#include <stdint.h>

struct timeline;
struct timeline_context;
struct timeline_op;

enum { CACHE_PIECES = 1024 };

enum clock_phase {
    CLOCK_HELD,    /* waits for operations that have not ended */
    CLOCK_QUEUED,  /* when it starts depends on the device only */
    CLOCK_STARTED, /* in timeline.running */
    CLOCK_ENDED
};

/* How the data of a cached piece came into the cache. CACHE_FRESH: copied in from the host while
 * none of the piece was there. CACHE_COPIED: copied in over cached data, or written by a copy or
 * memset. CACHE_USED: used by a kernel. */
enum clock_how { CACHE_FRESH, CACHE_COPIED, CACHE_USED };

/* The device's second-level cache, least recently used first out. Pieces that hash to the same
 * entry replace each other. */
struct clock_cache {
    uint64_t brought, fresh; /* totals in bytes: used but not cached; copied in CACHE_FRESH */
    struct clock_piece {
        uint64_t object, bytes;
        uint64_t brought, fresh; /* the cache's totals when the piece came in */
        double left;             /* 0 to 1: the part that was cached when it was copied over */
        bool given_up;           /* copied out or over since a kernel used it */
        enum clock_how how;
        struct clock_piece *newer, *older;
    } pieces[CACHE_PIECES]; /* a hash table, by object */
    struct clock_piece *newest;
};

/* What the cache held of a kernel's data when the kernel started. */
struct clock_cached {
    bool any;                                   /* the kernel touches some known piece */
    bool used;                                  /* all of it is CACHE_USED */
    double left;                                /* 0 to 1: the smallest cached part of a piece */
    double since;                               /* bytes used since the oldest piece was */
    uint64_t brought;                           /* the cache's total then */
    uint64_t fresh, fresh_brought, fresh_bytes; /* of the oldest CACHE_FRESH piece; 0 bytes: none */
    double room;      /* 0 to 1: the part of the cache that was given up */
    uint64_t guessed; /* bytes of pieces whose size the caller did not give; 0: none */
};

/* A hardware queue. Operations start in the order in which they were submitted: one that cannot
 * start holds up those behind it. */
struct clock_queue {
    struct timeline_op *first, *last;
    uint64_t latest;                  /* number of the operation that was queued last */
    struct clock_queue *next, **link; /* of a single operation's queue: its list */
};

/* Which queue an engine serves: it serves a queue until the queue is exhausted, then turns to the
 * next. */
struct clock_turn {
    uint64_t context; /* number; 0: none yet */
    unsigned connection;
    uint64_t since_ns;
};

/* An operation that ended lately, for operations of a host thread whose clock is behind. */
struct clock_past {
    enum timeline_kind kind;
    uint64_t context, start_ns, end_ns;
    struct timeline_cost cost;
};
enum { CLOCK_PAST = 1024 };

/* What the contexts of one device share. Devices slow each other in nothing. */
struct clock_device {
    unsigned number;
    struct clock_cache cache;
    unsigned engines[TIMELINE_KIND_COUNT];  /* operations of each kind that are running */
    uint64_t clear_from_ns, clear_until_ns; /* while freed memory is cleared */
    struct clock_turn
        turns[TIMELINE_KIND_COUNT];     /* one per copy engine; TIMELINE_KERNEL: of kernels */
    double load;                        /* while time passes: by how much it is overloaded, or 1 */
    struct clock_past past[CLOCK_PAST]; /* a ring */
    uint64_t past_count;
    struct clock_device *next;
};

enum { QUEUE_IN, QUEUE_OUT, QUEUE_INSIDE, QUEUE_COMPUTE, QUEUE_COUNT, QUEUE_NONE = QUEUE_COUNT };

/* ---- for the order (timeline.c) -------------------------------------------------------------- */

/* Returns the queue, of QUEUE_IN and so on, for such work; `latest` is the queue of the stream's
 * latest work. */
int clock_queue_of(const struct timeline_work *work, int latest);
/* Returns the device of that number, which exists from then on; NULL: no memory. clock_devices_end
 * frees all. */
struct clock_device *clock_device(struct timeline *timeline, unsigned number);
void clock_devices_end(struct timeline *timeline);
/* Takes in an operation of `context` whose dependencies are complete. */
void clock_enter(struct timeline_op *op, struct timeline_context *context);
/* Ends, at the present virtual time, what is left of a context whose operations have run or are
 * abandoned. */
void clock_context_end(struct timeline_context *context);
/* Returns the ns from the end of `before` to the earliest start of `after`, which waits for it. */
uint64_t clock_gap(const struct timeline_op *before, const struct timeline_op *after);
/* `op` has run, so its cost is known. */
void clock_has_run(struct timeline_op *op);
/* Lets virtual time pass until `op`, which has run, has ended; returns NULL then. Otherwise returns
 * a kernel that holds up op's hardware queue and has not run, so that its end is unknown: the
 * caller runs that kernel and calls again. */
struct timeline_op *clock_until_ended(struct timeline_op *op);
/* Lets virtual time pass, up to `limit_ns`. */
void clock_until(struct timeline *timeline, uint64_t limit_ns);
/* Ends, at the present virtual time, kernels that have not run and have passed their guessed
 * duration. Returns whether there were any. */
bool clock_end_overdue(struct timeline *timeline);
bool clock_any_overdue(const struct timeline *timeline);
/* Returns whether nothing further will happen without a new operation or the end of an overdue
 * one. */
bool clock_is_stuck(const struct timeline *timeline);

/* ---- the cache, for the clock ---------------------------------------------------------------- */

/* `op` starts: records what it brings into the cache and, for a kernel, what the cache holds of its
 * data. */
void cache_start(struct timeline_op *op);
/* Returns how many times faster a kernel runs because of what the cache holds of its data now. */
double cache_rate(const struct timeline_op *op);
/* `op` ends: a kernel has brought what it touched into the cache. */
void cache_end(const struct timeline_op *op);

#endif
