/* What happens before what, by vector clocks.
 *
 * Operations lie on tracks: on one track each happens before the next. A stream's operations share
 * one as long as nothing forks them. An operation's clock says, for every track, the latest
 * operation on it that happens before its end, itself included. It is what the host knew when it
 * submitted the operation, joined with the clocks of all that it depends on, each as that one runs.
 *
 * The host is one track: its threads count as ordered the way they really ran, since they may order
 * each other by means that nobody sees (atomics, pipes). What is accused is therefore never
 * excused by another thread; a race that only the threads' order hides is not found.
 *
 * Each clock is kept twice, once for each sense of "before" (enum timeline_sense).
 */
#include "emulator/base/array.h"
#include "emulator/timeline/parts.h"

#include <stdlib.h>
#include <string.h>

static bool seen_reserve(struct happens_seen *seen, uint32_t count)
{
    if (count <= seen->count) return true;
    uint32_t *grown = reallocarray(seen->seen, count, sizeof *grown);
    if (grown == NULL) return false;
    memset(grown + seen->count, 0, (count - seen->count) * sizeof *grown);
    seen->seen = grown;
    seen->count = count;
    return true;
}

static void seen_join(struct happens_seen *seen, const struct happens_seen *other)
{
    if (seen->everything) return;
    if (other->everything || !seen_reserve(seen, other->count)) {
        seen->everything = true; /* no memory: nothing is accused for want of it */
        return;
    }
    for (uint32_t i = 0; i < other->count; i++)
        if (other->seen[i] > seen->seen[i]) seen->seen[i] = other->seen[i];
}

void happens_join(struct happens_clock *clock, const struct happens_clock *other)
{
    for (int sense = 0; sense < TIMELINE_SENSES; sense++)
        seen_join(&clock->senses[sense], &other->senses[sense]);
}

static void seen_mark(struct happens_seen *seen, struct timeline_when when)
{
    if (seen->everything) return;
    if (!seen_reserve(seen, when.track + 1))
        seen->everything = true;
    else if (when.sequence > seen->seen[when.track])
        seen->seen[when.track] = when.sequence;
}

static void clock_mark(struct happens_clock *clock, struct timeline_when when)
{
    for (int sense = 0; sense < TIMELINE_SENSES; sense++) seen_mark(&clock->senses[sense], when);
}

void happens_clear(struct happens_clock *clock)
{
    for (int sense = 0; sense < TIMELINE_SENSES; sense++) free(clock->senses[sense].seen);
    *clock = (struct happens_clock){0};
}

static uint32_t clock_seen(const struct happens_clock *clock, uint32_t track,
                           enum timeline_sense sense)
{
    const struct happens_seen *seen = &clock->senses[sense];
    if (seen->everything) return UINT32_MAX;
    return track < seen->count ? seen->seen[track] : 0;
}

/* A track whose last operation happens before `op`: one of its dependencies', so that streams keep
 * theirs, else any that the host has seen the end of, else a new one. */
static bool track_choose(struct happens *happens, const struct timeline_op *op, uint32_t *track)
{
    for (size_t i = 0; i < op->before_count; i++) {
        const struct timeline_when *when = &op->before[i]->when;
        if (happens->last[when->track] != when->sequence) continue;
        *track = when->track;
        return true;
    }
    for (uint32_t i = HAPPENS_HOST + 1; i < happens->tracks; i++) {
        if (happens->last[i] > clock_seen(&op->clock, i, TIMELINE_PROMISED)) continue;
        *track = i;
        return true;
    }
    if (!array_reserve(&happens->last, happens->tracks + (size_t)1, &happens->room,
                       sizeof *happens->last))
        return false;
    *track = happens->tracks++;
    return true;
}

bool happens_start(struct happens *happens)
{
    happens->tracks = HAPPENS_HOST + 1;
    return array_reserve(&happens->last, happens->tracks, &happens->room, sizeof *happens->last);
}

void happens_end(struct happens *happens)
{
    free(happens->last);
    happens_clear(&happens->host);
}

bool happens_enter(struct timeline_op *op)
{
    struct happens *happens = &op->timeline->happens;
    struct timeline_when *when = &op->when;
    happens_join(&op->clock, &happens->host);
    clock_mark(&op->clock, (struct timeline_when){HAPPENS_HOST, happens->last[HAPPENS_HOST]});
    if (!track_choose(happens, op, &when->track)) return false;
    when->sequence = ++happens->last[when->track];
    clock_mark(&op->clock, *when);
    return true;
}

void happens_has_run(struct timeline_op *op)
{
    for (size_t i = 0; i < op->after_count; i++) happens_join(&op->after[i]->clock, &op->clock);
}

void happens_host_saw(struct timeline *timeline, const struct happens_clock *clock,
                      enum timeline_sense sense)
{
    if (sense == TIMELINE_PROMISED)
        happens_join(&timeline->happens.host, clock);
    else
        seen_join(&timeline->happens.host.senses[sense], &clock->senses[sense]);
}

/* ---- for whoever asks ------------------------------------------------------------------------ */

struct timeline_when timeline_op_when(const struct timeline_op *op)
{
    return op->when;
}

struct timeline_when timeline_host_when(struct timeline *timeline)
{
    struct happens *happens = &timeline->happens;
    return (struct timeline_when){HAPPENS_HOST, ++happens->last[HAPPENS_HOST]};
}

bool timeline_happens_before(struct timeline_when earlier, const struct timeline_op *op,
                             enum timeline_sense sense)
{
    return clock_seen(&op->clock, earlier.track, sense) >= earlier.sequence;
}

bool timeline_host_knows(const struct timeline *timeline, struct timeline_when earlier,
                         enum timeline_sense sense)
{
    return earlier.track == HAPPENS_HOST ||
           clock_seen(&timeline->happens.host, earlier.track, sense) >= earlier.sequence;
}

bool timeline_all_follow(const struct timeline *timeline, struct timeline_when earlier)
{
    if (!timeline_host_knows(timeline, earlier, TIMELINE_PROMISED)) return false;
    for (const struct timeline_op *op = timeline->oldest; op != NULL; op = op->younger)
        if (!timeline_happens_before(earlier, op, TIMELINE_PROMISED)) return false;
    return true;
}

void timeline_op_follows_all(struct timeline_op *op)
{
    for (int sense = 0; sense < TIMELINE_SENSES; sense++) op->clock.senses[sense].everything = true;
}

void timeline_host_function_begins(struct timeline_op *op)
{
    happens_host_saw(op->timeline, &op->clock, TIMELINE_PROMISED);
}

void timeline_host_function_ends(struct timeline_op *op)
{
    const struct happens *happens = &op->timeline->happens;
    happens_join(&op->clock, &happens->host);
    clock_mark(&op->clock, (struct timeline_when){HAPPENS_HOST, happens->last[HAPPENS_HOST]});
}
