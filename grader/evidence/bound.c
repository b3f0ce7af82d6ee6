#include "grader/evidence/bound.h"
#include "grader/base/messages.h"

#include <stddef.h>
#include <string.h>

static double seconds_of(const struct trace_record *r)
{
    return r->end_ns > r->start_ns ? (double)(r->end_ns - r->start_ns) * 1e-9 : 0;
}

/* Returns the longest duration of the matching records, in seconds. */
static double longest(const struct evidence *reference, const struct query *query)
{
    double most = 0;

    for (const struct trace_record *r = NULL; (r = evidence_next(reference, query, r)) != NULL;)
        if (seconds_of(r) > most) most = seconds_of(r);
    return most;
}

/* Returns the seconds in which at least one matching operation was running. */
static double busy(const struct evidence *reference, const struct query *query)
{
    return (double)evidence_overlap(reference, query, NULL).a_ns * 1e-9;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double of_copies(const struct evidence *reference, const struct phase *phase)
{
    const struct query in = {.phase = phase, .what = TRACE_COPY, .to = TRACE_DEVICE},
                       out = {.phase = phase, .what = TRACE_COPY, .from = TRACE_DEVICE},
                       kernels = {.phase = phase, .kind = TRACE_OPERATION, .what = TRACE_KERNEL};
    return larger(larger(busy(reference, &in), busy(reference, &out)),
                  longest(reference, &kernels));
}

/* Returns the seconds spent in calls that make or end a context; time in which several threads are
 * in such calls counts once. The records are in the order in which the calls returned. */
static double of_contexts(const struct evidence *reference, const struct phase *phase)
{
    const struct query calls = {.phase = phase, .kind = TRACE_CALL, .name = "cuCtx*"};
    uint64_t until = 0;
    double seconds = 0;

    for (const struct trace_record *r = NULL; (r = evidence_next(reference, &calls, r)) != NULL;) {
        const uint64_t from = r->start_ns > until ? r->start_ns : until;
        if (strncmp(r->name, "cuCtxCreate", 11) != 0 && strncmp(r->name, "cuCtxDestroy", 12) != 0)
            continue;
        if (r->end_ns > from) seconds += (double)(r->end_ns - from) * 1e-9;
        if (r->end_ns > until) until = r->end_ns;
    }
    return seconds;
}

/* Returns true for memory that the device works on, managed memory included. */
static bool is_devices(uint32_t place)
{
    return place == TRACE_DEVICE || place == TRACE_ARRAY || place == TRACE_MANAGED;
}

struct work work_of(const struct evidence *evidence, const char *name)
{
    struct phase phase;
    const struct query kernels = {.phase = &phase, .kind = TRACE_OPERATION, .what = TRACE_KERNEL};

    const struct query copies = {.phase = &phase, .kind = TRACE_OPERATION, .what = TRACE_COPY};
    struct work work = {0};
    if (!evidence_phase(evidence, name, 0, &phase)) return work;
    for (const struct trace_record *r = NULL; (r = evidence_next(evidence, &copies, r)) != NULL;) {
        if (r->from == TRACE_DEVICE && r->to == TRACE_DEVICE) continue;
        if (is_devices(r->to)) work.bytes_in += r->bytes;
        if (is_devices(r->from)) work.bytes_out += r->bytes;
    }
    /* Contexts are time-sliced: a kernel's time includes the work of other contexts, and how many
     * of them run beside it is chance. */
    if (evidence->plan->threshold->bound != BOUND_CONTEXTS)
        work.kernel_s = longest(evidence, &kernels);
    return work;
}

double bound_of(const struct evidence *reference, const char *name)
{
    const struct threshold *threshold = reference->plan->threshold;
    struct phase phase;
    const struct query work = {.phase = &phase};
    double seconds = 0;

    if (!evidence_phase(reference, name, 0, &phase)) return 0;
    switch (threshold->bound) {
    case BOUND_STEPS:
    case BOUND_READING:
        seconds = busy(reference, &work);
        break;
    case BOUND_COPIES:
        seconds = of_copies(reference, &phase);
        break;
    case BOUND_NONE:
        break;
    case BOUND_CONTEXTS:
        seconds = of_contexts(reference, &phase);
        break;
    }
    return threshold->part * seconds;
}

const char *bound_in_words(enum threshold_bound bound)
{
    static const char *const words[] = {
        [BOUND_STEPS] = N_("the work on the device, which has to be done step by step,"),
        [BOUND_COPIES] = N_("the longest of copying in, copying out and one kernel"),
        [BOUND_CONTEXTS] = N_("making and ending the contexts"),
        [BOUND_READING] = N_("the work on the device"),
        [BOUND_NONE] = "", /* no time is below it */
    };
    return _(words[bound]);
}
