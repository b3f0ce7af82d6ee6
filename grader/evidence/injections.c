#include "grader/evidence/injections.h"
#include "grader/evidence/waits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct candidate {
    const struct trace_record *call;
    uint32_t phase;
    size_t number; /* index among the calls of its function that can fail, from 1 */
    bool wanted;
    bool first; /* the first call of its line */
};

static bool same_line(const struct candidate *a, const struct candidate *b)
{
    return a->phase == b->phase && a->call->caller == b->call->caller &&
           strcmp(a->call->name, b->call->name) == 0;
}

/* Returns true for a call that can be made to fail. Calls of the C library count only on the
 * student's own lines. */
static bool can_fail(const struct evidence *evidence, const struct trace_record *record)
{
    if (!(record->flags & TRACE_CAN_FAIL)) return false;
    return record->kind == TRACE_CALL ||
           (record->kind == TRACE_HOST_CALL && evidence_by_submission(evidence, record));
}

/* Returns true for a call that makes a device, or a context, current. */
static bool sets_current(const struct trace_record *call)
{
    return strcmp(call->name, "cudaSetDevice") == 0 || strcmp(call->name, "cuCtxSetCurrent") == 0 ||
           strcmp(call->name, "cuCtxPushCurrent") == 0;
}

/* Returns true for a call that makes something current and behind which its thread asks for nothing
 * any more, and only waits or releases: it restores something, or reaches what is to be released,
 * and like a release is not made to fail, so that every path of a program can clean up. */
static bool restores(const struct evidence *evidence, const struct phase *phase,
                     const struct trace_record *call)
{
    if (!sets_current(call)) return false;
    for (const struct trace_record *r = call + 1; r <= evidence->trace.records + phase->last; r++)
        if (r->kind == TRACE_CALL && r->thread == call->thread &&
            (r->flags & TRACE_CAN_FAIL) != 0 && !sets_current(r) &&
            strstr(r->name, "Synchronize") == NULL)
            return false;
    return true;
}

/* Returns how many calls of the function, which can fail as well, were left out of the record. */
static size_t left_out_before(const struct trace_record *record)
{
    return record->kind == TRACE_CALL ? record->count : 0;
}

/* Appends all calls in the phase that can fail. Returns the new number of candidates. */
static size_t collect(const struct evidence *evidence, const struct phase *phase, uint32_t number,
                      struct candidate *all, size_t count)
{
    const struct trace_record *records = evidence->trace.records;
    for (size_t i = phase->first; i <= phase->last; i++) {
        if (!can_fail(evidence, &records[i]) || restores(evidence, phase, &records[i])) continue;
        struct candidate *candidate = &all[count++];
        *candidate = (struct candidate){.call = &records[i], .phase = number};
        for (size_t k = 0; k <= i; k++)
            if (records[k].kind == records[i].kind && (records[k].flags & TRACE_CAN_FAIL) != 0 &&
                strcmp(records[k].name, records[i].name) == 0)
                candidate->number += 1 + left_out_before(&records[k]);
    }
    return count;
}

/* Marks the first and the last call of each line as wanted. Returns how many were marked. */
static size_t want_ends(struct candidate *all, size_t count)
{
    size_t wanted = 0;
    for (size_t i = 0; i < count; i++) {
        bool before = false, after = false;
        for (size_t k = 0; k < count; k++) {
            before = before || (k < i && same_line(&all[k], &all[i]));
            after = after || (k > i && same_line(&all[k], &all[i]));
        }
        all[i].first = !before;
        all[i].wanted = !before || !after;
        wanted += all[i].wanted;
    }
    return wanted;
}

/* Marks `room` of the `others` that are not wanted yet, evenly spaced. */
static void want_evenly(struct candidate *all, size_t count, size_t others, size_t room)
{
    size_t seen = 0;
    for (size_t i = 0; i < count; i++) {
        if (all[i].wanted) continue;
        all[i].wanted = (seen + 1) * room / others > seen * room / others;
        seen++;
    }
}

static bool is_an_answer(const struct lesson *lesson, const struct trace_record *call)
{
    for (const char *const *name = lesson->answers; name != NULL && *name != NULL; name++)
        if (strcmp(*name, call->name) == 0) return true;
    return false;
}

size_t injections_choose(const struct evidence *evidence, struct injection *chosen, size_t most,
                         size_t *calls)
{
    struct phase phase;
    size_t count = 0, written = 0;

    *calls = 0;
    struct candidate *all = calloc(evidence->trace.count + 1, sizeof *all);
    if (all == NULL) return 0;
    const bool ends_only = evidence->plan != NULL && (evidence->plan->flags & RUN_ENDS) != 0;
    /* Without RUN_ENDS calls of one line count together, in whichever phases they are. */
    for (uint32_t i = 0; evidence_phase(evidence, DRIVE_INJECTIONS, i, &phase); i++)
        count = collect(evidence, &phase, ends_only ? i : 0, all, count);
    *calls = count;
    const size_t ends = want_ends(all, count);
    const size_t others = count - ends, room = ends < most && !ends_only ? most - ends : 0;
    if (others > 0) want_evenly(all, count, others, others < room ? others : room);
    for (size_t i = 0; i < count && written < most; i++) {
        if (!all[i].wanted) continue;
        chosen[written].of_host = all[i].call->kind == TRACE_HOST_CALL;
        snprintf(chosen[written++].which, sizeof chosen->which, "%s:%zu", all[i].call->name,
                 all[i].number);
    }
    /* A lost context is reported by every later call as well. So each line's first query is also
     * made to fail alone, with an error that only this call returns. */
    for (size_t i = 0; i < count && written < most; i++) {
        if (!all[i].first || !waits_query(all[i].call)) continue;
        if (is_an_answer(evidence->lesson, all[i].call)) continue;
        chosen[written].of_host = false;
        snprintf(chosen[written++].which, sizeof chosen->which, "%s:%zu:alone", all[i].call->name,
                 all[i].number);
    }
    free(all);
    return written;
}
