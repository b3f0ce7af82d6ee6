#include "grader/evidence/rounds.h"
#include "grader/child/control.h"
#include "trace/large.h"

#include <stdlib.h>
#include <string.h>

/* Kinds of records that every round needs: loaded modules, settings of the device, call stacks. */
#define EVERYWHERE                                                                                 \
    (TRACE_KIND_BIT(TRACE_MODULE) | TRACE_KIND_BIT(TRACE_SETTING) | TRACE_KIND_BIT(TRACE_STACK))

static void *copy_of(const void *bytes, size_t size)
{
    void *copy = large_take(size);
    if (copy != NULL && size > 0) memcpy(copy, bytes, size);
    return copy;
}

/* Finds the round's marks, as indices; false: the round did not come to its end. */
static bool find(const struct evidence *whole, unsigned round, size_t *first, size_t *last)
{
    struct phase phase;
    if (!evidence_phase(whole, CONTROL_ROUND_PHASE, round, &phase)) return false;
    *first = phase.first;
    *last = phase.last;
    return true;
}

static size_t asked_for_at(const struct evidence *whole, size_t i)
{
    const struct trace_record *r = &whole->trace.records[i];
    const struct trace_record *call =
        r->kind == TRACE_OPERATION ? evidence_call_of(whole, r) : NULL;
    return call != NULL ? (size_t)(call - whole->trace.records) : i;
}

/* Takes the records of the round, and those from before all rounds. Returns 0, or -1: no memory. */
static int take_records(const struct evidence *whole, unsigned round, struct evidence *one)
{
    size_t first = 0, last = 0, begin = 0, end = 0, count = 0;
    const bool known = find(whole, round, &first, &last);
    size_t *chosen = malloc((whole->trace.count + 1) * sizeof *chosen);
    if (chosen == NULL) return -1;
    if (!find(whole, 0, &begin, &end)) begin = 0;
    for (size_t i = 0; i < whole->trace.count; i++) {
        const size_t at = asked_for_at(whole, i);
        if ((known && at > first && at < last) || at < begin ||
            (TRACE_KIND_BIT(whole->trace.records[i].kind) & EVERYWHERE))
            chosen[count++] = i;
    }
    struct trace_record *records = large_take(count * sizeof *records);
    for (size_t i = 0; records != NULL && i < count; i++)
        records[i] = whole->trace.records[chosen[i]];
    free(chosen);
    one->trace.records = records;
    one->trace.count = count;
    return records != NULL ? 0 : -1;
}

int rounds_take(const struct evidence *whole, unsigned round, struct evidence *one)
{
    const struct control_round *part = &whole->rounds.round[round];

    *one = *whole;
    one->rounds.count = 0;
    one->unrecorded = !part->recorded;
    one->index = NULL;
    one->trace.records = NULL;
    one->input = copy_of((const char *)whole->input + part->input, part->input_size);
    one->input_size = part->input_size;
    one->output = copy_of((const char *)whole->output + part->output, part->output_size);
    one->output_size = part->output_size;
    one->printed = calloc(1, 1);
    one->printed_size = 0;
    if (one->input != NULL && one->output != NULL && one->printed != NULL &&
        take_records(whole, round, one) == 0 && evidence_index_build(one) == 0) {
        evidence_seal(one);
        return 0;
    }
    evidence_release(one);
    return -1;
}

const struct trace_record *rounds_call_between(const struct evidence *whole)
{
    const struct trace_record *call =
        NULL; /* between rounds; calls after the last round do not count */
    bool between = false;

    for (size_t i = 0; i < whole->trace.count; i++) {
        const struct trace_record *r = &whole->trace.records[i];
        if (r->kind == TRACE_MARK && strncmp(r->name, CONTROL_ROUND_PHASE, sizeof r->name) == 0) {
            between = (r->flags & TRACE_END) != 0;
            if (!between && call != NULL) return call;
        } else if (between && call == NULL && r->kind == TRACE_CALL) {
            call = r;
        }
    }
    return NULL;
}
