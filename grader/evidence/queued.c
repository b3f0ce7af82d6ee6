#include "grader/evidence/queued.h"
#include "grader/base/messages.h"
#include "grader/evidence/given.h"
#include "grader/evidence/waits.h"

#include <stdio.h>

void queued_say_lost(struct verdict *verdict, const struct evidence *evidence, const char *function)
{
    verdict_fail_in(verdict, evidence, function,
                    "Not tried: a call before it ended with a fault of the device.");
    verdict_why(verdict, "A fault takes the whole context, and all that was in it.");
    verdict_hint(verdict, "The fault itself is reported with the call in which it happened.");
}

void queued_say_failed_later(struct verdict *verdict, const struct answer *answer, int later,
                             const char *doing, const char *hint)
{
    char name[ANSWER_NAME_SIZE];
    verdict_fail_in(verdict, answer->evidence, answer->function,
                    "For %s, the call returned success and its work failed later: %s.", doing,
                    answer_name(answer->api, later, name));
    verdict_why(verdict, "The launch was in order, so the call returned success; the fault came "
                         "when the kernel ran, and took the context with it.");
    verdict_hint(verdict, "%s", _(hint));
}

bool queued_went_well(struct verdict *verdict, const struct answer *answer, int later,
                      int remembered, uint32_t index, const char *doing, const char *hint)
{
    if (!answer_succeeded(verdict, answer, doing)) return false;
    if (later != 0) {
        verdict_findings(verdict, answer->evidence, NULL);
        if (!verdict_failed(verdict)) queued_say_failed_later(verdict, answer, later, doing, hint);
        return false;
    }
    if (remembered == 0) return true;
    char text[240];
    struct phase phase;
    struct answer again = *answer;
    snprintf(text, sizeof text, "%s%s", doing,
             _(", while the runtime still remembered an error of its caller's"));
    again.code = remembered;
    again.phase = evidence_phase(answer->evidence, DRIVE_REMEMBERS, index, &phase) ? &phase : NULL;
    return answer_succeeded(verdict, &again, text);
}

bool queued_in_given_stream(struct verdict *verdict, const struct evidence *evidence,
                            const struct phase *phase, const char *function, const char *why,
                            const char *hint)
{
    if (given_say_elsewhere(verdict, evidence, phase, given_stream(evidence, 0),
                            "the stream that it was given")) {
        verdict_why(verdict, "%s", _(why));
        verdict_hint(verdict, "The stream is the fourth argument between <<< and >>>.");
        return false;
    }
    if (!waits_say_any(verdict, evidence, phase, function)) return true;
    verdict_hint(verdict, "%s", _(hint));
    return false;
}

const struct trace_record *queued_last_kernel(const struct evidence *evidence,
                                              const struct phase *phase)
{
    const struct query kernels = {.phase = phase, .kind = TRACE_OPERATION, .what = TRACE_KERNEL};
    const struct trace_record *kernel = NULL, *last = NULL;
    while ((kernel = evidence_next(evidence, &kernels, kernel)) != NULL) last = kernel;
    return last;
}

double queued_last_kernel_seconds(const struct evidence *evidence, const struct phase *phase)
{
    const struct trace_record *kernel = queued_last_kernel(evidence, phase);
    return kernel == NULL ? 0.0 : (double)(kernel->end_ns - kernel->start_ns) * 1e-9;
}
