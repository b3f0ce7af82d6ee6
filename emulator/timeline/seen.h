/* timeline_seen: what each operation, and the host, know to have happened before: clocks over all
 * tracks. How others ask for it is happens.h. Private to emulator/timeline.
 */
#ifndef OVERLAP_TIMELINE_SEEN_H
#define OVERLAP_TIMELINE_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emulator/timeline/happens.h"

/* For every track the latest operation on it that is known to happen before, in each sense. What is
 * promised is kept on GPUs as well. */
enum { HAPPENS_FEW = 4 };
struct happens_clock {
    uint32_t (*more)[TIMELINE_SENSES]; /* by track, from malloc; NULL: they are few */
    uint32_t few[HAPPENS_FEW][TIMELINE_SENSES];
    uint32_t count;                   /* of tracks that are known of */
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

#endif
