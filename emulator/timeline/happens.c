/* The happens-before relation, by vector clocks.
 *
 * A track is a sequence of operations, each of which happens before the next. A stream's operations
 * share one track as long as nothing forks them. An operation's clock holds, for every track, the
 * latest operation on it that happens before the operation's end, itself included. The clock starts
 * as what the host knew at submission, and is joined with the clock of each dependency as that one
 * runs.
 *
 * The host is one track. Its threads count as ordered in the way they really ran, because they may
 * order each other by means that the device cannot see (atomics, pipes). So two accesses that host
 * threads order are never reported; a race that only the observed order of host threads hides is
 * not found.
 *
 * Each clock is kept twice, once for each sense of "before" (enum timeline_sense).
 */
#include "emulator/base/array.h"
#include "emulator/timeline/parts.h"

#include <stdlib.h>
#include <string.h>

/* The entries of a clock, by track; 0: no operation of the track. */
static uint32_t (*rows_of(struct happens_clock *clock))[TIMELINE_SENSES]
{
    return clock->more != NULL ? clock->more : clock->few;
}

static const uint32_t *row_of(const struct happens_clock *clock, uint32_t track)
{
    return clock->more != NULL ? clock->more[track] : clock->few[track];
}

static bool clock_reserve(struct happens_clock *clock, uint32_t count)
{
    if (count <= clock->count) return true;
    if (count > HAPPENS_FEW) {
        uint32_t(*grown)[TIMELINE_SENSES] = reallocarray(clock->more, count, sizeof *grown);
        if (grown == NULL) return false;
        if (clock->more == NULL) memcpy(grown, clock->few, sizeof clock->few);
        const uint32_t known = clock->more != NULL ? clock->count : HAPPENS_FEW;
        memset(grown + known, 0, (count - known) * sizeof *grown);
        clock->more = grown;
    }
    clock->count = count;
    return true;
}

/* Joins `other` into `clock` in one sense, up to but not including `but` on its track; a sequence
 * number of 0: all of it. */
static void join_sense(struct happens_clock *clock, const struct happens_clock *other, int sense,
                       struct timeline_when but)
{
    /* Without memory everything counts as ordered, so that no false race is reported. */
    if (other->everything[sense] || !clock_reserve(clock, other->count))
        clock->everything[sense] = true;
    if (clock->everything[sense]) return;
    uint32_t(*rows)[TIMELINE_SENSES] = rows_of(clock);
    for (uint32_t i = 0; i < other->count; i++) {
        uint32_t seen = row_of(other, i)[sense];
        if (but.sequence != 0 && i == but.track && seen >= but.sequence) seen = but.sequence - 1;
        if (seen > rows[i][sense]) rows[i][sense] = seen;
    }
}

/* Joins `other` into `clock` in the sense `first` and in those that it implies. */
static void join_from(struct happens_clock *clock, const struct happens_clock *other,
                      enum timeline_sense first)
{
    for (int sense = first; sense < TIMELINE_SENSES; sense++)
        join_sense(clock, other, sense, (struct timeline_when){0});
}

void happens_join(struct happens_clock *clock, const struct happens_clock *other)
{
    join_from(clock, other, TIMELINE_PROMISED);
}

void happens_follow(struct timeline_op *op, const struct timeline_op *before)
{
    /* What precedes an operation on its track happens before it: track_choose. */
    for (int sense = 0; sense < TIMELINE_SENSES; sense++) {
        const bool early =
            op->work.early == TIMELINE_EARLY ||
            (op->work.early == TIMELINE_EARLY_UNPROMISED && sense == TIMELINE_PROMISED);
        join_sense(&op->clock, &before->clock, sense,
                   early ? before->when : (struct timeline_when){0});
    }
}

static void clock_mark(struct happens_clock *clock, struct timeline_when when)
{
    const bool whole = clock_reserve(clock, when.track + 1);
    for (int sense = 0; sense < TIMELINE_SENSES; sense++) {
        if (!whole)
            clock->everything[sense] = true;
        else if (when.sequence > rows_of(clock)[when.track][sense])
            rows_of(clock)[when.track][sense] = when.sequence;
    }
}

void happens_clear(struct happens_clock *clock)
{
    free(clock->more);
    *clock = (struct happens_clock){0};
}

static uint32_t clock_row(const struct happens_clock *clock, uint32_t track,
                          enum timeline_sense sense)
{
    if (clock->everything[sense]) return UINT32_MAX;
    return track < clock->count ? row_of(clock, track)[sense] : 0;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static uint32_t host_seen(const struct happens *happens, uint32_t track, enum timeline_sense sense)
{
    return larger(clock_row(&happens->host, track, sense), happens->tracks[track].over);
}

static uint32_t clock_seen(const struct happens *happens, const struct happens_clock *clock,
                           uint32_t track, enum timeline_sense sense)
{
    const uint32_t seen = clock_row(clock, track, sense);
    const struct happens_track *of = &happens->tracks[track];
    if (seen >= of->over) return seen;
    return clock_row(clock, HAPPENS_HOST, sense) >= of->since ? of->over : seen;
}

/* Shortens the host's clock by the last tracks, if the host knows that they are over. Only while
 * nothing is pending: an operation that knows of an earlier `since` alone must not run any more. */
static void host_shorten(struct timeline *timeline)
{
    struct happens *happens = &timeline->happens;
    struct happens_clock *host = &happens->host;
    uint32_t count = host->count;
    if (timeline->oldest != NULL) return;
    while (count > HAPPENS_FEW &&
           host_seen(happens, count - 1, TIMELINE_PROMISED) >= happens->tracks[count - 1].last)
        count--;
    if (count == host->count) return;
    const uint32_t now = ++happens->tracks[HAPPENS_HOST].last;
    for (uint32_t i = count; i < host->count; i++)
        happens->tracks[i].over = happens->tracks[i].last, happens->tracks[i].since = now;
    host->count = count;
}

/* Chooses a track whose last operation happens before `op`: that of a dependency, so that a stream
 * keeps its track, otherwise one whose last operation the host has waited for, otherwise a new one.
 * Returns false when the host has no memory. */
static bool track_choose(struct happens *happens, const struct timeline_op *op, uint32_t *track)
{
    const size_t dependencies = op->work.early == TIMELINE_AT_END ? op->before.count : 0;
    for (size_t i = 0; i < dependencies; i++) {
        const struct timeline_when *when = &op->before.ops[i]->when;
        if (happens->tracks[when->track].last != when->sequence) continue;
        *track = when->track;
        return true;
    }
    for (uint32_t i = HAPPENS_HOST + 1; i < happens->count; i++) {
        if (happens->tracks[i].last > clock_seen(happens, &op->clock, i, TIMELINE_PROMISED))
            continue;
        *track = i;
        return true;
    }
    if (!array_reserve(&happens->tracks, happens->count + (size_t)1, &happens->room,
                       sizeof *happens->tracks))
        return false;
    *track = happens->count++;
    return true;
}

bool happens_start(struct happens *happens)
{
    happens->count = HAPPENS_HOST + 1;
    happens->steps = 1;
    return array_reserve(&happens->tracks, happens->count, &happens->room, sizeof *happens->tracks);
}

void happens_end(struct happens *happens)
{
    free(happens->tracks);
    happens_clear(&happens->host);
}

bool happens_enter(struct timeline_op *op)
{
    struct happens *happens = &op->timeline->happens;
    struct timeline_when *when = &op->when;
    op->host_steps = happens->steps;
    happens_join(&op->clock, &happens->host);
    clock_mark(&op->clock,
               (struct timeline_when){HAPPENS_HOST, happens->tracks[HAPPENS_HOST].last});
    if (!track_choose(happens, op, &when->track)) return false;
    when->sequence = ++happens->tracks[when->track].last;
    clock_mark(&op->clock, *when);
    return true;
}

void happens_has_run(struct timeline_op *op)
{
    for (size_t i = 0; i < op->after.count; i++) happens_follow(op->after.ops[i], op);
}

void happens_host_saw(struct timeline *timeline, const struct happens_clock *clock,
                      enum timeline_sense sense)
{
    join_from(&timeline->happens.host, clock, sense);
    timeline->happens.steps++;
    host_shorten(timeline);
}

/* ---- the interface of happens.h -------------------------------------------------------------- */

struct timeline_when timeline_op_when(const struct timeline_op *op)
{
    return op->when;
}

struct timeline_when timeline_host_when(struct timeline *timeline)
{
    struct happens *happens = &timeline->happens;
    happens->steps++;
    return (struct timeline_when){HAPPENS_HOST, ++happens->tracks[HAPPENS_HOST].last};
}

bool timeline_happens_before(struct timeline_when earlier, const struct timeline_op *op,
                             enum timeline_sense sense)
{
    return clock_seen(&op->timeline->happens, &op->clock, earlier.track, sense) >= earlier.sequence;
}

bool timeline_host_knows(const struct timeline *timeline, struct timeline_when earlier,
                         enum timeline_sense sense)
{
    return earlier.track == HAPPENS_HOST ||
           host_seen(&timeline->happens, earlier.track, sense) >= earlier.sequence;
}

bool timeline_host_knows_op(const struct timeline *timeline, const struct timeline_op *op)
{
    return op->when.sequence != 0 && timeline_host_knows(timeline, op->when, TIMELINE_PROMISED);
}

uint64_t timeline_host_steps(const struct timeline *timeline)
{
    return timeline->happens.steps;
}

bool timeline_all_since(const struct timeline *timeline, uint64_t steps)
{
    return timeline->oldest == NULL || timeline->oldest->host_steps >= steps;
}

void timeline_op_follows_all(struct timeline_op *op)
{
    const struct happens *happens = &op->timeline->happens;
    for (uint32_t i = 0; i < happens->count; i++)
        clock_mark(&op->clock, (struct timeline_when){i, happens->tracks[i].last});
}

void timeline_op_follows_host(struct timeline_op *op)
{
    const struct happens *happens = &op->timeline->happens;
    happens_join(&op->clock, &happens->host);
    clock_mark(&op->clock,
               (struct timeline_when){HAPPENS_HOST, happens->tracks[HAPPENS_HOST].last});
}

bool timeline_has_hurried(const struct timeline *timeline)
{
    return timeline->has_hurried;
}

struct timeline_op *timeline_part(struct timeline_op *whole, struct timeline_op *const *after,
                                  size_t count)
{
    struct happens *happens = &whole->timeline->happens;
    struct timeline_op *part = calloc(1, sizeof *part);
    if (part == NULL) return NULL;
    part->references = 1;
    part->timeline = whole->timeline;
    for (size_t i = 0; i < count; i++)
        if (after[i] != NULL) happens_join(&part->clock, &after[i]->clock);
    if (track_choose(happens, part, &part->when.track)) {
        part->when.sequence = ++happens->tracks[part->when.track].last;
        clock_mark(&part->clock, part->when);
        return part;
    }
    timeline_op_release(part);
    return NULL;
}

void timeline_join(struct timeline_op *op, const struct timeline_op *part)
{
    happens_join(&op->clock, &part->clock);
}

void timeline_host_function_begins(struct timeline_op *op)
{
    happens_host_saw(op->timeline, &op->clock, TIMELINE_PROMISED);
}
