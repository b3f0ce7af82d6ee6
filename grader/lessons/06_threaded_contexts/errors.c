/* Checks of errors: an error of one array, and each call made to fail in turn. */
#include "grader/base/messages.h"
#include "grader/evidence/evidence.h"
#include "grader/evidence/failures.h"
#include "grader/evidence/host_reference.h"
#include "grader/evidence/waits.h"
#include "grader/lessons/06_threaded_contexts/parts.h"
#include "threads/refusals.h"

#include <math.h>
#include <string.h>

#define OUT_OF_MEMORY 2
#define OPERATING_SYSTEM 304

/* ---- one array's error --------------------------------------------------------------------- */

/* Returns the first call of the phase, in any thread or process, that failed. */
static const struct trace_record *first_error(const struct evidence *evidence,
                                              const struct phase *phase)
{
    struct query calls = {.phase = phase, .kind = TRACE_CALL};
    for (const struct trace_record *call = evidence_next(evidence, &calls, NULL); call;
         call = evidence_next(evidence, &calls, call))
        if (call->code) return call;
    return NULL;
}

/* Checks that an array with an error has no sum and is unchanged. False: the verdict has failed. */
static bool failed_cleanly(struct verdict *verdict, const struct evidence *evidence,
                           const struct threaded_view *view, uint32_t index)
{
    const double sum = view->answer->results[index].sum;
    if (fpclassify(sum) != FP_ZERO) {
        verdict_fail_in(verdict, evidence, view->function,
                        "results[%u] has an error, %d, and its sum is %g; it must be 0.", index,
                        view->answer->results[index].error, sum);
        verdict_why(verdict, "A caller that adds the sums up would add what nobody has computed.");
        verdict_hint(verdict, "Write the whole of results[i] on every path.");
        return false;
    }
    if (judge_first_difference(threaded_after(view, index), threaded_before(view, index),
                               (size_t)view->call->lengths[index], sizeof(float)) < 0 ||
        waits_copied_before_failure(evidence))
        return true;
    verdict_fail_in(verdict, evidence, view->function,
                    "Array %u was changed although its work failed.", index);
    verdict_why(verdict, "The caller would take half-finished values for an answer.");
    verdict_hint(verdict, "Copy back only what the kernel has finished.");
    return false;
}

/* Checks that every result is an error and no array was changed. */
static void judge_bad_image(struct verdict *verdict, const struct evidence *evidence,
                            const struct threaded_view *view)
{
    struct answer answer = threaded_answer(evidence, view);
    const struct trace_record *failed = first_error(evidence, &view->phase);
    if (!answer_written(verdict, &answer)) return;
    if (!failed || answer.code == 0) {
        answer_failed_with(verdict, &answer, failed ? failed->code : 218,
                           "the image is not a module");
        return;
    }
    if (!answer_failed_with(verdict, &answer, failed->code, "the image is not a module")) return;
    for (uint32_t i = 0; i < view->call->count; i++) {
        if (view->answer->results[i].error == failed->code) continue;
        if (verdict_threads_left(verdict, evidence, &view->phase)) return;
        if (view->answer->results[i].error == THREADED_UNWRITTEN)
            verdict_fail(verdict, evidence, failed,
                         "%s failed with %d; results[%u].error was not written.", failed->name,
                         failed->code, i);
        else
            verdict_fail(verdict, evidence, failed, "%s failed with %d; results[%u].error is %d.",
                         failed->name, failed->code, i, view->answer->results[i].error);
        verdict_why(verdict, "Each thread or process has its own errors, and each result says what "
                             "became of its own array.");
        verdict_hint(verdict, "Write results[i] on every path, also on the ones that fail.");
        return;
    }
    for (uint32_t i = 0; i < view->call->count; i++)
        if (!failed_cleanly(verdict, evidence, view, i)) return;
}

/* Two arrays failed: the error of the one with the lower index must be returned. */
static void judge_two_errors(struct verdict *verdict, const struct evidence *evidence,
                             const struct threaded_view *view)
{
    const uint32_t slip = view->call->slip_array, second = view->call->second_slip;
    const uint32_t first = slip < second ? slip : second, last = slip < second ? second : slip;
    const int32_t error = view->answer->results[first].error;
    char one[ANSWER_NAME_SIZE], other[ANSWER_NAME_SIZE], given[ANSWER_NAME_SIZE];

    if (error != 0 && view->answer->results[last].error != 0 && view->answer->error == error)
        return;
    verdict_fail_in(verdict, evidence, view->function,
                    "Arrays %u and %u are too long for any device: results[%u].error is %s, "
                    "results[%u].error is %s, and %s returned %s.",
                    first, last, first, answer_name(ANSWER_DRIVER, error, one), last,
                    answer_name(ANSWER_DRIVER, view->answer->results[last].error, other),
                    view->function, answer_name(ANSWER_DRIVER, view->answer->error, given));
    verdict_why(verdict,
                "Both have failed. What is returned is the error of the first array, by its "
                "index, whichever failed first in time.");
    verdict_hint(verdict, "When all have ended, go through results from 0 and return the first "
                          "error there is.");
}

/* Checks that one or two results are errors and the others are right. */
static void judge_too_long(struct verdict *verdict, const struct evidence *evidence,
                           const struct threaded_view *view)
{
    struct answer answer = threaded_answer(evidence, view);
    for (uint32_t i = 0; i < view->call->count; i++) {
        if (i == view->call->slip_array || i == view->call->second_slip) {
            if (!failed_cleanly(verdict, evidence, view, i)) return;
            continue;
        }
        /* An array that failed is as it was: its error says more. */
        const bool failed = view->answer->results[i].error != 0;
        if ((failed && !threaded_result_is_right(verdict, evidence, view, i)) ||
            !threaded_array_is_right(verdict, evidence, view, i) ||
            !threaded_result_is_right(verdict, evidence, view, i)) {
            verdict_why(
                verdict,
                "Array %u is too long for any device, and only array %u may fail for it: with a "
                "context and a thread of its own, one array's failure leaves the others alone.",
                view->call->slip_array, view->call->slip_array);
            if (failed)
                verdict_hint(verdict, "Let every thread do its own work, and return its own error, "
                                      "whatever has become of the others.");
            return;
        }
    }
    if (view->call->second_slip != view->call->slip_array) {
        judge_two_errors(verdict, evidence, view);
        return;
    }
    if (!answer_failed_with(verdict, &answer, OUT_OF_MEMORY,
                            "one array is too long for the device's memory"))
        return;
    int32_t error = view->answer->results[view->call->slip_array].error;
    if (error == OUT_OF_MEMORY) return;
    verdict_fail_in(verdict, evidence, BY_THREADS,
                    "results[%u].error is %d, although its memory could not be had (2).",
                    view->call->slip_array, error);
    verdict_why(verdict, "Each result says what became of its own array.");
    verdict_hint(verdict, "Let each thread return its first error through pthread_join.");
}

void threaded_judge_errors(struct verdict *verdict, const struct evidence *evidence)
{
    if (!threaded_written(verdict, evidence)) return;
    const struct threaded_input *in = evidence->input;
    struct threaded_view view;
    for (uint32_t c = 0; c < in->call_count && threaded_view(verdict, evidence, c, &view); c++) {
        if (view.call->way == THREADED_BY_PROCESSES &&
            !threaded_children_end(verdict, evidence, &view.phase))
            return;
        if (view.call->slip == THREADED_BAD_IMAGE) judge_bad_image(verdict, evidence, &view);
        if (view.call->slip == THREADED_TOO_LONG) judge_too_long(verdict, evidence, &view);
        if (!verdict_failed(verdict) && view.call->way == THREADED_BY_PROCESSES)
            threaded_parent_calls_nothing(verdict, evidence, &view.phase);
        if (verdict_failed(verdict)) return;
    }
}

/* ---- each call made to fail ---------------------------------------------------------------- */

static struct answer answer_to_failure(const struct evidence *evidence,
                                       const struct trace_record *failed, struct phase *phase)
{
    const struct threaded_input *in = evidence->input;
    const struct threaded_output *out = evidence->output;
    (void)failed;
    return answer_in(evidence, THREADED_PHASE, 0,
                     in->calls[0].way == THREADED_BY_PROCESSES ? BY_PROCESSES : BY_THREADS,
                     ANSWER_DRIVER, out->answers[0].error, phase);
}

/* Returns the only call of such a run. */
static struct threaded_view view_of_failure(const struct evidence *evidence)
{
    const struct threaded_input *in = evidence->input;
    const struct threaded_output *out = evidence->output;
    return (struct threaded_view){.call = &in->calls[0],
                                  .answer = &out->answers[0],
                                  .before = in->values + in->calls[0].offset,
                                  .after = out->values + in->calls[0].offset};
}

static bool is_done(const struct threaded_view *view, uint32_t index)
{
    double sum;
    return view->answer->results[index].error == 0 && threaded_sum_is_right(view, index, &sum) &&
           host_reference_same(threaded_before(view, index), threaded_after(view, index),
                               (size_t)view->call->lengths[index]);
}

static bool is_right_all_the_same(const struct evidence *evidence)
{
    const struct threaded_view view = view_of_failure(evidence);
    for (uint32_t i = 0; i < view.call->count; i++)
        if (!is_done(&view, i)) return false;
    return true;
}

/* Returns true for a failure that concerns one array: a CUDA call of its thread or process, a
 * failed start of its thread or process, or a killed process. *error is set to the error that the
 * array's result must have; 0: any. */
static bool is_of_one_array(const struct trace_record *failed, int32_t *error)
{
    static const char *const starts[] = {"pthread_create", "thrd_create", "fork",
                                         REFUSALS_FORK_CHILD};
    *error = failed->code;
    if (failed->kind == TRACE_CALL) return true;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strcmp(failed->name, starts[i]) == 0) {
            *error = OPERATING_SYSTEM;
            return true;
        }
    *error = 0;
    return false;
}

/* Checks that array `index` is not done and that its result holds the error. */
static bool has_its_error(struct verdict *verdict, const struct evidence *evidence,
                          const struct threaded_view *view, uint32_t index,
                          const struct trace_record *failed, const char *before)
{
    const int32_t error = view->answer->results[index].error;
    char name[ANSWER_NAME_SIZE], must[ANSWER_NAME_SIZE];
    int32_t wanted;
    is_of_one_array(failed, &wanted);
    if (error != 0 && (wanted == 0 || error == wanted)) return true;
    if (error == THREADED_UNWRITTEN)
        verdict_fail(verdict, evidence, failed,
                     "%s; array %u is not done, and results[%u].error was not written.", before,
                     index, index);
    else
        verdict_fail(verdict, evidence, failed,
                     "%s; array %u is not done, and results[%u].error is %s%s%s.", before, index,
                     index, answer_name(ANSWER_DRIVER, error, name),
                     wanted != 0 ? _("; it must be ") : "",
                     wanted != 0 ? answer_name(ANSWER_DRIVER, wanted, must) : "");
    verdict_why(verdict, "Each result says what became of its own array.");
    if (failed->kind == TRACE_HOST_CALL && wanted != 0)
        verdict_hint(verdict, "A thread or a process that cannot be started, or ends without a "
                              "result, is CUDA_ERROR_OPERATING_SYSTEM. pthread_create returns a "
                              "positive number when it fails, fork -1; and WEXITSTATUS means "
                              "something only where WIFEXITED says so.");
    else
        verdict_hint(verdict, "Let each thread or process hand back its first error, and write "
                              "results[i] on every path.");
    return false;
}

/* Checks that each array is done, or that its result holds the error and its values are unchanged;
 * and that all but one are done, unless the failure takes the process's whole device or concerns
 * something that all share.
 */
static void judge_the_others(struct verdict *verdict, const struct evidence *evidence,
                             const struct answer *answer, const struct trace_record *failed,
                             const char *before)
{
    const struct threaded_view view = view_of_failure(evidence);
    const bool threads = view.call->way == THREADED_BY_THREADS;
    int32_t error;
    const bool shared = !is_of_one_array(failed, &error);
    uint32_t done = 0;

    for (uint32_t i = 0; i < view.call->count; i++) {
        if (is_done(&view, i))
            done++;
        else if (!has_its_error(verdict, evidence, &view, i, failed, before) ||
                 !failed_cleanly(verdict, evidence, &view, i))
            return;
    }
    if (!threads && answer->phase != NULL &&
        (!threaded_parent_calls_nothing(verdict, evidence, answer->phase) ||
         !threaded_children_are_waited_for(verdict, evidence, &view, before)))
        return;
    if (shared || done + 1 >= view.call->count) return;
    verdict_fail(verdict, evidence, failed, "%s for one array, and %u of %u were not done.", before,
                 view.call->count - done, view.call->count);
    verdict_why(verdict, "An array that fails does not keep the others from being done.");
    verdict_hint(verdict,
                 "Join every thread and wait for every child before %s returns, and let "
                 "none of them stop another.",
                 answer->function);
}

void threaded_judge_each_failure(struct verdict *verdict, const struct evidence *evidence)
{
    const struct threaded_input *in = evidence->input;
    const struct failures_contract contract = {.api = ANSWER_DRIVER,
                                               .answer = answer_to_failure,
                                               .right = is_right_all_the_same,
                                               .more = judge_the_others,
                                               .goes_on =
                                                   in->calls[0].way == THREADED_BY_PROCESSES};
    struct phase phase;
    const struct answer answer = answer_to_failure(evidence, NULL, &phase);
    if (answer_judgeable(verdict, &answer,
                         "ThreadedContexts.ThreadsFinishTheirWork or "
                         "ThreadedContexts.ProcessesFinishTheirWork"))
        failures_judge(verdict, evidence, &contract);
}

/* ---- arrays that fail with different errors ------------------------------------------------ */

/* Where results hold different errors, the first one's must have been returned; otherwise the
 * verdict fails. */
static bool returned_the_first(struct verdict *verdict, const struct evidence *evidence,
                               const struct threaded_view *view)
{
    uint32_t first = 0, other = 0;
    char one[ANSWER_NAME_SIZE], two[ANSWER_NAME_SIZE], given[ANSWER_NAME_SIZE];

    while (first < view->call->count && view->answer->results[first].error == 0) first++;
    for (uint32_t i = first; i < view->call->count; i++)
        if (view->answer->results[i].error != 0 &&
            view->answer->results[i].error != view->answer->results[first].error)
            other = i;
    if (other == 0 || view->answer->error == view->answer->results[first].error) return true;
    verdict_fail(verdict, evidence, evidence_made_to_fail(evidence),
                 "results[%u].error is %s, results[%u].error is %s, and %s returned %s.", first,
                 answer_name(ANSWER_DRIVER, view->answer->results[first].error, one), other,
                 answer_name(ANSWER_DRIVER, view->answer->results[other].error, two),
                 view->function, answer_name(ANSWER_DRIVER, view->answer->error, given));
    verdict_why(verdict, "Several arrays have failed. What is returned is the error of the first "
                         "array, by its index, whichever failed first in time.");
    verdict_hint(verdict, "When all have ended, go through results from 0 and return the first "
                          "error there is.");
    return false;
}

void threaded_judge_first_error(struct verdict *verdict, const struct evidence *evidence)
{
    const struct threaded_input *in = evidence->input;
    struct threaded_view view;
    if (!threaded_written(verdict, evidence)) return;
    for (size_t i = 0; i < evidence->injection_count; i++) {
        const struct evidence *one = &evidence->injections[i];
        /* The failed call itself is judged by another check. */
        if (!evidence_usable(one)) continue;
        for (uint32_t c = 0; c < in->call_count; c++)
            if (!threaded_view(verdict, one, c, &view) || !returned_the_first(verdict, one, &view))
                return;
    }
}
