#include "grader/lessons/13_opencl/refused.h"
#include "grader/evidence/answer.h"
#include "grader/evidence/evidence.h"
#include "grader/lessons/13_opencl/exchange.h"
#include "grader/lessons/13_opencl/words.h"
#include "trace/sentence.h"

#define BEFORE_SIZE 300

static const char *const functions[OPENCL_FUNCTIONS] = {
    OPENCL_FUNCTION_DEVICES, OPENCL_FUNCTION_SUM, OPENCL_FUNCTION_COMPARE};
/* The checks that report errors without injected failures. */
static const char *const good[OPENCL_FUNCTIONS] = {
    "OpenCL.EveryDeviceIsListed", "OpenCL.EveryElementIsRight", "OpenCL.HostAndDeviceAgree"};

static const struct trace_record *made_to_fail(const struct evidence *evidence,
                                               const struct phase *phase)
{
    const struct query calls = {.phase = phase, .kind = TRACE_CALL};
    const struct trace_record *r = NULL;
    while ((r = evidence_next(evidence, &calls, r)) != NULL)
        if (r->flags & TRACE_MADE_TO_FAIL) return r;
    return NULL;
}

static void describe(const struct evidence *evidence, const struct trace_record *failed,
                     char before[BEFORE_SIZE])
{
    char name[ANSWER_NAME_SIZE];
    struct place place;
    answer_name(ANSWER_RUNTIME, failed->code, name);
    if (evidence_student_place(evidence, failed, &place))
        snprintf(before, BEFORE_SIZE, _("%.*s on line %u was made to fail with %s, as if %.*s"),
                 TRACE_NAME_SIZE, failed->name, place.line, name, 100, _(failed->text));
    else
        snprintf(before, BEFORE_SIZE, _("%.*s was made to fail with %s, as if %.*s"),
                 TRACE_NAME_SIZE, failed->name, name, 100, _(failed->text));
}

static bool returned(struct verdict *verdict, const struct answer *answer,
                     const struct trace_record *failed, const char *before)
{
    char name[ANSWER_NAME_SIZE];
    if (answer->code == failed->code) return true;
    answer_name(answer->api, answer->code, name);
    /* OpenCL's errors are not above 0. */
    if (answer->code > 0) snprintf(name, sizeof name, "%d", answer->code);
    if (answer->code == 0)
        verdict_fail(verdict, answer->evidence, failed, "%s; %s returned success.", before,
                     answer->function);
    else
        verdict_fail(verdict, answer->evidence, failed, "%s; %s returned %s instead.", before,
                     answer->function, name);
    verdict_why(verdict,
                "An error that is not returned shows up later, where its cause cannot be found.");
    verdict_hint(verdict, "Keep what every call returns, or writes to its last argument, go to the "
                          "clean-up at the first that is not CL_SUCCESS, and return that one.");
    return false;
}

/* Checks for findings that an untested error path causes: handles that were never made, or were
 * used after release. */
static bool found_nothing(struct verdict *verdict, const struct evidence *evidence,
                          const struct phase *phase, const char *before)
{
    const struct query findings = {.phase = phase, .kind = TRACE_FINDING};
    char sentence[TRACE_SENTENCE_SIZE];
    for (const struct trace_record *r = NULL;
         (r = evidence_next(evidence, &findings, r)) != NULL;) {
        if (trace_finding_kind_of(r->finding.id) != FINDING_KIND_CL_HANDLE) continue;
        evidence_sentence(evidence, r, sentence, sizeof sentence);
        verdict_fail(verdict, evidence, r, "%s. Then: %s", before, sentence);
        verdict_kind(verdict, trace_finding_kind(r)->name);
        verdict_why(verdict, "%s", _(trace_finding_kind(r)->why));
        verdict_hint(verdict, "Set every handle to NULL at the beginning, and release those that "
                              "are not.");
        return false;
    }
    return true;
}

/* Judges one call of a function. Returns true when a call failed in it. */
static bool judge_one(struct verdict *verdict, const struct evidence *evidence, uint32_t index)
{
    const struct opencl_output *out = evidence->output;
    const struct opencl_failed *call = &out->failures[index];
    const uint32_t function = call->function < OPENCL_FUNCTIONS ? call->function : 0;
    char before[BEFORE_SIZE], sentence[BEFORE_SIZE + 2];
    struct phase phase;
    const struct answer answer = answer_in(evidence, DRIVE_INJECTIONS, index, functions[function],
                                           ANSWER_RUNTIME, call->code, &phase);

    if (answer.phase == NULL) return false;
    const struct trace_record *failed = made_to_fail(evidence, &phase);
    if (failed == NULL) {
        (void)answer_judgeable(verdict, &answer, good[function]);
        return false;
    }
    describe(evidence, failed, before);
    snprintf(sentence, sizeof sentence, "%s.", before);
    if (found_nothing(verdict, evidence, &phase, before) &&
        returned(verdict, &answer, failed, before))
        verdict_leaks_after(verdict, evidence, &phase, sentence);
    return true;
}

void refused_judge(struct verdict *verdict, const struct evidence *evidence)
{
    const struct opencl_output *out = evidence->output;
    size_t failed = 0;

    for (uint32_t i = 0; i < out->failure_count && i < OPENCL_FAILURES; i++) {
        failed += judge_one(verdict, evidence, i);
        if (verdict_failed(verdict)) return;
    }
    if (failed == 0) {
        verdict_fail(verdict, evidence, NULL, "No call of the program can fail.");
        verdict_why(verdict, "A program that works with a device makes calls that can fail.");
        return;
    }
    verdict_figure(verdict, "injections", "%zu calls made to fail, one at a time", failed);
}
