/* Checks of the arrays and the results, of threads and of processes. */
#include "grader/evidence/host_reference.h"
#include "grader/lessons/06_threaded_contexts/parts.h"
#include "threads/threads.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Times the sum of the magnitudes: enough for any order of additions in double. */
#define SUM_TOLERANCE 1e-10
#define FLOAT_TOLERANCE 1e-5 /* tolerance for a sum that was added in float */

#define INVALID_VALUE 1 /* CUDA_ERROR_INVALID_VALUE */

/* ---- what came back ------------------------------------------------------------------------ */

bool threaded_view(struct verdict *verdict, const struct evidence *evidence, uint32_t index,
                   struct threaded_view *view)
{
    const struct threaded_input *in = evidence->input;
    const struct threaded_output *out = evidence->output;
    if (index >= in->call_count) return false;
    view->call = &in->calls[index];
    view->answer = &out->answers[index];
    view->before = in->values + view->call->offset;
    view->after = out->values + view->call->offset;
    view->function = view->call->way == THREADED_BY_PROCESSES ? BY_PROCESSES : BY_THREADS;
    return phases_get(verdict, evidence, THREADED_PHASE, index, &view->phase);
}

struct answer threaded_answer(const struct evidence *evidence, const struct threaded_view *view)
{
    return (struct answer){.evidence = evidence,
                           .phase = &view->phase,
                           .function = view->function,
                           .api = ANSWER_DRIVER,
                           .code = view->answer->error};
}

bool threaded_written(struct verdict *verdict, const struct evidence *evidence)
{
    struct threaded_view view;
    if (!threaded_view(verdict, evidence, 0, &view)) return false;
    const struct answer answer = threaded_answer(evidence, &view);
    return answer_written(verdict, &answer);
}

/* ---- values and results -------------------------------------------------------------------- */

const float *threaded_before(const struct threaded_view *view, uint32_t index)
{
    return view->before + (threaded_offset(view->call, index) - view->call->offset);
}

const float *threaded_after(const struct threaded_view *view, uint32_t index)
{
    return view->after + (threaded_offset(view->call, index) - view->call->offset);
}

/* Returns true when the first value is right, so that only a part of the array was returned. */
static bool came_in_part(const struct host_reference_array *array)
{
    return array->length > 1 && host_reference_same(array->input, array->output, 1);
}

/* Counts the copies to the device that have the array's size. */
static size_t copies_in(const struct evidence *evidence, const struct threaded_view *view,
                        uint32_t index)
{
    const struct query copies = {
        .phase = &view->phase, .kind = TRACE_OPERATION, .what = TRACE_COPY};
    const uint64_t bytes = view->call->lengths[index] * sizeof(float);
    size_t count = 0;
    for (const struct trace_record *r = NULL; (r = evidence_next(evidence, &copies, r)) != NULL;)
        count += r->to == TRACE_DEVICE && r->from != TRACE_DEVICE && r->bytes == bytes;
    return count;
}

/* Fails when threads took this array for another one: there are more copies in from it than arrays
 * of its length. Returns true when the verdict failed. */
static bool say_shared_argument(struct verdict *verdict, const struct evidence *evidence,
                                const struct threaded_view *view, uint32_t index)
{
    const struct query threads = {
        .phase = &view->phase, .kind = TRACE_CREATE, .what = TRACE_THREAD, .student = true};
    if (view->call->way != THREADED_BY_THREADS || copies_in(evidence, view, index) > 0)
        return false;
    for (uint32_t other = 0; other < view->call->count; other++) {
        const size_t copies = copies_in(evidence, view, other);
        size_t alike = 0;
        for (uint32_t i = 0; i < view->call->count; i++)
            alike += view->call->lengths[i] == view->call->lengths[other];
        if (copies <= alike) continue;
        verdict_fail(verdict, evidence, evidence_next(evidence, &threads, NULL),
                     "No thread copied array %u to the device, and %zu copied array %u.", index,
                     copies, other);
        verdict_why(verdict,
                    "A thread begins when it may, not when it is started, and reads its "
                    "argument then. By that time these found array %u in it.",
                    other);
        verdict_hint(verdict, "What a thread is given is its own: one struct for each thread, "
                              "filled in before pthread_create, and left as it is until the thread "
                              "has been joined.");
        return true;
    }
    return false;
}

bool threaded_array_is_right(struct verdict *verdict, const struct evidence *evidence,
                             const struct threaded_view *view, uint32_t index)
{
    char name[32];
    snprintf(name, sizeof name, "array %u", index);
    const struct host_reference_array array = {.function = view->function,
                                               .name = name,
                                               .input = threaded_before(view, index),
                                               .output = threaded_after(view, index),
                                               .length = (size_t)view->call->lengths[index]};
    if (!host_reference_same(array.input, array.output, array.length) &&
        (verdict_causes(verdict, evidence) ||
         verdict_threads_left(verdict, evidence, &view->phase)))
        return false;
    if (!host_reference_same(array.input, array.output, array.length) &&
        say_shared_argument(verdict, evidence, view, index))
        return false;
    if (!host_reference_compare(verdict, evidence, &array)) {
        if (view->call->way == THREADED_BY_PROCESSES && came_in_part(&array))
            verdict_hint(verdict,
                         "A pipe holds 64 KiB at a time, and read and write may move fewer "
                         "bytes than they are asked to: go on until all are through.");
        else if (view->call->way == THREADED_BY_PROCESSES)
            verdict_hint(verdict, "A child has a copy of its parent's memory, not the memory: what "
                                  "it writes to arrays[i].values stays in the child. Share a "
                                  "region (mmap, MAP_SHARED) before the fork, or send it through "
                                  "a pipe.");
        else
            verdict_hint(verdict,
                         "Each thread copies its own array in, launches the kernel on the "
                         "whole of it, and copies it out. Which array does thread %u "
                         "think it has?",
                         index);
        return false;
    }
    size_t length = (size_t)view->call->lengths[index];
    if (judge_first_difference(array.output + length, array.input + length, THREADED_GUARD,
                               sizeof(float)) < 0)
        return true;
    verdict_fail_in(verdict, evidence, view->function, "Array %u was written beyond its end.",
                    index);
    verdict_why(verdict, "The memory behind the array's last value belongs to something else.");
    verdict_hint(verdict, "Sizes of copies are in bytes: length * sizeof(float).");
    return false;
}

bool threaded_sum_is_right(const struct threaded_view *view, uint32_t index, double *sum)
{
    double scale = 0.0;
    *sum = host_reference_sum(threaded_before(view, index), (size_t)view->call->lengths[index],
                              &scale);
    return fabs(view->answer->results[index].sum - *sum) <= SUM_TOLERANCE * scale;
}

/* Returns the index of the array whose sum this result has, or `count`. */
static uint32_t whose_sum(const struct threaded_view *view, uint32_t index)
{
    const double given = view->answer->results[index].sum;
    for (uint32_t i = 0; i < view->call->count; i++) {
        double scale = 0.0;
        const double sum =
            host_reference_sum(threaded_before(view, i), (size_t)view->call->lengths[i], &scale);
        if (i != index && fabs(given - sum) <= SUM_TOLERANCE * scale) return i;
    }
    return view->call->count;
}

/* Explains a sum that is off by as much as an addition in float makes it. Returns false where it is
 * off by more. */
static bool say_rounded(struct verdict *verdict, const struct threaded_view *view, uint32_t index)
{
    double scale = 0.0;
    const double sum = host_reference_sum(threaded_before(view, index),
                                          (size_t)view->call->lengths[index], &scale);
    if (!(fabs(view->answer->results[index].sum - sum) <= FLOAT_TOLERANCE * scale)) return false;
    verdict_why(verdict, "It is off by as much as rounding to float makes it: a float has 24 "
                         "bits, and a thousand additions use them up.");
    verdict_hint(verdict, "Add up in a double from the first element on.");
    return true;
}

bool threaded_result_is_right(struct verdict *verdict, const struct evidence *evidence,
                              const struct threaded_view *view, uint32_t index)
{
    double sum, given = view->answer->results[index].sum;
    int32_t error = view->answer->results[index].error;
    uint32_t other;
    if (threaded_sum_is_right(view, index, &sum) && error == 0) return true;
    if (verdict_threads_left(verdict, evidence, &view->phase)) return false;

    if (error == THREADED_UNWRITTEN)
        verdict_fail_in(verdict, evidence, view->function, "results[%u] was not written.", index);
    else if (error)
        verdict_fail_in(verdict, evidence, view->function,
                        "results[%u].error is %d, although nothing was wrong with array %u.", index,
                        error, index);
    else
        verdict_fail_in(verdict, evidence, view->function,
                        "results[%u].sum is %.17g; the array's new values add up to %.17g.", index,
                        given, sum);
    if (error == 0 && say_rounded(verdict, view, index)) return false;
    if (view->call->way == THREADED_BY_PROCESSES) {
        verdict_why(verdict, "A child's variables end with the child. What its parent shall know "
                             "has to go through memory that both share, or through a pipe; an exit "
                             "status has eight bits.");
        verdict_hint(verdict, "Is the result written to shared memory in the child, and read in "
                              "the parent after waitpid?");
    } else if (error == 0 && (other = whose_sum(view, index)) < view->call->count) {
        verdict_why(verdict,
                    "That is the sum of array %u: its thread wrote to the place from which "
                    "this result was read.",
                    other);
        verdict_hint(verdict, "Each thread returns a place of its own: memory from malloc, or an "
                              "element of an array of its starter's. A static variable is one for "
                              "all threads.");
    } else {
        verdict_why(verdict, "What a thread has found out reaches its starter as the value that "
                             "pthread_join delivers. A pointer to a variable of the thread's own "
                             "stack, or to a thread-local one, points at nothing when the thread "
                             "has ended.");
        verdict_hint(verdict, "Return memory from malloc, or a place that the starter owns; take "
                              "it from pthread_join's second argument, and write results[i].");
    }
    return false;
}

/* Reports results that were read through the address of a thread-local variable after its thread
 * had ended. */
static bool ended_with_their_thread(struct verdict *verdict, const struct evidence *evidence,
                                    const struct threaded_view *view)
{
    int32_t spoiled;
    memset(&spoiled, THREADS_SPOILED, sizeof spoiled);
    for (uint32_t i = 0; i < view->call->count; i++) {
        if (view->answer->results[i].error != spoiled) continue;
        verdict_fail_in(verdict, evidence, BY_THREADS,
                        "results[%u] was read from a variable that had ended with its thread.", i);
        verdict_why(verdict,
                    "A thread-local variable ends with its thread, as its stack does; what "
                    "pthread_join delivers has to outlive the thread.");
        verdict_hint(verdict, "Return memory from malloc, or a place that the starter owns.");
        return true;
    }
    return false;
}

/* Reports a wrong length: the lesson's kernel stays below its length, so where it went past memory
 * of an array's size it got another length. */
static bool say_wrong_length(struct verdict *verdict, const struct evidence *evidence,
                             const struct threaded_view *view)
{
    const struct query findings = {.kind = TRACE_FINDING};
    for (const struct trace_record *f = NULL;
         (f = evidence_next(evidence, &findings, f)) != NULL;) {
        const struct trace_thing *memory = &f->finding.things[0];
        if (f->finding.id != FINDING_OUT_OF_BOUNDS || memory->relation != RELATION_OUTSIDE ||
            f->address < memory->address)
            continue;
        for (uint32_t i = 0; i < view->call->count; i++) {
            if (view->call->lengths[i] * sizeof(float) != memory->size) continue;
            verdict_fail(
                verdict, evidence, f,
                "The kernel went past the end of memory that has room for array %u, all of "
                "it: it was given a greater length.",
                i);
            verdict_why(verdict, "The kernel's length is a size_t, of 8 bytes. cuLaunchKernel "
                                 "takes as many as the parameter has from the address that it is "
                                 "given: of an unsigned, its 4 and the 4 that lie behind it.");
            verdict_hint(verdict, "The variable whose address is given has the parameter's own "
                                  "type, and counts floats: size_t length = array->length;");
            return true;
        }
    }
    return false;
}

/* Explains the function's error: where it came from when no call of its thread or process returned
 * it, or when a thread was given what was not there yet, or no more. */
static void explain_error(struct verdict *verdict, const struct evidence *evidence,
                          const struct threaded_view *view)
{
    const struct answer answer = threaded_answer(evidence, view);
    const struct trace_record *failed = answer_first_failed(&answer);
    const bool by_threads = view->call->way == THREADED_BY_THREADS && evidence->order != NULL;
    if (answer.code == ANSWER_NOT_WRITTEN) return;
    if (view->call->way == THREADED_BY_PROCESSES && failed == NULL) {
        verdict_why(verdict,
                    "No CUDA call failed in any child: what the children did and found out "
                    "did not reach their parent.");
        verdict_hint(verdict, "A child has a copy of its parent's memory, not the memory: results "
                              "go through a region that was shared before the fork (mmap, "
                              "MAP_SHARED), or through a pipe; and waitpid, with the child's own "
                              "pid, says how it ended.");
    } else if (by_threads && strcmp(evidence->order, "earliest") == 0) {
        verdict_hint(verdict, "Here each new thread ran before its starter went on: what it is "
                              "given has to be filled in before pthread_create, and has to be its "
                              "own.");
    } else if (by_threads && strcmp(evidence->order, "latest") == 0 && failed != NULL &&
               failed->code == INVALID_VALUE) {
        verdict_hint(verdict, "An argument of that call is wrong: a size, a pointer? Here each new "
                              "thread began only when its starter waited for it: what it is given "
                              "has to be there still, as it was, and its own, which a variable of "
                              "the loop that starts the threads is not.");
    }
}

void threaded_judge_finishes(struct verdict *verdict, const struct evidence *evidence)
{
    const struct threaded_input *in = evidence->input;
    for (uint32_t c = 0; c < in->call_count; c++) {
        struct threaded_view view;
        char doing[40];
        if (!threaded_view(verdict, evidence, c, &view)) return;
        struct answer answer = threaded_answer(evidence, &view);
        if (view.call->way == THREADED_BY_THREADS &&
            ended_with_their_thread(verdict, evidence, &view))
            return;
        if (answer.code != 0 && say_wrong_length(verdict, evidence, &view)) return;
        snprintf(doing, sizeof doing, "%u arrays", view.call->count);
        if (!answer_succeeded(verdict, &answer, doing)) {
            explain_error(verdict, evidence, &view);
            return;
        }
    }
    verdict_calls_succeed(verdict, evidence, NULL);
}

void threaded_judge_arrays(struct verdict *verdict, const struct evidence *evidence)
{
    if (!threaded_written(verdict, evidence)) return;
    const struct threaded_input *in = evidence->input;
    struct threaded_view view;
    for (uint32_t c = 0; c < in->call_count && threaded_view(verdict, evidence, c, &view); c++)
        for (uint32_t i = 0; i < view.call->count; i++)
            if (!threaded_array_is_right(verdict, evidence, &view, i)) return;
}

void threaded_judge_results(struct verdict *verdict, const struct evidence *evidence)
{
    if (!threaded_written(verdict, evidence)) return;
    const struct threaded_input *in = evidence->input;
    struct threaded_view view;
    for (uint32_t c = 0; c < in->call_count && threaded_view(verdict, evidence, c, &view); c++)
        for (uint32_t i = 0; i < view.call->count; i++)
            if (!threaded_result_is_right(verdict, evidence, &view, i)) return;
}
