/* timeline_seen: vector clocks over all tracks: for each operation, and for the host, what is known
 * to happen before. happens.c explains tracks; happens.h is the interface for other modules.
 * Private to emulator/timeline.
 */
#ifndef OVERLAP_TIMELINE_SEEN_H
#define OVERLAP_TIMELINE_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emulator/timeline/happens.h"

/* A vector clock: for every track the sequence number of the latest operation on it that is known
 * to happen before, in each sense; 0: none. What is promised also holds in the sense
 * TIMELINE_ON_GPUS. */
enum { HAPPENS_FEW = 4 };
struct happens_clock {
    uint32_t (*more)[TIMELINE_SENSES]; /* by track, from malloc; NULL: `few` is used */
    uint32_t few[HAPPENS_FEW][TIMELINE_SENSES];
    uint32_t count;                   /* tracks that have an entry */
    bool everything[TIMELINE_SENSES]; /* every operation counts as before: memory was lacking */
};

enum { HAPPENS_HOST = 0 }; /* the host's track */

/* A track. The host knows, since its own point `since`, that the operations up to `over` are over:
 * they happen before everything that knows of that point. So many tracks that are not used any more
 * do not lengthen the clocks of later operations. */
struct happens_track {
    uint32_t last; /* sequence number of the latest operation */
    uint32_t over, since;
};

struct happens {
    struct happens_track *tracks;
    uint32_t count;
    size_t room;
    struct happens_clock host; /* what the host has waited for */
    uint64_t steps;            /* timeline_host_steps */
};

bool happens_start(struct happens *happens);
void happens_end(struct happens *happens);
void happens_join(struct happens_clock *clock, const struct happens_clock *other);
void happens_clear(struct happens_clock *clock);
/* Assigns a track and a sequence number to an operation whose dependencies are complete. Returns
 * false when the host has no memory. */
bool happens_enter(struct timeline_op *op);
/* Joins into the clock of `op` what happens before it by its dependency `before`, which has run. */
void happens_follow(struct timeline_op *op, const struct timeline_op *before);
/* Joins the operation's clock, which is now complete, into the clocks of its dependents. */
void happens_has_run(struct timeline_op *op);
/* The host has waited for everything in `clock`, by a promise or because GPUs do. */
void happens_host_saw(struct timeline *timeline, const struct happens_clock *clock,
                      enum timeline_sense sense);

#endif
