#include "grader/evidence/cause.h"
#include "grader/base/messages.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The properties of a phase that are compared. */
struct shown {
    size_t kernels, copies, copied_pageable, in_default, contexts, waits;
    uint64_t bytes;       /* copied */
    double beside;        /* fraction of the copying time during which a kernel ran */
    double at_once;       /* kernels running at once, on average while at least one ran */
    double idle;          /* fraction of the span in which the device did nothing */
    const char *waits_by; /* the call that made the host wait first */
};

static bool is_default(const struct evidence *evidence, const struct trace_record *operation)
{
    const struct trace_record *made =
        evidence_creation(evidence, operation->process, TRACE_STREAM, operation->stream);
    return made != NULL && (made->flags & TRACE_IMPLICIT) != 0;
}

static void count_operations(const struct evidence *evidence, const struct phase *phase,
                             struct shown *shown)
{
    const struct query query = {.phase = phase, .kind = TRACE_OPERATION};

    for (const struct trace_record *r = NULL; (r = evidence_next(evidence, &query, r)) != NULL;) {
        if (r->what == TRACE_KERNEL) shown->kernels++;
        if (r->what != TRACE_COPY) continue;
        shown->copies++;
        shown->bytes += r->bytes;
        shown->in_default += is_default(evidence, r);
        shown->copied_pageable += r->from == TRACE_PAGEABLE || r->to == TRACE_PAGEABLE;
    }
}

static bool makes_wait(const struct trace_record *call)
{
    return strstr(call->name, "Synchronize") != NULL;
}

static bool look(const struct evidence *evidence, const char *name, struct shown *shown)
{
    struct phase phase;
    const struct query calls = {.phase = &phase, .kind = TRACE_CALL},
                       contexts = {.phase = &phase, .kind = TRACE_CREATE, .what = TRACE_CONTEXT},
                       kernels = {.phase = &phase, .what = TRACE_KERNEL},
                       copies = {.phase = &phase, .what = TRACE_COPY}, all = {.phase = &phase};

    memset(shown, 0, sizeof *shown);
    if (!evidence_phase(evidence, name, 0, &phase)) return false;
    count_operations(evidence, &phase, shown);
    shown->contexts = evidence_count(evidence, &contexts);
    for (const struct trace_record *r = NULL; (r = evidence_next(evidence, &calls, r)) != NULL;) {
        if (!makes_wait(r)) continue;
        if (shown->waits++ == 0) shown->waits_by = r->name;
    }
    struct overlap overlap = evidence_overlap(evidence, &kernels, &copies);
    if (overlap.b_ns > 0) shown->beside = (double)overlap.both_ns / (double)overlap.b_ns;
    if (overlap.a_ns > 0) shown->at_once = (double)overlap.a_sum_ns / (double)overlap.a_ns;
    overlap = evidence_overlap(evidence, &all, NULL);
    if (overlap.span_ns > 0) shown->idle = 1 - (double)overlap.a_ns / (double)overlap.span_ns;
    return true;
}

struct clauses {
    char *text;
    size_t used, count;
};

__attribute__((format(printf, 2, 3))) static void clause(struct clauses *clauses,
                                                         const char *format, ...)
{
    va_list list;
    char one[240];

    if (clauses->count == 3) return; /* the largest differences are added first */
    va_start(list, format);
    vsnprintf(one, sizeof one, _(format), list);
    va_end(list);
    const int n = snprintf(clauses->text + clauses->used, CAUSE_SIZE - clauses->used, "%s%s",
                           clauses->count > 0 ? "; " : "", one);
    if (n > 0) clauses->used += (size_t)n;
    clauses->count++;
}

/* Adds a clause for work that overlaps in the reference and is serial in the submission. */
static void say_overlap(struct clauses *clauses, const struct shown *own, const struct shown *other)
{
    if (own->copies > 0 && other->beside > 0.1 && own->beside < other->beside / 2) {
        if (own->beside < 0.005)
            clause(clauses, "copies and kernels never overlap");
        else
            clause(clauses,
                   "%.0f %% of the copying time is beside a kernel, the reference has %.0f %%",
                   own->beside * 100, other->beside * 100);
    }
    if (own->in_default > own->copies / 2 && other->in_default <= other->copies / 2)
        clause(clauses, "%zu of %zu copies went to the default stream", own->in_default,
               own->copies);
    if (own->copied_pageable > other->copied_pageable)
        clause(clauses, "%zu of %zu copies are from or to pageable memory", own->copied_pageable,
               own->copies);
    if (own->kernels > 1 && other->at_once > 1.5 && own->at_once < other->at_once / 2)
        clause(clauses, "%.1f kernels run at once, the reference has %.1f", own->at_once,
               other->at_once);
}

/* Adds clauses for more work than the reference asks for. */
static void say_amount(struct clauses *clauses, const struct shown *own, const struct shown *other)
{
    if (own->contexts > other->contexts)
        clause(clauses, "%zu contexts were made, the reference makes %zu", own->contexts,
               other->contexts);
    if (own->kernels > other->kernels)
        clause(clauses, "%zu kernels ran, the reference needs %zu", own->kernels, other->kernels);
    if (own->bytes > other->bytes + other->bytes / 20)
        clause(clauses, "%.1f MB were copied, the reference copies %.1f MB",
               (double)own->bytes * 1e-6, (double)other->bytes * 1e-6);
    else if (own->copies > other->copies)
        clause(clauses, "%zu copies, the reference makes %zu", own->copies, other->copies);
    if (own->waits > other->waits)
        clause(clauses, "the host waited %zu times (%.*s), the reference %zu times", own->waits,
               TRACE_NAME_SIZE, own->waits_by, other->waits);
    if (own->idle > other->idle + 0.1)
        clause(clauses,
               "the device had nothing to do for %.0f %% of the time, the reference's for "
               "%.0f %%",
               own->idle * 100, other->idle * 100);
}

bool cause_of(const struct evidence *submission, const struct evidence *reference,
              const char *phase, char text[CAUSE_SIZE])
{
    struct shown own, other;
    struct clauses clauses = {.text = text};

    text[0] = '\0';
    if (!look(submission, phase, &own) || !look(reference, phase, &other)) return false;
    say_overlap(&clauses, &own, &other);
    say_amount(&clauses, &own, &other);
    return clauses.count > 0;
}
