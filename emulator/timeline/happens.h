/* The happens-before relation of operations and the host: by stream order, events and the host's
 * waits. Points in it stay valid when operations are freed. The caller holds its lock, as for all
 * of timeline.
 */
#ifndef OVERLAP_TIMELINE_HAPPENS_H
#define OVERLAP_TIMELINE_HAPPENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct timeline;
struct timeline_op;

/* The two senses of "happens before": what the documentation promises, and what GPUs do. A wait
 * that is only a habit of GPUs orders in the second sense alone. */
enum timeline_sense { TIMELINE_PROMISED, TIMELINE_ON_GPUS, TIMELINE_SENSES };

/* A point of the relation: an operation, or a point in the host's program. It stays valid when the
 * operation is freed. */
struct timeline_when {
    uint32_t track, sequence;
};

struct timeline_when timeline_op_when(const struct timeline_op *op);
/* Creates a new point in the host's program: operations submitted from now on happen after it. */
struct timeline_when timeline_host_when(struct timeline *timeline);

/* Returns whether `earlier` happens before `op`, by stream order, events and the host's waits. `op`
 * is running; or it has run, and the host has not waited since while nothing was pending. */
bool timeline_happens_before(struct timeline_when earlier, const struct timeline_op *op,
                             enum timeline_sense sense);
/* Returns whether the host has waited for `earlier`; always true for a point of the host's
 * program. */
bool timeline_host_knows(const struct timeline *timeline, struct timeline_when earlier,
                         enum timeline_sense sense);
/* Returns whether `op` has run and the host has waited for it. */
bool timeline_host_knows_op(const struct timeline *timeline, const struct timeline_op *op);
/* Counts, from 1 on, the points of the host's program and the waits by which it came to know of
 * more. */
uint64_t timeline_host_steps(const struct timeline *timeline);
/* Returns whether everything that has yet to run or to be submitted was submitted when
 * timeline_host_steps was at least `steps`. It then happens after all that the host knew of at that
 * count, its own points included. */
bool timeline_all_since(const struct timeline *timeline, uint64_t steps);
/* Called from `run`: `op` has learnt a value from memory. From now on everything that was submitted
 * before this call counts as happening before it, because any of it may have led to that value. */
void timeline_op_follows_all(struct timeline_op *op);
/* Called from `run`: the host may have told `op` of everything that it knows and has done by now,
 * so that this happens before the end of `op`. */
void timeline_op_follows_host(struct timeline_op *op);
/* Returns whether another process may look at memory (timeline_hurry): then nobody knows what
 * follows what through it. */
bool timeline_has_hurried(const struct timeline *timeline);
/* Called from `run`: creates a part of `whole`, a running operation. The part happens after the
 * operations `after` and is otherwise unordered until timeline_join. It may be passed only to the
 * functions of this header and to timeline_op_release, which drops its only reference. Returns NULL
 * when the host has no memory. */
struct timeline_op *timeline_part(struct timeline_op *whole, struct timeline_op *const *after,
                                  size_t count);
/* Makes everything that happens before the end of `part` happen before the end of `op`, which is
 * another part or the whole. */
void timeline_join(struct timeline_op *op, const struct timeline_op *part);
/* `op`, a host function, is about to be called. It may tell other host threads, by means that the
 * device cannot see, that what happens before it is done; so the host is ordered after that. */
void timeline_host_function_begins(struct timeline_op *op);

#endif
