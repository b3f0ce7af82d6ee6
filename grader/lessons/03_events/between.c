#include "grader/lessons/03_events/between.h"

#include "grader/base/messages.h"
#include "grader/evidence/judge.h"

#include <string.h>

bool events_say_between(struct verdict *verdict, const struct evidence *evidence,
                        const struct events_called *called, const struct trace_record *kernel,
                        uint32_t i)
{
    const struct events_around around = events_around_kernel(evidence, called, kernel);
    const struct query kernels = {
        .phase = &called->phase, .kind = TRACE_OPERATION, .what = TRACE_KERNEL};
    size_t before = 0, after = 0;

    if (around.before == NULL || around.after == NULL) return false;
    for (const struct trace_record *r = NULL; (r = evidence_next(evidence, &kernels, r)) != NULL;) {
        const struct trace_record *launch = evidence_call_of(evidence, r);
        if (launch == NULL || launch->thread != around.before->thread) continue;
        before += launch > around.before && launch < around.launch;
        after += launch > around.launch && launch < around.after;
    }
    if (before + after == 0) return false;
    if (before > 0)
        verdict_fail(verdict, evidence, around.before,
                     "Between the start event of kernel %u of %u, recorded here, and that kernel's "
                     "launch, other kernels are launched (%zu).",
                     i, called->count, before);
    else
        verdict_fail(verdict, evidence, around.after,
                     "Between the launch of kernel %u of %u and its end event, recorded here, "
                     "other kernels are launched (%zu).",
                     i, called->count, after);
    verdict_why(verdict, "A time between two events is the time of all that the device, and the "
                         "host, did between them.");
    verdict_hint(verdict,
                 "Record start, launch, record end: for one kernel, and then for the next.");
    return true;
}

/* Returns true for a call that only queries an error, which takes the host negligible time. */
static bool asks_for_an_error(const struct trace_record *call)
{
    static const char *const names[] = {"cudaGetLastError", "cudaPeekAtLastError",
                                        "cudaGetErrorName", "cudaGetErrorString",
                                        "cuGetErrorName",   "cuGetErrorString"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(call->name, names[i]) == 0) return true;
    return false;
}

/* Returns the first call that the same host thread makes between the two events, before or after
 * the launch; NULL: none. */
static const struct trace_record *call_between(const struct evidence *evidence,
                                               const struct events_called *called,
                                               const struct events_around *around)
{
    const struct query calls = {.phase = &called->phase, .kind = TRACE_CALL, .student = true};
    const struct trace_record *call = around->before;
    while ((call = evidence_next(evidence, &calls, call)) != NULL && call < around->after)
        if (call != around->launch && call->thread == around->before->thread &&
            !asks_for_an_error(call))
            return call;
    return NULL;
}

static bool only_the_launch(struct verdict *verdict, const struct evidence *evidence,
                            const struct events_called *called, uint32_t i)
{
    const struct trace_record *kernel = events_kernel_of(evidence, called, i);
    if (kernel == NULL) return true; /* reported by EventsAreInTheKernelsStream */
    if (events_say_between(verdict, evidence, called, kernel, i)) return false;
    const struct events_around around = events_around_kernel(evidence, called, kernel);
    if (around.before == NULL || around.after == NULL) return true;
    const struct trace_record *call = call_between(evidence, called, &around);
    if (call == NULL) return true;
    verdict_fail(verdict, evidence, call,
                 call < around.launch
                     ? N_("%.*s is called between the start event of kernel %u of %u and that "
                          "kernel's launch.")
                     : N_("%.*s is called between the launch of kernel %u of %u and its end "
                          "event."),
                 TRACE_NAME_SIZE, call->name, i, called->count);
    verdict_why(verdict, "The device passes the start as soon as it comes to it, while the host is "
                         "still on its way to the launch; and it may be done before the host has "
                         "recorded the end. What the host does there is part of the time.");
    verdict_hint(verdict, "Whatever takes the host time comes before the start is recorded, or "
                          "after the end is.");
    return false;
}

void events_judge_between(struct verdict *verdict, const struct evidence *evidence)
{
    const struct events_view view = events_look(evidence);
    for (enum events_which which = EVENTS_CALL_ONE; which < EVENTS_CALL_COUNT; which++) {
        struct events_called called;
        if (!events_call_get(verdict, &view, which, &called)) return;
        for (uint32_t i = 0; i < called.count; i++)
            if (!only_the_launch(verdict, evidence, &called, i)) return;
    }
}
