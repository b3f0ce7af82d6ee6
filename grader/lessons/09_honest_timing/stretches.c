#include "grader/lessons/09_honest_timing/stretches.h"

#include "grader/evidence/waits.h"

#include <math.h>
#include <string.h>

#define ROUNDING 1e-6 /* relative error of a time stored in a float */
#define OWN_NS 1.0    /* plus one nanosecond */

const char *const timing_names[TIMING_COUNT] = {"first", "launch", "waited", "transfers", "kernel"};

bool stretches_asks_for_an_error(const struct trace_record *call)
{
    static const char *const names[] = {"cudaGetLastError", "cudaPeekAtLastError",
                                        "cudaGetErrorName", "cudaGetErrorString",
                                        "cuGetErrorName",   "cuGetErrorString"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(call->name, names[i]) == 0) return true;
    return false;
}

static bool begins_with_any(const char *name, const char *const *beginnings)
{
    for (; *beginnings != NULL; beginnings++)
        if (strncmp(name, *beginnings, strlen(*beginnings)) == 0) return true;
    return false;
}

/* ---- kinds of calls ------------------------------------------------------------------------ */

static bool asked_for(const struct evidence *evidence, const struct trace_record *call,
                      uint32_t what)
{
    const struct trace_record *operation = evidence_operation_of(evidence, call);
    return operation != NULL && operation->what == what;
}

/* Returns true for a call that belongs to a wait: an event must be recorded before it can be waited
 * for. */
static bool is_part_of_a_wait(const struct trace_record *call)
{
    static const char *const events[] = {"cudaEventRecord", "cuEventRecord", "cudaStreamWaitEvent",
                                         "cuStreamWaitEvent", NULL};
    return waits_call(call) || begins_with_any(call->name, events);
}

static bool has_its_place(const struct evidence *evidence, const struct trace_record *call,
                          enum timing_which which)
{
    static const char *const launches[] = {"cudaLaunch", "cuLaunch", "cudaGraphLaunch",
                                           "cuGraphLaunch", NULL},
                             *const copies[] = {"cudaMemcpy", "cuMemcpy", NULL},
                             *const loads[] = {"cuLibrary", "cuModule", "cuKernel", NULL};
    const bool copies_too = which == TIMING_TRANSFERS;
    if (stretches_asks_for_an_error(call)) return true;
    /* A kernel's code is loaded when it is first used: on a GPU, by calls of nvcc's stub before the
     * launch. */
    if (begins_with_any(call->name, loads)) return which == TIMING_FIRST;
    if (begins_with_any(call->name, copies) || asked_for(evidence, call, TRACE_COPY))
        return copies_too;
    if (begins_with_any(call->name, launches) || asked_for(evidence, call, TRACE_KERNEL))
        return true;
    /* A wait in the time of a launch is not merely one call too many: it makes it another time. */
    return is_part_of_a_wait(call);
}

/* ---- one stretch --------------------------------------------------------------------------- */

static bool is_work(const struct trace_record *operation)
{
    return operation->what == TRACE_KERNEL || operation->what == TRACE_COPY ||
           operation->what == TRACE_SET;
}

static bool is_host(uint32_t place)
{
    return place == TRACE_PAGEABLE || place == TRACE_PINNED;
}

static void look_at_work(const struct stretches *all, struct stretch *stretch)
{
    const struct query work = {.phase = &stretch->phase, .kind = TRACE_OPERATION};
    const struct trace_record *r = NULL;
    while ((r = evidence_next(all->evidence, &work, r)) != NULL) {
        if (!is_work(r)) continue;
        if (r->what == TRACE_KERNEL && stretch->launches++ == 0) stretch->kernel = r;
        if (r->what == TRACE_COPY && is_host(r->from) && !is_host(r->to))
            stretch->bytes_in += r->bytes;
        if (r->what == TRACE_COPY && !is_host(r->from) && is_host(r->to))
            stretch->bytes_out += r->bytes;
        if (r->ran_ns > stretch->phase.end_ns && stretch->left == NULL) stretch->left = r;
    }
}

static void look_at_calls(const struct stretches *all, struct stretch *stretch,
                          enum timing_which which)
{
    const struct query calls = {.phase = &stretch->phase, .kind = TRACE_CALL, .student = true};
    const struct trace_record *call = NULL;
    while ((call = evidence_next(all->evidence, &calls, call)) != NULL) {
        if (waits_call(call) && stretch->wait == NULL) stretch->wait = call;
        if (!has_its_place(all->evidence, call, which) && stretch->foreign == NULL)
            stretch->foreign = call;
    }
}

/* For a GPU, whose record does not say when the host could know: a call that waits must follow the
 * last request, unless the request waits itself. */
static const struct trace_record *not_waited_for(const struct evidence *evidence,
                                                 const struct phase *before)
{
    const struct query work = {.phase = before, .kind = TRACE_OPERATION},
                       calls = {.phase = before, .kind = TRACE_CALL, .student = true};
    const struct trace_record *r = NULL, *last = NULL, *asked = NULL;
    while ((r = evidence_next(evidence, &work, r)) != NULL) {
        const struct trace_record *call = is_work(r) ? evidence_call_of(evidence, r) : NULL;
        if (call == NULL || (asked != NULL && call < asked)) continue;
        asked = call;
        last = r;
    }
    r = NULL;
    while (asked != NULL && (r = evidence_next(evidence, &calls, r)) != NULL)
        if (r >= asked && waits_call(r)) return NULL;
    return last;
}

static void look_before(const struct stretches *all, struct stretch *stretch)
{
    const struct phase before = {.first = all->measure.first,
                                 .last = stretch->phase.first,
                                 .begin_ns = all->measure.begin_ns,
                                 .end_ns = stretch->phase.begin_ns};
    const struct query work = {.phase = &before, .kind = TRACE_OPERATION};
    const struct trace_record *r = NULL;
    if (all->evidence->device == DRIVE_GPU) {
        stretch->busy = not_waited_for(all->evidence, &before);
        return;
    }
    while (stretch->busy == NULL && (r = evidence_next(all->evidence, &work, r)) != NULL)
        if (is_work(r) && r->ran_ns > before.end_ns) stretch->busy = r;
}

static struct trace_record line_of(const struct stretches *all, uint32_t reading)
{
    return (struct trace_record){.kind = TRACE_CALL,
                                 .process =
                                     all->evidence->trace.records[all->measure.first].process,
                                 .caller = all->out->reading[reading].caller};
}

static struct stretch look(const struct stretches *all, enum timing_which which, uint32_t from,
                           uint32_t to)
{
    const struct phase *begin = &all->reading[from], *end = &all->reading[to];
    struct stretch stretch = {.found = true,
                              .from = from,
                              .to = to,
                              .phase = {.first = begin->last,
                                        .last = end->first,
                                        .begin_ns = begin->end_ns,
                                        .end_ns = end->begin_ns},
                              .from_at = line_of(all, from),
                              .at = line_of(all, to)};
    look_at_work(all, &stretch);
    look_at_calls(all, &stretch, which);
    look_before(all, &stretch);
    return stretch;
}

/* ---- readings behind a time ---------------------------------------------------------------- */

static bool is_time(double microseconds, uint64_t from, uint64_t to)
{
    if (to < from) return false;
    const double ns = (double)(to - from);
    return fabs(microseconds * 1e3 - ns) <= OWN_NS + ROUNDING * ns;
}

/* Rates how well a stretch fits the time, because the same difference can occur twice. */
static int suits(const struct stretches *all, const struct stretch *stretch,
                 enum timing_which which)
{
    const bool copies = which == TIMING_TRANSFERS, waits = which != TIMING_LAUNCH;
    const bool is_first = stretch->kernel != NULL && stretch->kernel == stretches_first_kernel(all);
    int points = stretch->to == stretch->from + 1;
    for (int other = 0; other < TIMING_CLOCKED; other++)
        if (all->of[other].found && all->of[other].from == stretch->from) points -= 2;
    points += 4 * (stretch->launches == 1) + 2 * (is_first == (which == TIMING_FIRST));
    points += 2 * ((stretch->bytes_in > 0 && stretch->bytes_out > 0) == copies);
    points += 2 * ((stretch->wait != NULL) == waits) + (stretch->foreign == NULL);
    return points;
}

static void find(struct stretches *all, enum timing_which which)
{
    const double microseconds = all->out->microseconds[which];
    struct stretch best = {.found = false};
    int most = -100;
    for (uint32_t from = 0; from < all->readings; from++)
        for (uint32_t to = from + 1; to < all->readings; to++) {
            if (!is_time(microseconds, all->out->reading[from].ns, all->out->reading[to].ns))
                continue;
            const struct stretch stretch = look(all, which, from, to);
            const int points = suits(all, &stretch, which);
            if (points <= most) continue;
            most = points;
            best = stretch;
        }
    all->of[which] = best;
}

bool stretches_look(const struct evidence *evidence, struct stretches *all)
{
    const struct timing_output *out = evidence->output;
    *all = (struct stretches){.evidence = evidence, .in = evidence->input, .out = &out->measured};
    if (!evidence_phase(evidence, TIMING_PHASE_MEASURE, 0, &all->measure)) return false;
    while (
        all->readings < TIMING_READINGS &&
        evidence_phase(evidence, TIMING_PHASE_READING, all->readings, &all->reading[all->readings]))
        all->readings++;
    for (int which = 0; which < TIMING_CLOCKED; which++) find(all, (enum timing_which)which);
    return true;
}

bool stretches_cut_off(const struct stretches *all, enum timing_which which)
{
    const double microseconds = all->out->microseconds[which];
    for (uint32_t from = 0; from < all->readings; from++)
        for (uint32_t to = from + 1; to < all->readings; to++) {
            const uint64_t begin = all->out->reading[from].ns, end = all->out->reading[to].ns;
            if (end > begin && microseconds == (double)((end - begin) / 1000)) return true;
        }
    return false;
}

bool stretches_off_by(const struct stretches *all, enum timing_which which, double factor)
{
    for (uint32_t from = 0; from < all->readings; from++)
        for (uint32_t to = from + 1; to < all->readings; to++)
            if (all->out->reading[to].ns > all->out->reading[from].ns &&
                is_time(all->out->microseconds[which] / factor, all->out->reading[from].ns,
                        all->out->reading[to].ns))
                return true;
    return false;
}

const struct trace_record *stretches_first_kernel(const struct stretches *all)
{
    const struct query kernels = {
        .phase = &all->measure, .kind = TRACE_OPERATION, .what = TRACE_KERNEL};
    const struct trace_record *r = NULL, *first = NULL;
    while ((r = evidence_next(all->evidence, &kernels, r)) != NULL)
        if (first == NULL || r->request < first->request) first = r;
    return first;
}

uint64_t stretches_device_ns(const struct stretches *all, const struct stretch *stretch)
{
    const struct query work = {.phase = &stretch->phase, .kind = TRACE_OPERATION};
    const struct trace_record *r = NULL;
    uint64_t begin = UINT64_MAX, end = 0;
    while ((r = evidence_next(all->evidence, &work, r)) != NULL) {
        if (!is_work(r) || r->end_ns <= r->start_ns) continue;
        if (r->start_ns < begin) begin = r->start_ns;
        if (r->end_ns > end) end = r->end_ns;
    }
    return end > begin ? end - begin : 0;
}
