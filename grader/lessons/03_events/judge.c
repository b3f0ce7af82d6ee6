/* The judge of lesson 03: the student's times against the device's own record of the same kernels;
 * where the events were recorded; what the queries returned; the statistics. */
#include "grader/evidence/judge.h"
#include "grader/base/messages.h"
#include "grader/evidence/answer.h"
#include "grader/evidence/failures.h"
#include "grader/evidence/given.h"
#include "grader/evidence/host_reference.h"
#include "grader/evidence/timing.h"
#include "grader/evidence/waits.h"
#include "grader/lessons/03_events/between.h"
#include "grader/lessons/03_events/statistics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define INVALID_VALUE 1
#define NOT_READY 600

/* ---- runs --------------------------------------------------------------------------------- */

/* The tasks of a call differ in length: streams share the device's queues, and an end event that is
 * recorded late waits in a queue after that of a longer kernel. */
static int prepare_lengths(struct run_input *input, uint32_t many_count, int64_t one,
                           int64_t short_few, int64_t long_few, int64_t short_many,
                           int64_t long_many)
{
    struct events_input *in = run_input_allocate(input, sizeof *in);
    if (in == NULL) return -1;
    in->many = many_count;
    in->refused = (uint32_t)random_between(input->random, 2, EVENTS_FEW - 2);
    for (uint32_t i = 0; i < 1 + EVENTS_FEW + in->many; i++) {
        const int64_t length = i == 0 ? one + random_between(input->random, 1, 999)
                               : i <= EVENTS_FEW
                                   ? random_between(input->random, short_few, long_few)
                                   : random_between(input->random, short_many, long_many);
        in->tasks[i].length = (uint64_t)length;
        in->tasks[i].seed = random_bits(input->random);
    }
    statistics_draw(input->random, in);
    input->output_size = sizeof(struct events_output);
    return 0;
}

/* On a GPU the real constants: one kernel over 100 arrays' worth of floats, and an array per
 * stream. */
static int prepare_times(struct run_input *input)
{
    if (input->device == DRIVE_GPU)
        return prepare_lengths(input, 100, 100ll << 20, 300000, 2000000, 1 << 19, 1 << 21);
    return prepare_lengths(input, 20, 40000, 12000, 40000, 12000, 36000);
}

static int prepare_failures(struct run_input *input)
{
    return prepare_lengths(input, 0, 2000, 20000, 30000, 0, 0);
}

/* More kernels than a table of 16, 64, 128 or 256 holds, and than are resident at a time. */
static int prepare_crowd(struct run_input *input)
{
    return prepare_lengths(input, EVENTS_MANY, 2000, 200, 300, 500, 500);
}

static int prepare_slow(struct run_input *input)
{
    return prepare_lengths(input, 0, 2000, 200, 300, 0, 0);
}

static int prepare_each_failure(struct run_input *input)
{
    return prepare_lengths(input, 2, 2000, 200, 300, 12000, 12000);
}

static int prepare_timed(struct run_input *input)
{
    if (input->device == DRIVE_GPU)
        return prepare_lengths(input, 32, 1 << 20, 300000, 600000, 1 << 19, 1 << 19);
    return prepare_lengths(input, 16, 20000, 12000, 20000, 12000, 12000);
}

static const struct run_plan runs[] = {
    {.name = "times",
     .flags = RUN_ON_BOTH | RUN_IN_EVERY_ORDER | RUN_ALONE,
     .prepare = prepare_times,
     .seconds = 60.0},
    {.name = "failures", .flags = RUN_ON_BOTH, .prepare = prepare_failures},
    {.name = "crowd", .flags = RUN_ON_BOTH, .prepare = prepare_crowd},
    {.name = "slow", .flags = RUN_ON_EMULATOR, .prepare = prepare_slow, .seconds = 60.0},
    {.name = "timed",
     .flags = RUN_ON_BOTH | RUN_TIMED,
     .prepare = prepare_timed,
     .phase = EVENTS_PHASE_ALL,
     .threshold = &threshold_events},
    FAILURES_PLAN(prepare_each_failure),
    {0},
};

/* ---- checks: times -------------------------------------------------------------------------- */

static bool is_poison(float value)
{
    float poison;
    memset(&poison, DRIVE_POISON, sizeof poison);
    return memcmp(&value, &poison, sizeof value) == 0;
}

/* Explains a wrong time, as far as the number itself shows. */
static void explain(struct verdict *verdict, float measured, double device)
{
    if (is_poison(measured) || measured == 0.0f) {
        verdict_why(verdict, "Perhaps it was asked for before there was one: cudaEventElapsedTime "
                             "answers cudaErrorNotReady (600) until the device has come past both "
                             "events.");
        verdict_hint(verdict, "Wait for the end event first, and look at what "
                              "cudaEventElapsedTime returns.");
    } else if (fabs(measured * 1e3 - device) <= limit_events_agreement * device) {
        verdict_why(verdict, "That is the time in seconds.");
        verdict_hint(verdict, "cudaEventElapsedTime gives milliseconds, and milliseconds are asked "
                              "for.");
    } else if (measured > device) {
        verdict_why(verdict,
                    "A time between two events is the time of all that the device, and the "
                    "host, did between them.");
        verdict_hint(verdict, "Record the start right before the kernel's launch and the end right "
                              "behind it, both in the kernel's stream: not before other launches, "
                              "not behind a wait. A clock of the host also counts the way there "
                              "and back.");
    } else {
        verdict_why(verdict, "The end event completed before the kernel had ended, or the start "
                             "event after it had begun.");
        verdict_hint(verdict, "Record start, launch, record end, in this order, and all three in "
                              "the kernel's stream. In another stream the event has nothing to "
                              "wait for.");
    }
}

/* Returns the call that returned the kernel's time, or should have; NULL: there is none. */
static const struct trace_record *time_of(const struct evidence *evidence,
                                          const struct events_called *called, uint32_t i)
{
    const struct query calls = {.phase = &called->phase,
                                .kind = TRACE_CALL,
                                .name = "cudaEventElapsedTime*",
                                .student = true};
    const struct trace_record *call = NULL, *found = NULL;
    for (uint32_t k = 0; k <= i && (call = evidence_next(evidence, &calls, call)) != NULL; k++)
        found = call;
    return found;
}

/* On the software device kernels take microseconds, of which the events themselves take two. */
#define EVENTS_OWN_MS 0.005

static bool agrees(double measured, double device)
{
    return fabs(measured - device) <= limit_events_agreement * device + EVENTS_OWN_MS;
}

/* Returns true when the host was late between the first event's call and the launch, or between the
 * launch and the second event's call. The machine is to blame unless this holds for most
 * kernels. */
static bool host_was_late(const struct events_view *view, const struct events_called *called,
                          const struct trace_record *kernel, double measured)
{
    const struct events_around around = events_around_kernel(view->evidence, called, kernel);

    return view->evidence->device == DRIVE_GPU && around.before != NULL && around.after != NULL &&
           measured <= timing_most_between_events(around.before, kernel, around.after) * 1e-6 *
                           (1 + limit_events_agreement);
}

static void say_disagrees(struct verdict *verdict, const struct evidence *evidence,
                          const struct events_called *called, uint32_t i, double device)
{
    const struct trace_record *at = time_of(evidence, called, i);
    const float measured = called->milliseconds[i];

    if (is_poison(measured))
        verdict_fail(verdict, evidence, at,
                     "Kernel %u of %u: no time was written; the device's own record says "
                     "%.4f ms.",
                     i, called->count, device);
    else
        verdict_fail(verdict, evidence, at,
                     "Kernel %u of %u: measured %.4f ms, the device's own record says %.4f "
                     "ms.",
                     i, called->count, (double)measured, device);
    explain(verdict, measured, device);
}

/* Fails when the kernel's events are not around it in its stream, which a check of its own reports:
 * what else is wrong with its time follows from that. */
static bool say_not_around(struct verdict *verdict, const struct evidence *evidence,
                           const struct events_called *called, const struct trace_record *kernel,
                           uint32_t i)
{
    static const char where[] = "Events.EventsAreInTheKernelsStream";
    const struct events_around around = events_around_kernel(evidence, called, kernel);
    if (around.launch == NULL || (around.before != NULL && around.after != NULL)) return false;
    verdict_fail(verdict, evidence, kernel,
                 "Not judged: kernel %u of %u has no event before and behind it in its stream "
                 "(see %s).",
                 i, called->count, where);
    verdict_not_judged(verdict, where);
    return true;
}

static bool say_any_not_around(struct verdict *verdict, const struct evidence *evidence,
                               const struct events_called *called)
{
    for (uint32_t i = 0; i < called->count; i++) {
        const struct trace_record *kernel = events_kernel_of(evidence, called, i);
        if (kernel != NULL && say_not_around(verdict, evidence, called, kernel, i)) return true;
    }
    return false;
}

static void judge_times(struct verdict *verdict, const struct events_view *view,
                        enum events_which which)
{
    struct events_called called;
    double worst = 0.0;
    uint32_t late = 0;
    if (!events_call_succeeded(verdict, view, which, &called)) return;
    if (say_any_not_around(verdict, view->evidence, &called)) return;
    if (called.answer.phase != NULL &&
        waits_say_left(verdict, view->evidence, &called.phase, called.answer.function, ""))
        return;
    for (uint32_t i = 0; i < called.count; i++) {
        const struct trace_record *kernel = events_kernel_get(verdict, view, &called, i);
        if (kernel == NULL) return;
        if (kernel->end_ns <= kernel->start_ns) {
            verdict_skip(verdict, "the device did not say how long the kernel took");
            return;
        }
        const double device = (double)(kernel->end_ns - kernel->start_ns) * 1e-6;
        const double measured = called.milliseconds[i];
        const double off = fmax(fabs(measured - device) - EVENTS_OWN_MS, 0) / device;
        if (agrees(measured, device)) {
            if (off > worst) worst = off;
            continue;
        }
        if (events_say_between(verdict, view->evidence, &called, kernel, i)) return;
        if (measured > device && host_was_late(view, &called, kernel, measured) &&
            2 * ++late < called.count)
            continue;
        say_disagrees(verdict, view->evidence, &called, i, device);
        return;
    }
    if (which == EVENTS_CALL_ONE)
        verdict_figure(
            verdict, "one_kernel", "%.3f ms, %.2f %% off the device's own record (at most %.0f %%)",
            (double)called.milliseconds[0], 100.0 * worst, 100.0 * limit_events_agreement);
    else
        verdict_figure(verdict, which == EVENTS_CALL_FEW ? "few_kernels" : "many_kernels",
                       "%u kernels, at most %.2f %% off the device's own record (at most %.0f %%)",
                       called.count, 100.0 * worst, 100.0 * limit_events_agreement);
}

static void judge_one(struct verdict *verdict, const struct evidence *evidence)
{
    const struct events_view view = events_look(evidence);
    judge_times(verdict, &view, EVENTS_CALL_ONE);
}

static void judge_each(struct verdict *verdict, const struct evidence *evidence)
{
    const struct events_view view = events_look(evidence);
    judge_times(verdict, &view, EVENTS_CALL_FEW);
    if (!verdict_failed(verdict)) judge_times(verdict, &view, EVENTS_CALL_MANY);
}

/* The results of cudaEventQuery for one event, from the record. */
struct asked {
    const struct trace_record *first, *last;
    size_t count;
};

static struct asked asked_for(const struct evidence *evidence, const struct events_called *called,
                              uint64_t event)
{
    static const char *const names[] = {"cudaEventQuery*", "cuEventQuery*"};
    struct asked asked = {NULL, NULL, 0};
    for (int n = 0; n < 2; n++) {
        const struct query calls = {.phase = &called->phase,
                                    .kind = TRACE_CALL,
                                    .name = names[n],
                                    .object = event,
                                    .student = true};
        const struct trace_record *call = NULL;
        while ((call = evidence_next(evidence, &calls, call)) != NULL) {
            if (asked.first == NULL || call < asked.first) asked.first = call;
            if (asked.last == NULL || call > asked.last) asked.last = call;
            asked.count++;
        }
    }
    return asked;
}

/* Returns the first call that waits after `begin` and before `end` (NULL: no limit), or NULL. A
 * query waits from its second consecutive call on. */
static const struct trace_record *wait_between(const struct evidence *evidence,
                                               const struct events_called *called,
                                               const struct trace_record *begin,
                                               const struct trace_record *end)
{
    const struct query calls = {.phase = &called->phase, .kind = TRACE_CALL, .student = true};
    const struct trace_record *call = begin, *before = NULL;
    while ((call = evidence_next(evidence, &calls, call)) != NULL && (end == NULL || call < end)) {
        const bool again = before != NULL && before->object == call->object &&
                           strcmp(before->name, call->name) == 0;
        if (waits_call(call) && (!waits_query(call) || again)) return call;
        before = call;
    }
    return NULL;
}

/* Checks that one of the two events was queried once after the launch and before the wait, with the
 * reported result, and again after the wait.
 */
static bool asked_twice(struct verdict *verdict, const struct events_view *view,
                        const struct events_called *called, const struct trace_record *launch,
                        const struct trace_record *event, const char *which, int before)
{
    const struct evidence *evidence = view->evidence;
    const struct asked asked = asked_for(evidence, called, event->object);
    char name[ANSWER_NAME_SIZE], said[ANSWER_NAME_SIZE];
    const struct trace_record *wait = NULL;

    if (asked.count >= 1 && asked.first > launch)
        wait = wait_between(evidence, called, launch, asked.first);
    if (asked.count == 0 || asked.first < launch) {
        verdict_fail(verdict, evidence, event,
                     "The %s event is %s: %s_before is no answer of the device's.", which,
                     asked.count == 0 ? _("never asked for") : _("asked for before the launch"),
                     which);
    } else if (wait != NULL) {
        verdict_fail(verdict, evidence, wait,
                     "%.*s makes the host wait before the %s event is asked for the first time.",
                     TRACE_NAME_SIZE, wait->name, which);
    } else if (asked.first->code != before) {
        verdict_fail(verdict, evidence, asked.first, "%s_before is %s, and the answer here was %s.",
                     which, answer_name(ANSWER_RUNTIME, before, name),
                     answer_name(ANSWER_RUNTIME, asked.first->code, said));
    } else if (asked.count < 2 || asked.last->code != 0) {
        verdict_fail(verdict, evidence, asked.last,
                     "The %s event is asked for here and not again after the wait: %s_after is no "
                     "answer of the device's.",
                     which, which);
    } else {
        return true;
    }
    verdict_why(verdict, "Each answer is what cudaEventQuery returns at that moment: right behind "
                         "the launch, without a wait, and once more after the wait.");
    verdict_hint(verdict, "Four calls of cudaEventQuery: both events behind the launch, and both "
                          "behind the wait; keep what each returned.");
    return false;
}

static void judge_questions(struct verdict *verdict, const struct events_view *view,
                            const struct events_called *called)
{
    const struct trace_record *kernel = events_kernel_of(view->evidence, called, 0);
    if (kernel == NULL) return; /* reported by OneKernelIsTimed */
    const struct events_around around = events_around_kernel(view->evidence, called, kernel);
    if (around.launch == NULL || around.before == NULL || around.after == NULL) return;
    const struct events_output_one *one = &view->out->one;
    if (asked_twice(verdict, view, called, around.launch, around.before, "start",
                    one->start_before))
        asked_twice(verdict, view, called, around.launch, around.after, "end", one->end_before);
}

static void judge_queries(struct verdict *verdict, const struct evidence *evidence)
{
    const struct events_view view = events_look(evidence);
    const struct events_output_one *one = &view.out->one;
    char name[ANSWER_NAME_SIZE];
    struct events_called called;
    if (!events_call_get(verdict, &view, EVENTS_CALL_ONE, &called)) return;
    judge_questions(verdict, &view, &called);
    if (verdict_failed(verdict)) return;
    if (one->start_before != 0 && one->start_before != NOT_READY) {
        verdict_fail_in(verdict, evidence, EVENTS_ONE,
                        "start_before is %s; it can only be success or not ready.",
                        answer_name(ANSWER_RUNTIME, one->start_before, name));
        verdict_hint(verdict, "Put there what cudaEventQuery returns for the start event.");
    } else if (one->end_before != NOT_READY) {
        verdict_fail_in(verdict, evidence, EVENTS_ONE,
                        "end_before is %s, must be cudaErrorNotReady (600).",
                        answer_name(ANSWER_RUNTIME, one->end_before, name));
        verdict_why(verdict,
                    "The launch returns at once. A moment later the kernel still runs, and "
                    "the event behind it has not been passed.");
        verdict_hint(verdict, "Ask for the end event right after it was recorded in the kernel's "
                              "stream, before anything waits.");
    } else if (one->start_after != 0 || one->end_after != 0) {
        verdict_fail_in(verdict, evidence, EVENTS_ONE, "%s_after is %s, must be cudaSuccess (0).",
                        one->start_after != 0 ? "start" : "end",
                        answer_name(ANSWER_RUNTIME,
                                    one->start_after != 0 ? one->start_after : one->end_after,
                                    name));
        verdict_why(verdict, "After the wait both events have completed.");
        verdict_hint(verdict, "cudaEventSynchronize(end), then ask again.");
    }
}

static bool is_of_a_task(const struct evidence *evidence, const struct events_called *called,
                         uint64_t stream)
{
    for (uint32_t i = 0; i < called->count; i++)
        if (given_stream(evidence, called->first + i) == stream) return true;
    return false;
}

/* Returns a record of an event in a stream that is no task's, as an example. */
static const struct trace_record *strayed(const struct evidence *evidence,
                                          const struct events_called *called)
{
    const struct query calls = {
        .phase = &called->phase, .kind = TRACE_CALL, .name = "cudaEventRecord*", .student = true};
    const struct trace_record *call = NULL;
    while ((call = evidence_next(evidence, &calls, call)) != NULL)
        if (!is_of_a_task(evidence, called, call->stream)) return call;
    return NULL;
}

static void judge_streams(struct verdict *verdict, const struct evidence *evidence)
{
    const struct events_view view = events_look(evidence);
    for (enum events_which which = EVENTS_CALL_ONE; which < EVENTS_CALL_COUNT; which++) {
        struct events_called called;
        if (!events_call_get(verdict, &view, which, &called)) return;
        for (uint32_t i = 0; i < called.count; i++) {
            const struct trace_record *kernel = events_kernel_get(verdict, &view, &called, i);
            if (kernel == NULL) return;
            const struct events_around around = events_around_kernel(evidence, &called, kernel);
            if (around.launch == NULL || (around.before != NULL && around.after != NULL)) continue;
            const struct trace_record *astray = strayed(evidence, &called);
            verdict_fail(
                verdict, evidence, astray != NULL ? astray : kernel,
                around.before == NULL
                    ? N_("Kernel %u of %u: no event is recorded in its stream before its launch.")
                    : N_("Kernel %u of %u: no event is recorded in its stream after its launch."),
                i, called.count);
            verdict_why(verdict, "An event completes when the work before it in its own stream "
                                 "has. In another stream it says nothing about this kernel.");
            if (astray != NULL)
                verdict_hint(verdict, "The second argument of cudaEventRecord is the stream; "
                                      "without it, or 0, it is the default stream.");
            else
                verdict_hint(verdict, "Record the start, launch, record the end: in this order, "
                                      "for each kernel.");
            return;
        }
    }
}

static void judge_pairs(struct verdict *verdict, const struct evidence *evidence)
{
    const struct events_view view = events_look(evidence);
    for (enum events_which which = EVENTS_CALL_ONE; which < EVENTS_CALL_COUNT; which++) {
        struct events_called called;
        uint64_t seen[2 * EVENTS_MANY];
        size_t count = 0;
        if (!events_call_get(verdict, &view, which, &called)) return;
        for (uint32_t i = 0; i < called.count; i++) {
            const struct trace_record *kernel = events_kernel_get(verdict, &view, &called, i);
            if (kernel == NULL) return;
            const struct events_around around = events_around_kernel(evidence, &called, kernel);
            const struct trace_record *records[2] = {around.before, around.after};
            if (is_poison(called.milliseconds[i]) || !(called.milliseconds[i] > 0.0f)) {
                if (say_not_around(verdict, evidence, &called, kernel, i)) return;
                verdict_fail(verdict, evidence, kernel,
                             "Kernel %u of %u was launched here, and its time is %g ms.", i,
                             called.count, (double)called.milliseconds[i]);
                verdict_hint(verdict, "cudaEventElapsedTime for each of the `count` tasks, however "
                                      "many there are.");
                return;
            }
            for (int k = 0; k < 2; k++) {
                if (records[k] == NULL) continue; /* reported by EventsAreInTheKernelsStream */
                for (size_t s = 0; s < count; s++) {
                    if (seen[s] != records[k]->object) continue;
                    verdict_fail(verdict, evidence, records[k],
                                 k == 0
                                     ? N_("The event recorded before kernel %u of %u was recorded "
                                          "for another purpose in the same call already.")
                                     : N_("The event recorded after kernel %u of %u was recorded "
                                          "for another purpose in the same call already."),
                                 i, called.count);
                    verdict_why(verdict, "An event holds one time. Recorded again, it forgets the "
                                         "first.");
                    verdict_hint(verdict, "Two events per kernel, kept until its time is read.");
                    return;
                }
                seen[count++] = records[k]->object;
            }
        }
    }
}

static void judge_clock(struct verdict *verdict, const struct evidence *evidence)
{
    const struct events_view view = events_look(evidence);
    for (enum events_which which = EVENTS_CALL_ONE; which < EVENTS_CALL_COUNT; which++) {
        static const char *const names[] = {"cudaEventElapsedTime*", "cuEventElapsedTime*"};
        struct events_called called;
        const struct trace_record *refused = NULL;
        size_t answered = 0;
        if (!events_call_get(verdict, &view, which, &called)) return;
        for (int n = 0; n < 2; n++) {
            const struct query calls = {
                .phase = &called.phase, .kind = TRACE_CALL, .name = names[n], .student = true};
            const struct trace_record *call = NULL;
            while ((call = evidence_next(evidence, &calls, call)) != NULL) {
                answered += call->code == 0;
                if (call->code != 0 && refused == NULL) refused = call;
            }
        }
        if (answered >= called.count) continue;
        if (refused != NULL) {
            char name[ANSWER_NAME_SIZE];
            verdict_fail(verdict, evidence, refused,
                         "%.*s gave %s and no time, and %s returned success.", TRACE_NAME_SIZE,
                         refused->name, answer_name(ANSWER_RUNTIME, refused->code, name),
                         called.answer.function);
            explain(verdict, 0.0f, 0.0);
            return;
        }
        verdict_fail_in(verdict, evidence, called.answer.function,
                        called.count == 1
                            ? N_("%u kernel was timed, but the device gave a time %zu times.")
                            : N_("%u kernels were timed, but the device gave a time %zu times."),
                        called.count, answered);
        verdict_why(verdict,
                    "A clock of the host counts the launch, the wait and the way back as well, and "
                    "with several streams it cannot tell one kernel from another.");
        verdict_hint(verdict, "cudaEventElapsedTime for every pair of events, after the wait, with "
                              "success.");
        return;
    }
}

static void judge_side_by_side(struct verdict *verdict, const struct evidence *evidence)
{
    const struct events_view view = events_look(evidence);
    for (enum events_which which = EVENTS_CALL_FEW; which < EVENTS_CALL_COUNT; which++) {
        struct events_called called;
        if (!events_call_get(verdict, &view, which, &called)) return;
        const struct waits waits = waits_in(evidence, &called.phase);
        if (waits.early == NULL) continue;
        verdict_fail(verdict, evidence, waits.early,
                     "%.*s makes the host wait before all kernels are launched.", TRACE_NAME_SIZE,
                     waits.early->name);
        verdict_why(verdict, "Then the kernels run one after the other, and what is measured is "
                             "another program than the one with streams.");
        verdict_hint(verdict, "Launch everything first, with its events; then wait; then read the "
                              "times.");
        return;
    }
}

/* ---- checks: results, failures, leaks ----------------------------------------------------------
 */

/* Reports that a kernel did not run exactly once on element `index`, at the first surplus launch or
 * at the last launch. */
static void say_not_once(struct verdict *verdict, const struct events_view *view,
                         const struct events_called *called, uint32_t i, size_t index, float found)
{
    const struct evidence *evidence = view->evidence;
    const uint32_t task = called->first + i;
    const float before = values_at(view->in->tasks[task].seed, index);
    const float expected = host_reference_expected(before, index);
    const struct query kernels = {.phase = &called->phase,
                                  .kind = TRACE_OPERATION,
                                  .what = TRACE_KERNEL,
                                  .stream = given_stream(evidence, task)};
    const struct trace_record *kernel = NULL, *last = NULL;
    size_t launches = 0;

    while (launches < 2 && (kernel = evidence_next(evidence, &kernels, kernel)) != NULL) {
        last = kernel;
        launches++;
    }
    verdict_fail(verdict, evidence, last,
                 "Task %u of %u: element %zu of its array is %.9g, must be %.9g after one launch "
                 "(it was %.9g before).",
                 i, called->count, index, (double)found, (double)expected, (double)before);
    verdict_why(verdict, "Measuring must not change what is measured: each kernel runs once, on "
                         "its whole array.");
    if (launches > 1)
        verdict_hint(verdict, "Here it is launched again. A warm-up launch of your own counts, "
                              "too.");
    else
        verdict_hint(verdict, "kernel(task->array, task->length, task->stream), once per task.");
}

/* Checks that each kernel ran once, on the whole array. */
static bool ran_once(struct verdict *verdict, const struct events_view *view,
                     const struct events_called *called, uint32_t i)
{
    const uint32_t task = called->first + i;
    const struct events_input_task *t = &view->in->tasks[task];
    for (int window = 0; window < 2; window++) {
        const size_t begin = window == 0 ? 0 : t->length - EVENTS_WINDOW;
        for (size_t k = 0; k < EVENTS_WINDOW; k++) {
            const float expected =
                host_reference_expected(values_at(t->seed, begin + k), begin + k);
            const float found = view->out->windows[task][window][k];
            if (memcmp(&found, &expected, sizeof found) == 0) continue;
            say_not_once(verdict, view, called, i, begin + k, found);
            return false;
        }
    }
    return true;
}

static void judge_once(struct verdict *verdict, const struct evidence *evidence)
{
    const struct events_view view = events_look(evidence);
    for (enum events_which which = EVENTS_CALL_ONE; which < EVENTS_CALL_COUNT; which++) {
        struct events_called called;
        if (!events_call_succeeded(verdict, &view, which, &called)) return;
        for (uint32_t i = 0; i < called.count; i++)
            if (!ran_once(verdict, &view, &called, i)) return;
    }
}

static bool failed_well(struct verdict *verdict, const struct events_view *view)
{
    const struct {
        const char *phase, *function;
        int code, expected;
        const char *because, *before;
    } ways[] = {
        {EVENTS_PHASE_ONE_FAILS, EVENTS_ONE, view->out->one_failed.code, INVALID_VALUE,
         "the kernel's launch was refused", "The kernel's launch was refused; "},
        {EVENTS_PHASE_EACH_FAILS, EVENTS_EACH, view->out->each_failed.code, INVALID_VALUE,
         "one of the kernels' launches was refused", "One of the kernels' launches was refused; "},
        {EVENTS_PHASE_ONE_UNTOLD, EVENTS_ONE, view->out->one_untold.code, EVENTS_UNTOLD_ERROR,
         "that is what kernel(...) returned", "kernel(...) returned an error; "},
        {EVENTS_PHASE_EACH_UNTOLD, EVENTS_EACH, view->out->each_untold.code, EVENTS_UNTOLD_ERROR,
         "that is what one of the calls of kernel(...) returned",
         "One of the calls of kernel(...) returned an error; "},
    };
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct phase phase;
        const struct answer answer = answer_in(view->evidence, ways[i].phase, 0, ways[i].function,
                                               ANSWER_RUNTIME, ways[i].code, &phase);
        if (!answer_launch_failed_with(verdict, &answer, ways[i].expected, ways[i].because))
            return false;
        if (answer.phase != NULL &&
            waits_say_left(verdict, view->evidence, &phase, ways[i].function, ways[i].before))
            return false;
    }
    if (view->out->each_failed.busy == 0 && view->out->each_untold.busy == 0) return true;
    verdict_fail_in(verdict, view->evidence, EVENTS_EACH,
                    "events_time_each returned an error while %u of the streams still had work.",
                    view->out->each_failed.busy + view->out->each_untold.busy);
    verdict_why(verdict, "The caller will release the arrays that those kernels work on.");
    verdict_hint(verdict, "Wait on the way out of a failure as well.");
    return false;
}

/* Checks a call whose stream had earlier work of the caller's: before the wait the start event is
 * not ready either. */
static bool answered_behind(struct verdict *verdict, const struct events_view *view)
{
    const char *behind = _("a kernel in a stream that has other work to do first");
    const struct events_output_one *one = &view->out->one_behind;
    struct events_called called;
    char name[ANSWER_NAME_SIZE];

    events_call_look(view, EVENTS_CALL_ONE, &called);
    called.answer = answer_in(view->evidence, EVENTS_PHASE_ONE_BEHIND, 0, EVENTS_ONE,
                              ANSWER_RUNTIME, one->code, &called.phase);
    if (one->code == NOT_READY && say_any_not_around(verdict, view->evidence, &called))
        return false;
    const struct trace_record *time = time_of(view->evidence, &called, 0);
    if (one->code == NOT_READY && time != NULL && time->code == NOT_READY) {
        verdict_fail(verdict, view->evidence, time,
                     "cudaEventElapsedTime gave cudaErrorNotReady (600), and events_time_one "
                     "returned that for %s.",
                     behind);
        explain(verdict, 0.0f, 0.0);
        return false;
    }
    if (one->code == NOT_READY) {
        const struct asked asked = asked_for(view->evidence, &called, 0);
        verdict_fail(verdict, view->evidence, asked.first,
                     "events_time_one returned cudaErrorNotReady (600) for %s.", behind);
        verdict_why(verdict, "The device has not come to the start yet. That is an answer, and no "
                             "error: it belongs into start_before.");
        verdict_hint(verdict, "Return what cudaEventQuery says only where it is neither "
                              "cudaSuccess nor cudaErrorNotReady.");
        return false;
    }
    if (!answer_succeeded(verdict, &called.answer, behind)) return false;
    if (view->evidence->device == DRIVE_GPU || one->start_before == NOT_READY) return true;
    verdict_fail_in(verdict, view->evidence, EVENTS_ONE,
                    "For %s, start_before is %s, must be cudaErrorNotReady (600).", behind,
                    answer_name(ANSWER_RUNTIME, one->start_before, name));
    verdict_why(verdict, "Behind the launch the device is still at what the caller had put into "
                         "the stream before: it has come to neither of the events.");
    verdict_hint(verdict, "Put there what cudaEventQuery returns for the start event, before "
                          "anything waits.");
    return false;
}

static void judge_failures(struct verdict *verdict, const struct evidence *evidence)
{
    static const char *const right = N_(
        "a right call after some that had failed, while the runtime still remembered an error of "
        "its caller's as its last");
    const struct events_view view = events_look(evidence);
    const struct events_output *out = view.out;
    struct events_called called;

    if (!failed_well(verdict, &view)) return;
    struct answer answer = {evidence, NULL, EVENTS_EACH, ANSWER_RUNTIME, out->each_of_none};
    if (!answer_succeeded(verdict, &answer, "no tasks at all (count 0)")) return;
    answer = (struct answer){evidence, NULL, STATISTICS, ANSWER_RUNTIME, out->statistics_of_none};
    if (!answer_failed_with(verdict, &answer, INVALID_VALUE, "no numbers have no mean (count 0)") ||
        !statistics_calls_nothing(verdict, evidence, EVENTS_PHASE_STATISTICS_OF_NONE))
        return;
    if (!answered_behind(verdict, &view)) return;
    for (enum events_which which = EVENTS_CALL_ONE; which <= EVENTS_CALL_FEW; which++) {
        events_call_look(&view, which, &called);
        if (!answer_succeeded(verdict, &called.answer, right)) return;
    }
}

static void judge_patience(struct verdict *verdict, const struct evidence *evidence)
{
    const struct events_view view = events_look(evidence);
    for (enum events_which which = EVENTS_CALL_ONE;
         which <= EVENTS_CALL_FEW && !verdict_failed(verdict); which++) {
        struct events_called called;
        events_call_look(&view, which, &called);
        if (!answer_succeeded(verdict, &called.answer, "kernels that take seconds")) return;
        if (called.answer.phase == NULL) continue;
        if (say_any_not_around(verdict, evidence, &called)) return;
        if (waits_say_left(verdict, evidence, &called.phase, called.answer.function,
                           "The kernels took seconds this time; "))
            waits_hint_patience(verdict, evidence, &called.phase);
        else
            judge_times(verdict, &view, which);
    }
}

static void judge_left(struct verdict *verdict, const struct evidence *evidence)
{
    const struct events_view view = events_look(evidence);
    for (enum events_which which = EVENTS_CALL_ONE;
         which < EVENTS_CALL_COUNT && !verdict_failed(verdict); which++) {
        struct events_called called;
        if (!events_call_get(verdict, &view, which, &called)) return;
        if (called.answer.phase != NULL) verdict_leaks(verdict, evidence, &called.phase);
    }
    if (verdict_failed(verdict))
        verdict_hint(verdict, "cudaEventDestroy for every event that cudaEventCreate made.");
}

static void judge_left_on_failure(struct verdict *verdict, const struct evidence *evidence)
{
    static const char *const phases[] = {EVENTS_PHASE_ONE_FAILS, EVENTS_PHASE_EACH_FAILS};
    const struct events_view view = events_look(evidence);
    const struct answer answers[] = {
        {evidence, NULL, EVENTS_ONE, ANSWER_RUNTIME, view.out->one_failed.code},
        {evidence, NULL, EVENTS_EACH, ANSWER_RUNTIME, view.out->each_failed.code}};
    struct phase phase;

    for (int i = 0; i < 2 && !verdict_failed(verdict); i++) {
        if (!answer_written(verdict, &answers[i])) return;
        if (evidence_phase(evidence, phases[i], 0, &phase))
            verdict_leaks(verdict, evidence, &phase);
    }
    if (verdict_failed(verdict))
        verdict_hint(verdict, "A launch was refused after the events had been made. Send every "
                              "failure through the clean-up at the end.");
}

static void judge_time(struct verdict *verdict, const struct evidence *evidence)
{
    for (size_t r = 0; r < evidence->repeat_count; r++) {
        judge_once(verdict, &evidence->repeats[r]);
        if (verdict_failed(verdict)) return;
    }
    verdict_time_ratio(verdict, evidence);
    if (verdict_failed(verdict))
        verdict_hint(verdict, "Launch all kernels before the first wait; an event record costs the "
                              "host little, a wait much.");
}

static struct answer answer_to_failure(const struct evidence *evidence,
                                       const struct trace_record *failed, struct phase *phase)
{
    const struct events_view view = events_look(evidence);
    struct events_called called;
    uint32_t index;
    events_call_look(&view,
                     failures_find(evidence, EVENTS_PHASE_ONE, failed, phase, &index)
                         ? EVENTS_CALL_ONE
                         : EVENTS_CALL_MANY,
                     &called);
    *phase = called.phase;
    called.answer.phase = phase;
    return called.answer;
}

/* Returns true when all kernels of both calls are timed. */
static bool is_right_all_the_same(const struct evidence *evidence)
{
    static const enum events_which calls[] = {EVENTS_CALL_ONE, EVENTS_CALL_MANY};
    const struct events_view view = events_look(evidence);
    const struct events_output_one *one = &view.out->one;
    /* Any other result is an error of the query, which has to be returned. */
    if ((one->start_before != 0 && one->start_before != NOT_READY) ||
        (one->end_before != 0 && one->end_before != NOT_READY) || one->start_after != 0 ||
        one->end_after != 0)
        return false;
    for (int c = 0; c < 2; c++) {
        struct events_called called;
        events_call_look(&view, calls[c], &called);
        for (uint32_t i = 0; i < called.count; i++) {
            const struct trace_record *kernel = events_kernel_of(evidence, &called, i);
            if (called.answer.code != 0 || kernel == NULL) return false;
            const double device = (double)(kernel->end_ns - kernel->start_ns) * 1e-6;
            if (!agrees((double)called.milliseconds[i], device)) return false;
        }
    }
    return true;
}

static void judge_each_failure(struct verdict *verdict, const struct evidence *evidence)
{
    static const struct failures_contract contract = {.api = ANSWER_RUNTIME,
                                                      .answer = answer_to_failure,
                                                      .right = is_right_all_the_same,
                                                      .waits = true};
    const struct events_view view = events_look(evidence);
    struct events_called called;
    if (events_call_get(verdict, &view, EVENTS_CALL_ONE, &called) &&
        events_call_get(verdict, &view, EVENTS_CALL_MANY, &called))
        failures_judge(verdict, evidence, &contract);
}

/* Fails for everything that the device itself reports. */
static void judge_findings(struct verdict *verdict, const struct evidence *evidence)
{
    const struct events_view view = events_look(evidence);
    struct events_called called;
    events_call_look(&view, EVENTS_CALL_ONE, &called);
    if (!answer_written(verdict, &called.answer)) return;
    verdict_findings(verdict, evidence, NULL);
    verdict_advice(verdict, evidence);
    waits_say_unpromised_in(verdict, evidence, EVENTS_PHASE_ONE, EVENTS_ONE);
    waits_say_unpromised_in(verdict, evidence, EVENTS_PHASE_EACH, EVENTS_EACH);
}

/* Ordered by cause: first the device's findings; then where the events are and how often a kernel
 * runs, which make a time wrong; then the times. */
static const struct check checks[] = {
    {"TheDeviceFindsNothingWrong", "times", CHECK_EMULATOR_ONLY,
     "no access out of bounds, to the wrong side, or to memory that is gone", judge_findings},
    {"EachKernelRunsOnce", "times", 0, "measuring changes nothing", judge_once},
    {"TimesComeFromEvents", "times", 0, "the device is asked, not a clock of the host",
     judge_clock},
    {"EventsAreInTheKernelsStream", "times", 0, "an event belongs to one stream", judge_streams},
    {"EveryKernelHasItsOwnPair", "crowd", 0, "an event holds one time", judge_pairs},
    {"NothingElseIsTimed", "times", 0, "between its two events stands a kernel's launch alone",
     events_judge_between},
    {"OneKernelIsTimed", "times", CHECK_ORDER, "within 5 % of the device's own record", judge_one},
    {"QueriesTellBeforeFromAfter", "times", CHECK_ORDER,
     "the end is not ready before the wait, and is after it", judge_queries},
    {"EveryKernelIsTimed", "times", CHECK_ORDER,
     "one kernel per stream, each within 5 % of the device's own record", judge_each},
    {"KernelsAreTimedSideBySide", "crowd", 0, "nothing waits before all are launched",
     judge_side_by_side},
    {"StatisticsAreRight", "times", 0, "mean and deviation to six digits", statistics_judge},
    {"TheHostWaitsAsLongAsItTakes", "slow", CHECK_EMULATOR_ONLY,
     "kernels of many seconds are waited for as well", judge_patience},
    {"FailedCallsAreReturned", "failures", 0, "the first error is returned, not ready is none",
     judge_failures},
    {"EventsAreDestroyed", "times", 0, "nothing is left behind", judge_left},
    {"EventsAreDestroyedOnFailure", "failures", 0, "nothing is left behind on failure either",
     judge_left_on_failure},
    {FAILURES_CHECK, FAILURES_RUN, CHECK_EMULATOR_ONLY,
     "each call that can fail does so once, and is returned", judge_each_failure},
    {"AsFastAsTheReference", "timed", 0, "measuring costs no more than in the reference solution",
     judge_time},
    {0},
};

static const struct hint hints[] = {
#include "grader/lessons/03_events/hints.def"
    {0}};

const struct lesson lesson_03_events = {
    .number = 3,
    .folder = "03_events",
    .suite = "Events",
    .function = EVENTS_EACH,
    .files = (const char *const[]){"events.c", NULL},
    /* The function stores their results in *seen, errors included. */
    .answers = (const char *const[]){"cudaEventQuery", "cuEventQuery", NULL},
    .parts = (const char *const[]){"03_events_drive", "multiply_divide", "broken", NULL},
    .runs = runs,
    .checks = checks,
    .hints = hints,
};
