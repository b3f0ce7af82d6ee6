/* timeline_clock: when each operation runs, in virtual time, by the model of model.h: hardware
 * queues, engines, the second-level cache. It never decides in which order operations run; it is
 * told. Private to emulator/timeline.
 */
#ifndef OVERLAP_TIMELINE_CLOCK_H
#define OVERLAP_TIMELINE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct timeline;
struct timeline_context;
struct timeline_op;
struct timeline_work;

enum { CACHE_PIECES = 1024 };

enum clock_phase {
    CLOCK_HELD,    /* for operations that have not ended */
    CLOCK_QUEUED,  /* its time to start depends on the device only */
    CLOCK_STARTED, /* in timeline.running */
    CLOCK_ENDED
};

/* How a piece came into the cache: copied in from the host where nothing of it was; copied in or
 * written over what was there; used by a kernel. */
enum clock_how { CACHE_FRESH, CACHE_COPIED, CACHE_USED };

/* The device's second-level cache, which forgets what was used longest ago. Small pieces that share
 * a place drive each other out. */
struct clock_cache {
    uint64_t brought, fresh; /* bytes, since the beginning: used that were not there; CACHE_FRESH */
    struct clock_piece {
        uint64_t object, bytes;
        uint64_t brought, fresh; /* the cache's, when it was */
        double left;             /* 0 to 1: so much of it was there when it was copied over */
        bool given_up;           /* copied out or over since it was used */
        enum clock_how how;
        struct clock_piece *newer, *older;
    } pieces[CACHE_PIECES]; /* by object */
    struct clock_piece *newest;
};

/* What of a kernel's data was there when it started. */
struct clock_cached {
    bool any;                                   /* there is something that it touches */
    bool used;                                  /* all of it is CACHE_USED */
    double left;                                /* of that of which the least was there, 0 to 1 */
    double since;                               /* bytes used since the oldest of it was */
    uint64_t brought;                           /* the cache's, then */
    uint64_t fresh, fresh_brought, fresh_bytes; /* of the oldest CACHE_FRESH; 0 bytes: none is */
    double room;      /* of the cache, for that: what was given up, 0 to 1 */
    uint64_t guessed; /* bytes, of that which nobody has said the size of; 0: none */
};

/* First in, first started: an operation that cannot start holds up those behind it. */
struct clock_queue {
    struct timeline_op *first, *last;
    uint64_t latest;                  /* number of the latest that came into it */
    struct clock_queue *next, **link; /* of queues that are one operation's: a context's list */
};

/* Whose turn it is: an engine serves a queue to its end before it turns to the next. */
struct clock_turn {
    uint64_t context; /* number; 0: nobody's yet */
    unsigned connection;
    uint64_t since_ns;
};

enum { QUEUE_IN, QUEUE_OUT, QUEUE_INSIDE, QUEUE_COMPUTE, QUEUE_COUNT, QUEUE_NONE = QUEUE_COUNT };

/* ---- for the order --------------------------------------------------------------------------- */

/* The queue that work of this kind waits in, where the stream's latest was in `latest`. */
int clock_queue_of(const struct timeline_work *work, int latest);
/* Takes in an operation of `context` with all its dependencies. */
void clock_enter(struct timeline_op *op, struct timeline_context *context);
/* Ends, at the present, all that is left of a context whose operations have run or are abandoned.
 */
void clock_context_end(struct timeline_context *context);
/* From the end of one operation to the earliest start of another that waits for it. */
uint64_t clock_gap(const struct timeline_op *before, const struct timeline_op *after);
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
/* How many times as fast a kernel is for what of its data is there now. */
double cache_rate(const struct timeline_op *op);
/* The operation ends: a kernel has brought in what it touched. */
void cache_end(const struct timeline_op *op);

#endif
