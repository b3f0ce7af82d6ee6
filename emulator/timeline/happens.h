/* timeline's order of what has run: what happens before what, by stream order, events and the
 * host's waits. It stays meaningful when operations are gone. Under the caller's lock, as all of
 * timeline.
 */
#ifndef OVERLAP_TIMELINE_HAPPENS_H
#define OVERLAP_TIMELINE_HAPPENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct timeline;
struct timeline_op;

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
/* Has it run, and has the host waited for it? */
bool timeline_host_knows_op(const struct timeline *timeline, const struct timeline_op *op);
/* Is everything that has yet to run, or to be submitted, promised to happen after it? */
bool timeline_all_follow(const struct timeline *timeline, struct timeline_when earlier);
/* For `run`: `op` waited for a value in memory, so that whatever has happened may be ordered before
 * it. */
void timeline_op_follows_all(struct timeline_op *op);
/* For `run`: a part of what `whole`, a running operation, does, that happens after `after` and
 * before or after nothing else, until somebody joins it. It is an operation for the functions above
 * and nothing else; its only reference is given (timeline_op_release). NULL: no memory. */
struct timeline_op *timeline_part(struct timeline_op *whole, struct timeline_op *const *after,
                                  size_t count);
/* All that happens before the end of `part` happens before that of `op`: a part, or the whole. */
void timeline_join(struct timeline_op *op, const struct timeline_op *part);
/* `op`, a host function, is about to be called: it may tell other host threads, by means that
 * nobody sees, that what happens before it is done. */
void timeline_host_function_begins(struct timeline_op *op);
/* And has returned: other host threads may have told it of all that they have done by now. */
void timeline_host_function_ends(struct timeline_op *op);

#endif
