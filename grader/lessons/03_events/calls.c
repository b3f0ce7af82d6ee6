#include "grader/lessons/03_events/calls.h"

#include "grader/base/messages.h"
#include "grader/evidence/given.h"

#include <string.h>

struct events_view events_look(const struct evidence *evidence)
{
    return (struct events_view){evidence, evidence->input, evidence->output};
}

void events_call_look(const struct events_view *view, enum events_which which,
                      struct events_called *called)
{
    const struct events_output *out = view->out;
    const bool one = which == EVENTS_CALL_ONE;
    const uint32_t each = which == EVENTS_CALL_MANY;

    called->first = one ? 0 : which == EVENTS_CALL_FEW ? 1 : 1 + EVENTS_FEW;
    called->count = one ? 1 : which == EVENTS_CALL_FEW ? EVENTS_FEW : view->in->many;
    called->milliseconds = one ? &out->one.milliseconds : out->each[each].milliseconds;
    called->answer = answer_in(view->evidence, one ? EVENTS_PHASE_ONE : EVENTS_PHASE_EACH,
                               one ? 0 : each, one ? EVENTS_ONE : EVENTS_EACH, ANSWER_RUNTIME,
                               one ? out->one.code : out->each[each].code, &called->phase);
}

bool events_call_succeeded(struct verdict *verdict, const struct events_view *view,
                           enum events_which which, struct events_called *called)
{
    events_call_look(view, which, called);
    return answer_succeeded(verdict, &called->answer,
                            which == EVENTS_CALL_ONE   ? N_("one kernel")
                            : which == EVENTS_CALL_FEW ? N_("a few kernels")
                                                       : N_("many kernels"));
}

bool events_call_get(struct verdict *verdict, const struct events_view *view,
                     enum events_which which, struct events_called *called)
{
    /* The checks that report this in full read the run "times" only. */
    if (strcmp(view->evidence->plan->name, "times") != 0)
        return events_call_succeeded(verdict, view, which, called);
    events_call_look(view, which, called);
    return answer_judgeable(verdict, &called->answer,
                            which == EVENTS_CALL_ONE ? "Events.OneKernelIsTimed"
                                                     : "Events.EveryKernelIsTimed");
}

const struct trace_record *events_kernel_of(const struct evidence *evidence,
                                            const struct events_called *called, uint32_t i)
{
    const struct query kernels = {.phase = &called->phase,
                                  .kind = TRACE_OPERATION,
                                  .what = TRACE_KERNEL,
                                  .stream = given_stream(evidence, called->first + i)};
    return kernels.stream != 0 ? evidence_next(evidence, &kernels, NULL) : NULL;
}

const struct trace_record *events_kernel_get(struct verdict *verdict,
                                             const struct events_view *view,
                                             const struct events_called *called, uint32_t i)
{
    const struct trace_record *kernel = events_kernel_of(view->evidence, called, i);
    if (kernel != NULL) return kernel;
    verdict_fail_in(verdict, view->evidence, called->answer.function,
                    "No kernel ran in the stream of task %u of %u.", i, called->count);
    verdict_hint(verdict, "kernel(task->array, task->length, task->stream), once per task.");
    return NULL;
}

struct events_around events_around_kernel(const struct evidence *evidence,
                                          const struct events_called *called,
                                          const struct trace_record *kernel)
{
    static const char *const names[] = {"cudaEventRecord*", "cuEventRecord*"};
    struct events_around around = {.launch = evidence_call_of(evidence, kernel)};
    for (int n = 0; n < 2 && around.launch != NULL; n++) {
        const struct query calls = {.phase = &called->phase,
                                    .kind = TRACE_CALL,
                                    .name = names[n],
                                    .stream = kernel->stream,
                                    .student = true};
        const struct trace_record *call = NULL;
        while ((call = evidence_next(evidence, &calls, call)) != NULL) {
            if (call->code != 0) continue;
            if (call < around.launch)
                around.before = call;
            else if (around.after == NULL)
                around.after = call;
        }
    }
    return around;
}
