#include "grader/evidence/failures.h"
#include "grader/base/messages.h"
#include "grader/evidence/evidence.h"
#include "grader/evidence/phases.h"
#include "grader/evidence/waits.h"
#include "threads/refusals.h"

#include <stdio.h>
#include <string.h>

/* Comes with the loss of the context: no work is left that could be waited for. */
#define LAUNCH_FAILED 719 /* cudaErrorLaunchFailure, CUDA_ERROR_LAUNCH_FAILED */

bool failures_find(const struct evidence *evidence, const char *name,
                   const struct trace_record *failed, struct phase *phase, uint32_t *index)
{
    const size_t at = (size_t)(failed - evidence->trace.records);
    for (uint32_t i = 0; evidence_phase(evidence, name, i, phase); i++) {
        *index = i;
        if (phase->first <= at && at <= phase->last) return true;
    }
    return false;
}

bool failures_lose_context(const struct evidence *evidence)
{
    const struct trace_record *failed = evidence_made_to_fail(evidence);
    return failed != NULL && failed->code == LAUNCH_FAILED;
}

/* Writes the words with which every failure begins: "cudaMalloc on line 12 was made to fail with
 * cudaErrorMemoryAllocation (2), as if ...". The line of a call that the project's code made for
 * the student is the student's line. */
static void describe(const struct evidence *evidence, const struct trace_record *failed, char *text,
                     size_t size)
{
    char name[ANSWER_NAME_SIZE], line[48] = "", why[120];
    struct place place;
    snprintf(why, sizeof why, "%.*s", (int)sizeof why - 1, failed->text);
    if (evidence_student_place(evidence, failed, &place))
        snprintf(line, sizeof line,
                 evidence_by_submission(evidence, failed) ? _(" on line %u")
                                                          : _(", called from line %u,"),
                 place.line);
    if (failed->kind == TRACE_HOST_CALL && strcmp(failed->name, REFUSALS_FORK_CHILD) == 0) {
        snprintf(text, size,
                 _("The child of the fork%s was killed by a signal before it had done "
                   "anything"),
                 line);
        return;
    }
    const char *part = strstr(failed->name, REFUSALS_IN_PART);
    if (failed->kind == TRACE_HOST_CALL && part != NULL) {
        snprintf(text, size, _("%.*s%s moved half of the bytes that it was asked to, and said so"),
                 (int)(part - failed->name), failed->name, line);
        return;
    }
    if (failed->kind == TRACE_HOST_CALL) {
        snprintf(text, size, _("%.*s%s was made to fail, as if %.*s"), TRACE_NAME_SIZE,
                 failed->name, line, (int)sizeof why, _(why));
        return;
    }
    /* Uses the names of the call's API. */
    const enum answer_api api =
        strncmp(failed->name, "cuda", 4) == 0 ? ANSWER_RUNTIME : ANSWER_DRIVER;
    snprintf(text, size,
             failed->text[0] != '\0' ? _("%.*s%s was made to fail with %s, as if %.*s")
                                     : _("%.*s%s was made to fail with %s%.*s"),
             TRACE_NAME_SIZE, failed->name, line, answer_name(api, failed->code, name),
             (int)sizeof why, _(why));
}

/* Returns true for a call in a function of a library's header (CUB's), which the student called and
 * which says in words of its own what went wrong, or cannot go on at all. Files of the project have
 * names without a slash before them. */
static bool by_a_library(const struct evidence *evidence, const struct trace_record *failed)
{
    struct place place;
    return failed != NULL && !evidence_by_submission(evidence, failed) &&
           evidence_place(evidence, failed, &place) && place.file[0] == '/';
}

/* Reports that the run with this failure crashed, hung, or exited. */
static void say_ended_badly(struct verdict *verdict, const struct evidence *evidence,
                            const struct trace_record *failed, const char *before)
{
    char ending[300];
    struct place place;

    if (evidence->ending == ENDED_WELL)
        snprintf(ending, sizeof ending, _("left no complete record"));
    else
        evidence_describe_ending(evidence, ending, sizeof ending);
    if (evidence_ending_place(evidence, &place))
        verdict_fail_at(verdict, &place, "%s; after that the program %s.", before, ending);
    else
        verdict_fail(verdict, evidence, failed, "%s; after that the program %s.", before, ending);
    if (evidence->ending == ENDED_TIME && failed != NULL && strstr(failed->name, "Query") == NULL) {
        verdict_why(verdict, "What was not started never ends, and never says that it is done: who "
                             "waits for it waits for ever.");
        verdict_hint(verdict, "Go from the error of that call to the clean-up, and wait there only "
                              "for what had been started before.");
        return;
    }
    if (evidence->ending == ENDED_TIME) {
        verdict_why(verdict,
                    "After an error the query never succeeds, so a loop that waits for success "
                    "never ends; nor does a wait for work that was never started.");
        verdict_hint(verdict, "Only \"not ready\" (600) means: ask again. Leave the loop at every "
                              "other answer, and return that.");
        return;
    }
    verdict_why(verdict, "A call that fails has done nothing: its output holds what it held "
                         "before, and there is nothing to wait for.");
    verdict_hint(verdict, "Go from each call's error straight to the clean-up, and touch there "
                          "only what had been made. Are all handles and pointers set to NULL at "
                          "the beginning?");
}

static bool in_part(const struct trace_record *failed)
{
    return strstr(failed->name, REFUSALS_IN_PART) != NULL;
}

static bool interrupted(const struct trace_record *failed)
{
    return strcmp(failed->text, REFUSALS_INTERRUPTED) == 0;
}

/* An error was returned, although the call had only to be made again, or to be gone on with. */
static void say_given_up(struct verdict *verdict, const struct answer *answer,
                         const struct trace_record *failed, const char *before)
{
    char name[ANSWER_NAME_SIZE];
    verdict_fail(verdict, answer->evidence, failed,
                 "%s; %s returned %s, although nothing had gone wrong.", before, answer->function,
                 answer_name(answer->api, answer->code, name));
    if (in_part(failed))
        verdict_why(verdict, "A pipe or a socket moves as much as there is room for, or as has "
                             "come: a part is no error.");
    else
        verdict_why(verdict,
                    "The caller may have handlers for signals, and any signal interrupts a "
                    "call that waits: that is no error.");
}

/* Fails when the function returned neither the error nor a success with the right result. */
static void judge_answer(struct verdict *verdict, const struct answer *answer,
                         const struct failures_contract *contract,
                         const struct trace_record *failed, const char *before)
{
    const struct evidence *evidence = answer->evidence;
    char name[ANSWER_NAME_SIZE];

    const bool of_host = failed->kind == TRACE_HOST_CALL;
    const bool no_error = contract->goes_on && of_host && (in_part(failed) || interrupted(failed));
    /* Whatever error a library made of it is the first that a call of the student's gave. */
    if (answer->code == 0 ? contract->right(evidence)
                          : !no_error && (of_host || answer->code == failed->code ||
                                          by_a_library(evidence, failed)))
        return;
    if (answer->code == 0)
        verdict_fail(verdict, evidence, failed,
                     "%s; %s returned success, and the result is not there.", before,
                     answer->function);
    else if (no_error)
        say_given_up(verdict, answer, failed, before);
    else
        verdict_fail(verdict, evidence, failed, "%s; %s returned %s instead.", before,
                     answer->function, answer_name(answer->api, answer->code, name));
    if (!no_error || answer->code == 0)
        verdict_why(verdict, "An error that is not returned shows up later, where its cause cannot "
                             "be found.");
    if (answer->code == 0 && strcmp(failed->name, "cudaLaunchKernel") == 0)
        verdict_hint(verdict, "A launch with <<<...>>> returns nothing: ask cudaGetLastError right "
                              "behind it, and return what it says.");
    else if (of_host && strcmp(failed->name, REFUSALS_FORK_CHILD) == 0)
        verdict_hint(verdict,
                     "What waitpid says of a child is its exit status only where WIFEXITED "
                     "is true; and what it was to write is there only when it has.");
    else if (of_host && in_part(failed))
        verdict_hint(verdict, "What read and write return is how many bytes they moved: go on with "
                              "the rest until all are through, or there are no more (0).");
    else if (of_host && interrupted(failed))
        verdict_hint(verdict, "Where errno is EINTR, nothing has happened yet: call it again.");
    else if (of_host)
        verdict_hint(verdict,
                     "Look at what %.*s returns, and where it fails go to the clean-up with an "
                     "error of your own.",
                     TRACE_NAME_SIZE, failed->name);
    else
        verdict_hint(verdict, "Keep what every call returns, go to the clean-up at the first that "
                              "is not success, and return that one, not the last one.");
}

/* The findings, besides leaks, that an untested error path typically causes: memory released while
 * work still uses it, handles that were never made. */
static const enum trace_finding_kind_id findings[] = {
    FINDING_KIND_RACE,         FINDING_KIND_FREED_IN_USE,   FINDING_KIND_CHANGED_IN_FLIGHT,
    FINDING_KIND_WRONG_SIDE,   FINDING_KIND_USE_AFTER_FREE, FINDING_KIND_DOUBLE_FREE,
    FINDING_KIND_INVALID_FREE, FINDING_KIND_INVALID_HANDLE, FINDING_KIND_USE_AFTER_DESTRUCTION,
    FINDING_KIND_COUNT,
};

/* Returns true when the failed call is in a phase DRIVE_INJECTIONS. It was selected by its number,
 * so where the program made more or fewer calls than in the plain run it may be one of the drive's
 * own. The phase may have no end. */
static bool is_the_students(const struct evidence *evidence, const struct trace_record *failed)
{
    bool inside = false;
    for (const struct trace_record *r = evidence->trace.records; r < failed; r++)
        if (r->kind == TRACE_MARK && strcmp(r->name, DRIVE_INJECTIONS) == 0)
            inside = (r->flags & TRACE_BEGIN) != 0;
    return inside;
}

/* Judges one run. `plain`: the run without failures. Returns true when a call failed in this
 * run. */
static bool judge_one(struct verdict *verdict, const struct evidence *plain,
                      const struct evidence *evidence, const struct failures_contract *contract)
{
    static const struct query any_finding = {.kind = TRACE_FINDING};
    static const struct query any_advice = {.kind = TRACE_ADVICE};
    const struct trace_record *failed = evidence_made_to_fail(evidence);
    char before[400], sentence[420];
    struct phase phase, whole;

    if (failed != NULL && !is_the_students(evidence, failed)) return false;
    if (failed != NULL)
        describe(evidence, failed, before, sizeof before);
    else
        snprintf(before, sizeof before, _("A call was made to fail"));
    if (!evidence_usable(evidence)) {
        if (!by_a_library(evidence, failed)) say_ended_badly(verdict, evidence, failed, before);
        return true;
    }
    /* The program took another path in this run and did not reach the call. */
    if (failed == NULL) return false;
    if (!phases_get(verdict, evidence, DRIVE_INJECTIONS, 0, &whole)) return true;
    const struct answer answer = contract->answer(evidence, failed, &phase);
    judge_answer(verdict, &answer, contract, failed, before);
    snprintf(sentence, sizeof sentence, _("%s."), before);
    for (uint32_t i = 0;
         !verdict_failed(verdict) && evidence_phase(evidence, DRIVE_INJECTIONS, i, &whole); i++)
        verdict_leaks_after(verdict, evidence, &whole, sentence);
    /* A query that fails on its own says nothing about the work, and the function need not wait for
     * the work in another way then. */
    if (waits_query(failed) && failed->code != LAUNCH_FAILED) return true;
    snprintf(sentence, sizeof sentence, _("%s. Then: "), before);
    /* Findings that the plain run has too are reported by other checks. */
    if (!verdict_failed(verdict) && evidence_count(plain, &any_finding) == 0)
        verdict_findings_after(verdict, evidence, findings, sentence);
    if (!verdict_failed(verdict) && contract->advice && failed->code != LAUNCH_FAILED &&
        evidence_count(plain, &any_advice) == 0)
        verdict_advice_after(verdict, evidence, sentence);
    snprintf(sentence, sizeof sentence, _("%s; then "), before);
    if (!verdict_failed(verdict) && contract->waits && answer.phase != NULL &&
        failed->code != LAUNCH_FAILED)
        waits_say_left(verdict, evidence, answer.phase, answer.function, sentence);
    if (!verdict_failed(verdict) && contract->advice && answer.phase != NULL &&
        failed->code != LAUNCH_FAILED)
        waits_say_unpromised(verdict, evidence, answer.phase, answer.function, sentence);
    if (!verdict_failed(verdict) && contract->more != NULL)
        contract->more(verdict, evidence, &answer, failed, before);
    return true;
}

void failures_judge(struct verdict *verdict, const struct evidence *evidence,
                    const struct failures_contract *contract)
{
    size_t failed = 0;

    for (size_t i = 0; i < evidence->injection_count && !verdict_failed(verdict); i++)
        failed += judge_one(verdict, evidence, &evidence->injections[i], contract);
    if (failed == 0) {
        verdict_fail(verdict, evidence, NULL, "No call of the program can fail.");
        verdict_why(verdict, "A program that works with a device makes calls that can fail.");
        return;
    }
    /* Only the first failure is reported; later ones often have the same cause. */
    if (verdict_failed(verdict)) return;
    if (failed < evidence->fault_calls)
        verdict_figure(verdict, "injections",
                       "%zu of %zu calls made to fail, one in a run of its own", failed,
                       evidence->fault_calls);
    else
        verdict_figure(verdict, "injections", "%zu calls made to fail, each in a run of its own",
                       failed);
}
