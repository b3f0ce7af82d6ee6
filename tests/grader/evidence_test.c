/* Reading evidence, with hand-made traces: phases, queries, overlap, the complete checks, time. */
#include "grader/evidence/timing.h"
#include "grader/evidence/verdict.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MARK(phase, n, flag, at)                                                                   \
    {                                                                                              \
        .kind = TRACE_MARK, .flags = (flag), .object = (n), .start_ns = (at), .end_ns = (at),      \
        .process = 1, .name = phase                                                                \
    }
#define CALL(api, number, from, to)                                                                \
    {                                                                                              \
        .kind = TRACE_CALL, .request = (number), .start_ns = (from), .end_ns = (to), .process = 1, \
        .name = api                                                                                \
    }
#define OPERATION(kind_of, number, on, from_ns, to_ns)                                             \
    {                                                                                              \
        .kind = TRACE_OPERATION, .what = (kind_of), .request = (number), .stream = (on),           \
        .start_ns = (from_ns), .end_ns = (to_ns), .process = 1, .name = "work"                     \
    }

/* Two phases; the device runs the first one's work during the second. */
static struct trace_record two_phases[] = {
    MARK("load", 0, TRACE_BEGIN, 1000),    CALL("cudaMemcpyAsync", 1, 10, 20),
    CALL("cudaLaunchKernel", 2, 20, 30),   MARK("load", 0, TRACE_END, 2000),
    MARK("load", 1, TRACE_BEGIN, 3000),    CALL("cudaMemcpyAsync", 3, 40, 50),
    OPERATION(TRACE_COPY, 1, 7, 100, 200), OPERATION(TRACE_KERNEL, 2, 7, 150, 400),
    OPERATION(TRACE_COPY, 3, 8, 300, 500), MARK("load", 1, TRACE_END, 6000),
};
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

START_TEST(operations_belong_to_the_phase_that_asked)
{
    struct evidence e = support_evidence(two_phases, COUNT(two_phases));
    struct phase first, second;

    ck_assert(evidence_phase(&e, "load", 0, &first));
    ck_assert(evidence_phase(&e, "load", 1, &second));
    ck_assert(!evidence_phase(&e, "load", 2, &second));
    ck_assert(evidence_phase(&e, "load", 1, &second));
    ck_assert_uint_eq(second.end_ns - second.begin_ns, 3000);

    struct query copies = {.phase = &first, .kind = TRACE_OPERATION, .what = TRACE_COPY};
    ck_assert_uint_eq(evidence_count(&e, &copies), 1);
    const struct trace_record *copy = evidence_next(&e, &copies, NULL);
    ck_assert_uint_eq(copy->start_ns, 100);
    ck_assert_ptr_null(evidence_next(&e, &copies, copy));
    ck_assert_uint_eq(evidence_call_of(&e, copy)->request, 1);
    ck_assert_ptr_eq(evidence_operation_of(&e, evidence_call_of(&e, copy)), copy);
    copies.phase = &second;
    ck_assert_uint_eq(evidence_next(&e, &copies, NULL)->stream, 8);

    struct query named = {.kind = TRACE_CALL, .name = "cudaMem*"};
    ck_assert_uint_eq(evidence_count(&e, &named), 2);
    named.name = "cudaMem";
    ck_assert_uint_eq(evidence_count(&e, &named), 0);
    evidence_release(&e);
}
END_TEST

START_TEST(overlap_is_measured)
{
    struct evidence e = support_evidence(two_phases, COUNT(two_phases));
    struct query copies = {.what = TRACE_COPY}, kernels = {.what = TRACE_KERNEL};
    struct overlap o = evidence_overlap(&e, &copies, &kernels);

    ck_assert_uint_eq(o.a_ns, 300);    /* 100..200 and 300..500 */
    ck_assert_uint_eq(o.b_ns, 250);    /* 150..400 */
    ck_assert_uint_eq(o.both_ns, 150); /* 150..200 and 300..400 */
    ck_assert_uint_eq(o.span_ns, 400); /* 100..500 */
    ck_assert_uint_eq(o.a_count, 2);
    struct query all = {0};
    o = evidence_overlap(&e, &all, NULL);
    ck_assert_uint_eq(o.a_ns, 400);
    ck_assert_uint_eq(o.a_sum_ns, 550);
    ck_assert_uint_eq(o.both_ns, 150);
    struct query none = {.what = TRACE_SET};
    o = evidence_overlap(&e, &none, NULL);
    ck_assert_uint_eq(o.span_ns, 0);
    evidence_release(&e);
}
END_TEST

START_TEST(touching_is_not_overlapping)
{
    struct trace_record records[] = {OPERATION(TRACE_KERNEL, 1, 1, 0 + 1, 10),
                                     OPERATION(TRACE_KERNEL, 2, 2, 10, 20),
                                     OPERATION(TRACE_KERNEL, 3, 2, 0, 0)};
    struct evidence e = support_evidence(records, COUNT(records));
    struct query all = {0};
    struct overlap o = evidence_overlap(&e, &all, NULL);

    ck_assert_uint_eq(o.both_ns, 0);
    ck_assert_uint_eq(o.a_count, 2); /* one without a timestamp is left out */
    evidence_release(&e);
}
END_TEST

#define OBJECT(kind_of, what_it_is, number)                                                        \
    {                                                                                              \
        .kind = (kind_of), .what = (what_it_is), .object = (number), .process = 1, .bytes = 64     \
    }

START_TEST(leaks_are_found)
{
    struct trace_record records[] = {
        MARK("run", 0, TRACE_BEGIN, 1),
        OBJECT(TRACE_CREATE, TRACE_STREAM, 1),
        OBJECT(TRACE_CREATE, TRACE_EVENT, 1), /* the same number, but another kind */
        OBJECT(TRACE_CREATE, TRACE_DEVICE_MEMORY, 2),
        OBJECT(TRACE_DESTROY, TRACE_STREAM, 1),
        MARK("run", 0, TRACE_END, 2),
        OBJECT(TRACE_DESTROY, TRACE_DEVICE_MEMORY, 2), /* too late */
    };
    struct evidence e = support_evidence(records, COUNT(records));
    struct verdict *v = calloc(1, sizeof *v);
    struct phase phase;

    ck_assert(evidence_phase(&e, "run", 0, &phase));
    verdict_leaks(v, &e, &phase);
    ck_assert_uint_eq(v->failure_count, 2);
    ck_assert_str_eq(v->failures[0].what,
                     "An event (64 bytes) that was created here was never destroyed.");
    ck_assert_str_eq(v->failures[1].what,
                     "Device memory (64 bytes) that was allocated here was never released.");
    ck_assert_str_eq(v->failures[0].place.file, "lessons/01_sum/sum.c");
    memset(v, 0, sizeof *v);
    verdict_leaks(v, &e, NULL);
    ck_assert_uint_eq(v->failure_count, 1); /* in the whole run only the event */
    free(v);
    evidence_release(&e);
}
END_TEST

START_TEST(many_leaks_of_one_line_are_one_failure)
{
    struct trace_record records[100];
    struct verdict *v = calloc(1, sizeof *v);

    for (size_t i = 0; i < 100; i++)
        records[i] = (struct trace_record)OBJECT(TRACE_CREATE, TRACE_STREAM, i + 1);
    records[99].flags = TRACE_IMPLICIT; /* the device's own */
    struct evidence e = support_evidence(records, 100);
    verdict_leaks(v, &e, NULL);
    ck_assert_uint_eq(v->failure_count, 1);
    ck_assert_ptr_nonnull(
        strstr(v->failures[0].what, "99 times a stream (6336 bytes) that was created here"));
    free(v);
    evidence_release(&e);
}
END_TEST

START_TEST(threads_are_to_be_joined_or_to_have_ended)
{
    struct trace_record records[] = {
        MARK("run", 0, TRACE_BEGIN, 1),
        OBJECT(TRACE_CREATE, TRACE_THREAD, 1), /* joined */
        OBJECT(TRACE_CREATE, TRACE_THREAD, 2), /* neither joined nor detached */
        OBJECT(TRACE_CREATE, TRACE_THREAD, 3), /* detached, and ended */
        OBJECT(TRACE_CREATE, TRACE_THREAD, 4), /* detached, and still there */
        OBJECT(TRACE_DESTROY, TRACE_THREAD, 1),
        OBJECT(TRACE_DESTROY, TRACE_THREAD, 3),
        OBJECT(TRACE_DESTROY, TRACE_THREAD, 4),
        MARK("run", 0, TRACE_END, 2),
        CALL("cuInit", 1, 3, 4),
    };
    struct verdict *v = calloc(1, sizeof *v);
    struct phase phase;

    for (size_t i = 1; i < 8; i++) records[i].bytes = 0;
    for (size_t i = 1; i < 5; i++) records[i].count = 100 + i;
    records[6].flags = records[7].flags = TRACE_DETACHED;
    records[9].thread = 101; /* the number of a joined thread, now another thread's */
    struct evidence e = support_evidence(records, COUNT(records));
    ck_assert(evidence_phase(&e, "run", 0, &phase));
    verdict_leaks(v, &e, &phase);
    ck_assert_uint_eq(v->failure_count, 1);
    ck_assert_str_eq(v->failures[0].what, "A thread that was started here was never joined.");
    ck_assert_ptr_nonnull(strstr(v->failures[0].why, "still be at work"));
    evidence_release(&e);

    memset(v, 0, sizeof *v);
    records[9].thread = 104;
    e = support_evidence(records, COUNT(records));
    verdict_leaks_after(v, &e, &phase, "A call failed.");
    ck_assert_uint_eq(v->failure_count, 2);
    ck_assert_str_eq(v->failures[1].what,
                     "A call failed. A thread that was started here and detached was still at work "
                     "when the function had returned: it called cuInit.");
    evidence_release(&e);

    memset(v, 0, sizeof *v);
    records[9].thread = 0;
    records[6].count = 1; /* it has not ended */
    e = support_evidence(records, COUNT(records));
    verdict_leaks(v, &e, &phase);
    ck_assert_uint_eq(v->failure_count, 2);
    ck_assert_str_eq(v->failures[1].what,
                     "A thread that was started here and detached had not ended when the function "
                     "had returned, nor a while later.");
    evidence_release(&e);
    free(v);
}
END_TEST

START_TEST(who_calls_is_known_by_calls_alone)
{
    /* A timed run on a GPU: the recorder does not record callers, but threads have them all the
     * same.
     */
    struct trace_record records[] = {OBJECT(TRACE_CREATE, TRACE_THREAD, 1),
                                     CALL("cuInit", 1, 0, 1)};
    struct query calls = {.kind = TRACE_CALL, .student = true};
    records[0].caller = 0x1234;
    struct evidence e = support_evidence(records, COUNT(records));
    ck_assert_uint_eq(evidence_count(&e, &calls), 1);
    evidence_release(&e);
}
END_TEST

START_TEST(failed_calls_are_found)
{
    struct trace_record records[] = {
        CALL("cudaEventQuery", 1, 0, 1),
        CALL("cudaMalloc", 2, 1, 2),
        CALL("cudaMemcpy", 3, 2, 3),
    };
    struct verdict *v = calloc(1, sizeof *v);

    records[0].code = 600;
    struct evidence e = support_evidence(records, COUNT(records));
    verdict_calls_succeed(v, &e, NULL);
    ck_assert(!verdict_failed(v)); /* "not ready" is not an error */
    evidence_release(&e);
    records[1].code = 2;
    records[2].code = 1;
    e = support_evidence(records, COUNT(records));
    verdict_calls_succeed(v, &e, NULL);
    ck_assert_uint_eq(v->failure_count, 1); /* only the cause, not the later errors */
    ck_assert_str_eq(v->failures[0].what, "cudaMalloc returned error 2.");
    free(v);
    evidence_release(&e);
}
END_TEST

static struct trace_record finding(enum trace_finding_id id, const char *file, unsigned line,
                                   const char *detail)
{
    struct trace_record record = {.kind = TRACE_FINDING, .count = 1};
    record.finding.id = id;
    record.finding.sides[0].line = line;
    trace_finding_word_set(&record.finding, WORD_FILE, file);
    trace_finding_word_set(&record.finding, WORD_DETAIL, detail);
    return record;
}

START_TEST(findings_have_their_lines)
{
    struct trace_record records[] = {
        finding(FINDING_IMAGE_OF_NO_OBJECT, "/somewhere/sum.c", 12, "Element 10 of 10 is written."),
        finding(FINDING_IMAGE_OF_NO_OBJECT, "/somewhere/sum.c", 12, "again"),
        finding(FINDING_MODULE_DOES_NOT_LINK, "kernels/add.cu", 4, "Two writes."),
        finding(FINDING_UNDEFINED_FUNCTION, "", 0, "The host touched device memory."),
    };
    records[0].count = 3;
    struct evidence e = support_evidence(records, COUNT(records));
    struct verdict *v = calloc(1, sizeof *v);
    static const enum trace_finding_kind_id only[] = {FINDING_KIND_INVALID_MODULE,
                                                      FINDING_KIND_COUNT};

    verdict_findings(v, &e, NULL);
    ck_assert_uint_eq(v->failure_count, 3);
    ck_assert_str_eq(v->failures[0].place.file, "lessons/01_sum/sum.c");
    ck_assert_uint_eq(v->failures[0].place.line, 12);
    ck_assert_ptr_eq(strstr(v->failures[0].why, "It was seen 4 times."), v->failures[0].why);
    ck_assert_str_ne(v->failures[0].hint, "");
    ck_assert_str_eq(v->failures[0].kind, "out of bounds");
    ck_assert_str_eq(v->failures[1].place.file, "kernels/add.cu");
    ck_assert_str_eq(v->failures[2].place.file, "lessons/01_sum/sum.c");
    memset(v, 0, sizeof *v);
    verdict_findings(v, &e, only);
    ck_assert_uint_eq(v->failure_count, 1);
    ck_assert_str_eq(v->failures[0].what, "Two writes.");
    free(v);
    evidence_release(&e);
}
END_TEST

START_TEST(calls_without_lines_show_no_address)
{
    struct trace_record found = finding(FINDING_DOUBLE_FREE, "", 0, NULL);
    found.address = 0x7000;
    found.finding.things[0] = (struct trace_thing){.kind = THING_DEVICE_MEMORY,
                                                   .relation = RELATION_FREED,
                                                   .size = 4,
                                                   .made = 0x7f00,
                                                   .ended = 0x10};
    struct evidence e = support_evidence(&found, 1);
    char text[256], cut[20];

    evidence_sentence(&e, &found, text, sizeof text);
    ck_assert_str_eq(text,
                     "0x7000 is freed a second time: it is in device memory of 4 bytes that has "
                     "been freed, allocated by a call, freed by a call");
    evidence_sentence(&e, &found, cut, sizeof cut);
    ck_assert_str_eq(cut, "0x7000 is freed a s");
    evidence_release(&e);
}
END_TEST

START_TEST(settings_and_creations)
{
    struct trace_record records[] = {
        {.kind = TRACE_SETTING, .name = "recorder", .text = "on"},
        OBJECT(TRACE_CREATE, TRACE_STREAM, 3),
    };
    struct evidence e = support_evidence(records, COUNT(records));

    ck_assert_str_eq(evidence_setting(&e, "recorder"), "on");
    ck_assert_ptr_null(evidence_setting(&e, "nothing"));
    ck_assert_ptr_nonnull(evidence_creation(&e, 1, TRACE_STREAM, 3));
    ck_assert_ptr_null(evidence_creation(&e, 2, TRACE_STREAM, 3));
    ck_assert_ptr_null(evidence_creation(&e, 1, TRACE_STREAM, 0));
    evidence_release(&e);
}
END_TEST

START_TEST(requests_of_two_processes_are_two)
{
    struct trace_record records[] = {CALL("a", 5, 0, 1), CALL("b", 5, 0, 1),
                                     OPERATION(TRACE_KERNEL, 5, 1, 1, 2)};
    records[0].process = 2;
    struct evidence e = support_evidence(records, COUNT(records));
    ck_assert_str_eq(evidence_call_of(&e, &e.trace.records[2])->name, "b");
    evidence_release(&e);
}
END_TEST

START_TEST(too_many_failures_are_counted)
{
    struct verdict *v = calloc(1, sizeof *v);
    struct place place = {.file = "a.c", .line = 1};

    for (int i = 0; i < 11; i++) {
        verdict_fail_at(v, &place, "failure %d", i);
        verdict_hint(v, "hint %d", i);
    }
    ck_assert_uint_eq(v->failure_count, VERDICT_FAILURES);
    ck_assert_uint_eq(v->failures_left_out, 3);
    ck_assert_str_eq(v->failures[VERDICT_FAILURES - 1].hint, "hint 7");
    verdict_figure(v, "ratio", "%d", 1);
    verdict_figure(v, "ratio", "%d", 2);
    ck_assert_uint_eq(v->figure_count, 1);
    ck_assert_str_eq(v->figures[0].text, "2");
    free(v);
}
END_TEST

START_TEST(first_differences)
{
    int a[] = {1, 2, 3}, b[] = {1, 2, 4};
    ck_assert_int_eq(judge_first_difference(a, b, 3, sizeof *a), 2);
    ck_assert_int_eq(judge_first_difference(a, b, 2, sizeof *a), -1);
}
END_TEST

/* ---- time -------------------------------------------------------------------------------------
 */

/* Makes a run on a GPU whose phase took `milliseconds`, during `busy` of which the device was
 * busy. */
static struct evidence timed(double milliseconds, double busy)
{
    struct trace_record records[] = {
        MARK("run", 0, TRACE_BEGIN, 0),
        CALL("cudaLaunchKernel", 1, 1, 2),
        MARK("run", 0, TRACE_END, (uint64_t)(milliseconds * 1e6)),
        OPERATION(TRACE_KERNEL, 1, 1, 1000, 1000 + (uint64_t)(busy * 1e6)),
    };
    struct evidence e = support_evidence(records, COUNT(records));
    e.device = DRIVE_GPU;
    e.seconds = 10;
    return e;
}

static const struct threshold fifth = {.ratio = 1.2}, half = {.ratio = 1.5};
static const struct threshold reading = {.ratio = 1.2, .bound = BOUND_NONE};
static const struct run_plan plan_of_reading = {.phase = "run", .threshold = &reading};
static const struct run_plan plan_of_run = {.phase = "run", .threshold = &fifth};

#define PAIRS 12

static enum timing_outcome compare(const double submission[PAIRS], const double reference[PAIRS],
                                   struct timing *timing)
{
    struct evidence repeats[PAIRS], references[PAIRS];

    for (int i = 0; i < PAIRS; i++) {
        repeats[i] = timed(submission[i], 0.5);
        references[i] = timed(reference[i], 0.5);
        references[i].reference = true;
        repeats[i].plan = references[i].plan = &plan_of_run;
    }
    repeats[0].repeats = repeats;
    repeats[0].references = references;
    repeats[0].repeat_count = PAIRS;
    *timing = timing_compare(&repeats[0]);
    for (int i = 0; i < PAIRS; i++) {
        evidence_release(&repeats[i]);
        evidence_release(&references[i]);
    }
    return timing->outcome;
}

START_TEST(times_have_three_outcomes)
{
    static const double steady[PAIRS] = {10, 10.1, 9.9, 10, 10, 10.2, 9.8, 10, 10, 10.1, 9.9, 10};
    static const double twice[PAIRS] = {20, 20, 20, 21, 19, 20, 20, 20, 20, 20, 20, 20};
    static const double noisy[PAIRS] = {8, 40, 30, 25, 9, 30, 8, 40, 8, 9, 30, 40};
    static const double one_bad[PAIRS] = {10, 10, 90, 10, 10, 10, 10, 10, 10, 10, 10, 10};
    struct timing timing;

    ck_assert_int_eq(compare(steady, steady, &timing), TIMING_MET);
    ck_assert_double_eq_tol(timing.ratio.middle, 1, 0.02);
    ck_assert_int_eq(compare(twice, steady, &timing), TIMING_NOT_MET);
    ck_assert_double_eq_tol(timing.ratio.middle, 2, 0.02);
    ck_assert_int_eq(compare(noisy, steady, &timing), TIMING_TOO_NOISY);
    ck_assert_int_eq(compare(one_bad, steady, &timing), TIMING_MET);
}
END_TEST

/* A twentieth of the reference's time, with a kernel about as long, or a fifth as long. */
START_TEST(another_way_than_the_references_may_take_any_time)
{
    static const struct {
        enum threshold_bound bound;
        double busy;
        enum timing_outcome outcome;
    } rows[] = {
        {BOUND_STEPS, 0.4, TIMING_TOO_SHORT},   {BOUND_STEPS, 0.1, TIMING_LEFT_OUT},
        {BOUND_READING, 0.1, TIMING_TOO_SHORT}, {BOUND_NONE, 0.4, TIMING_MET},
        {BOUND_NONE, 0.1, TIMING_MET},
    };

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct threshold threshold = {.ratio = 1.2, .bound = rows[i].bound};
        const struct run_plan plan = {.phase = "run", .threshold = &threshold};
        struct evidence own = timed(0.5, rows[i].busy), reference = timed(10, 0.5);
        own.plan = reference.plan = &plan;
        own.repeats = &own;
        own.references = &reference;
        ck_assert_msg(timing_compare(&own).outcome == rows[i].outcome, "row %zu", i);
        evidence_release(&own);
        evidence_release(&reference);
    }
    ck_assert_str_eq(bound_in_words(BOUND_NONE), "");
}
END_TEST

START_TEST(a_gpu_has_a_threshold_of_its_own)
{
    static const struct threshold two = {.ratio = 1.2, .on_gpu = 2.5, .floor_s = 0.001};

    ck_assert_double_eq_tol(threshold_on(&two, DRIVE_GPU).ratio, 2.5, 1e-9);
    ck_assert_double_eq_tol(threshold_on(&two, DRIVE_GPU).floor_s, 0.001, 1e-9);
    ck_assert_double_eq_tol(threshold_on(&two, DRIVE_EMULATOR).ratio, 1.2, 1e-9);
    ck_assert_double_eq_tol(threshold_on(&two, DRIVE_EMULATOR).floor_s, 0, 1e-9);
    ck_assert_double_eq_tol(threshold_on(&fifth, DRIVE_GPU).ratio, 1.2, 1e-9);

    /* Twice the reference's time is too long for a threshold without a limit of its own for GPUs.
     */
    static const struct run_plan plan = {.phase = "run", .threshold = &two};
    const struct run_plan *const plans[] = {&plan, &plan_of_run};
    for (size_t i = 0; i < COUNT(plans); i++) {
        struct evidence own = timed(20, 0.5), reference = timed(10, 0.5);
        own.plan = reference.plan = plans[i];
        own.repeats = &own;
        own.references = &reference;
        ck_assert(timing_compare(&own).outcome == (i == 0 ? TIMING_MET : TIMING_NOT_MET));
        evidence_release(&own);
        evidence_release(&reference);
    }
}
END_TEST

START_TEST(forged_times_are_seen)
{
    struct evidence fast = timed(1, 5), long_one = timed(20000, 1), reference = timed(10, 5);
    static const struct run_plan other = {.phase = "no such phase", .threshold = &fifth};

    fast.plan = long_one.plan = reference.plan = &plan_of_run;
    fast.repeats = &fast;
    fast.references = &reference;
    ck_assert_int_eq(timing_compare(&fast).outcome, TIMING_FORGED);
    long_one.repeats = &long_one; /* longer than the parent saw the whole run take */
    long_one.references = &reference;
    ck_assert_int_eq(timing_compare(&long_one).outcome, TIMING_FORGED);
    fast.plan = &other;
    ck_assert_int_eq(timing_compare(&fast).outcome, TIMING_NO_TIME);
    long_one.plan = &plan_of_run;
    long_one.seconds = 30;
    long_one.between = true;
    ck_assert_int_eq(timing_compare(&long_one).outcome, TIMING_BETWEEN);
    evidence_release(&fast);
    evidence_release(&long_one);
    evidence_release(&reference);
}
END_TEST

/* The parent saw the phase take a second; the process reports 10 ms. */
START_TEST(disturbed_pairs_are_set_aside)
{
    struct evidence own[PAIRS], other[PAIRS];

    for (int i = 0; i < PAIRS; i++) {
        own[i] = timed(i < 2 ? 100 : 10, 1);
        other[i] = timed(10, 1);
        own[i].plan = other[i].plan = &plan_of_run;
        own[i].clocked = i < 2 ? 1 : 0.0101;
        other[i].clocked = 0.0101;
    }
    own[0].repeats = own;
    own[0].references = other;
    own[0].repeat_count = PAIRS;
    struct timing timing = timing_compare(&own[0]);
    ck_assert_int_eq(timing.outcome, TIMING_MET);
    ck_assert_uint_eq(timing.set_aside, 2);
    ck_assert_uint_eq(timing.ratio.pairs, PAIRS - 2);
    for (int i = 0; i < PAIRS; i++) own[i].clocked = 1; /* all pairs, and none of the reference's */
    ck_assert_int_eq(timing_compare(&own[0]).outcome, TIMING_FORGED);
    for (int i = 0; i < PAIRS; i++) other[i].clocked = 1; /* the machine's trouble */
    ck_assert_int_eq(timing_compare(&own[0]).outcome, TIMING_TOO_NOISY);
    for (int i = 0; i < PAIRS; i++) {
        evidence_release(&own[i]);
        evidence_release(&other[i]);
    }
}
END_TEST

/* From the first event's call to the second event's call, or to the kernel's end. */
START_TEST(two_events_say_no_more_than_the_host_took)
{
    const struct trace_record before = {.start_ns = 1000, .end_ns = 2000},
                              kernel = {.start_ns = 300000, .end_ns = 900000},
                              soon = {.start_ns = 310000, .end_ns = 320000},
                              later = {.start_ns = 990000, .end_ns = 991000};

    ck_assert_double_eq(timing_most_between_events(&before, &kernel, &soon), 899000);
    ck_assert_double_eq(timing_most_between_events(&before, &kernel, &later), 990000);
}
END_TEST

/* Every third round is recorded and longer for it: the times of the others count. */
START_TEST(rounds_without_records_give_the_time)
{
    static const struct {
        double recorded, other; /* the submission's milliseconds, in the two kinds of rounds */
        enum timing_outcome outcome;
    } rows[] = {
        {30, 10, TIMING_MET},
        {10, 30, TIMING_NOT_MET},
        {10, 2.5, TIMING_FORGED}, /* the device is busy for 8 of the 10 */
    };

    for (size_t row = 0; row < COUNT(rows); row++) {
        struct evidence own[PAIRS], other[PAIRS];
        for (int i = 0; i < PAIRS; i++) {
            const bool recorded = i % 3 == 0;
            own[i] = timed(recorded ? rows[row].recorded : rows[row].other, recorded ? 8 : 0);
            other[i] = timed(10, recorded ? 8 : 0);
            own[i].plan = other[i].plan = &plan_of_reading;
            own[i].unrecorded = other[i].unrecorded = !recorded;
        }
        own[0].repeats = own;
        own[0].references = other;
        own[0].repeat_count = PAIRS;
        const struct timing timing = timing_compare(&own[0]);
        ck_assert_msg(timing.outcome == rows[row].outcome, "row %zu: %d", row, timing.outcome);
        ck_assert_uint_eq(timing.ratio.pairs, PAIRS - PAIRS / 3);
        for (int i = 0; i < PAIRS; i++) {
            evidence_release(&own[i]);
            evidence_release(&other[i]);
        }
    }
}
END_TEST

/* ---- ratios --------------------------------------------------------------------------------- */

static struct ratio ratio_with(double seconds, const double *ratios, size_t count,
                               const struct threshold *threshold)
{
    struct ratio_pair pairs[RATIO_MOST_PAIRS];
    for (size_t i = 0; i < count; i++) pairs[i] = (struct ratio_pair){seconds * ratios[i], seconds};
    return ratio_of(pairs, count, threshold);
}

START_TEST(an_interval_knows_its_pairs)
{
    static const double ten[] = {1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9};
    static const double near[] = {0.99, 1.01, 1.0, 1.02};
    static const struct threshold floored = {.ratio = 1.2, .floor_s = 0.001};

    /* By the sign test: of ten, one may lie outside at each end at 95 %, none at 99 %. */
    struct ratio ratio = ratio_with(1, ten, 10, &half);
    ck_assert_double_eq_tol(ratio.low, 1.1, 1e-9);
    ck_assert_double_eq_tol(ratio.high, 1.8, 1e-9);
    ck_assert_double_eq_tol(ratio.middle, 1.45, 1e-9);
    ck_assert_int_eq(ratio.answer, RATIO_UNCLEAR);
    /* Four have Student's interval: 3.182 standard errors of 0.0129 / 2. */
    ratio = ratio_with(1, near, 4, &fifth);
    ck_assert_double_eq_tol(ratio.high, 1.0257, 0.001);
    ck_assert_int_eq(ratio.answer, RATIO_MET);
    ck_assert(!ratio_is_settled(&ratio, 0.3));
    ck_assert(ratio_is_settled(&ratio, 1.5));
    /* 1.45 times a second is far above the limit; 1.45 times a millisecond is within a floor of one
     * millisecond. */
    ck_assert_int_eq(ratio_with(1, ten + 3, 7, &floored).answer, RATIO_NOT_MET);
    ck_assert_int_eq(ratio_with(0.001, ten + 3, 7, &floored).answer, RATIO_MET);
    /* One pair counts as exact. */
    ck_assert_int_eq(ratio_with(1, ten + 3, 1, &fifth).answer, RATIO_NOT_MET);
}
END_TEST

/* Equal code, each time with the noise of a small machine: up to a third more, at random. Such code
 * must never be judged slow, and code that takes twice as long must never pass. */
START_TEST(noise_accuses_nobody)
{
    uint64_t state = 1;
    size_t met = 0, unclear = 0;

    for (int trial = 0; trial < 2000; trial++) {
        struct ratio_pair same[RATIO_MOST_PAIRS], twice[RATIO_MOST_PAIRS];
        struct ratio ratio = {0}, slow = {0};
        for (size_t n = 0; n < 24; n++) {
            double noise[2];
            for (int k = 0; k < 2; k++) {
                state = state * 6364136223846793005u + 1442695040888963407u;
                noise[k] = 1 + (double)(state >> 33) / (double)(1ull << 31) / 3;
            }
            same[n] = (struct ratio_pair){noise[0], noise[1]};
            twice[n] = (struct ratio_pair){2 * noise[0], noise[1]};
            if (n < 3 || n % 2 == 0) continue;
            ratio = ratio_of(same, n + 1, &fifth);
            slow = ratio_of(twice, n + 1, &fifth);
            ck_assert_int_ne(ratio.answer, RATIO_NOT_MET);
            ck_assert_int_ne(slow.answer, RATIO_MET);
        }
        met += ratio.answer == RATIO_MET;
        unclear += slow.answer == RATIO_UNCLEAR;
    }
    ck_assert_uint_ge(met, 1990);
    ck_assert_uint_eq(unclear, 0);
}
END_TEST

START_TEST(one_sample_is_believed_where_it_is_clear)
{
    static const struct {
        double part;
        enum ratio_answer one, three;
    } rows[] = {
        {0.1, RATIO_MET, RATIO_MET},
        {0.4, RATIO_UNCLEAR, RATIO_MET},
        {0.6, RATIO_UNCLEAR, RATIO_NOT_MET},
        {1.2, RATIO_NOT_MET, RATIO_NOT_MET},
    };
    static const struct threshold at_half = {.ratio = 0.5};

    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct ratio_pair pairs[] = {
            {rows[i].part, 1}, {rows[i].part * 1.001, 1}, {rows[i].part * 0.999, 1}};
        ck_assert_int_eq(ratio_of_few(pairs, 1, &at_half).answer, rows[i].one);
        ck_assert_int_eq(ratio_of_few(pairs, 3, &at_half).answer, rows[i].three);
        ck_assert_int_ne(ratio_of(pairs, 1, &at_half).answer, RATIO_UNCLEAR);
    }
}
END_TEST

START_TEST(nothing_is_faster_than_the_link)
{
    /* At best 1000 bytes in 10 ns into the device, and 500 out of it. */
    static struct trace_record copies[] = {
        {.kind = TRACE_OPERATION,
         .what = TRACE_COPY,
         .from = TRACE_PINNED,
         .to = TRACE_DEVICE,
         .start_ns = 100,
         .end_ns = 120,
         .bytes = 1000},
        {.kind = TRACE_OPERATION,
         .what = TRACE_COPY,
         .from = TRACE_PINNED,
         .to = TRACE_DEVICE,
         .start_ns = 200,
         .end_ns = 210,
         .bytes = 1000},
        {.kind = TRACE_OPERATION,
         .what = TRACE_COPY,
         .from = TRACE_DEVICE,
         .to = TRACE_PINNED,
         .start_ns = 220,
         .end_ns = 230,
         .bytes = 500},
        {.kind = TRACE_OPERATION,
         .what = TRACE_COPY,
         .from = TRACE_DEVICE,
         .to = TRACE_DEVICE,
         .start_ns = 300,
         .end_ns = 301,
         .bytes = 9000},
    };
    struct evidence e = support_evidence(copies, COUNT(copies));
    double least;

    ck_assert(!timing_beats_the_link(&e, 99e-9, 10000, 0, &least));
    ck_assert_double_eq_tol(least, 100e-9, 1e-12);
    ck_assert(timing_beats_the_link(&e, 80e-9, 10000, 0, &least));
    ck_assert(timing_beats_the_link(&e, 99e-9, 10000, 10000, &least)); /* 200 ns for the copy out */
    ck_assert(!timing_beats_the_link(&e, 190e-9, 10000, 10000, &least));
    evidence_release(&e);
    struct evidence none = support_evidence(copies, 0);
    ck_assert(!timing_beats_the_link(&none, 1e-9, 10000, 10000, &least));
    evidence_release(&none);
}
END_TEST

START_TEST(the_emulator_has_its_own_clock)
{
    struct evidence e = support_evidence(two_phases, COUNT(two_phases));
    struct verdict *v = calloc(1, sizeof *v);

    /* Phase 0: from 10 (its first call) to 400 (its kernel's end), independent of the host's clock.
     */
    ck_assert_double_eq_tol(timing_of_phase(&e, "load"), 390e-9, 1e-12);
    struct run_plan plan = {.phase = "load", .threshold = &fifth};
    static const struct threshold faster = {.ratio = 0.5};
    e.repeats = e.references = &e;
    e.plan = &plan;
    verdict_time_ratio(v, &e);
    ck_assert(!verdict_failed(v) && !v->skipped);
    ck_assert_uint_eq(v->figure_count, 2);
    plan.threshold = &faster;
    verdict_time_ratio(v, &e);
    ck_assert(verdict_failed(v));
    e.references = NULL;
    memset(v, 0, sizeof *v);
    verdict_time_ratio(v, &e);
    ck_assert(v->skipped);
    free(v);
    evidence_release(&e);
}
END_TEST

/* A record of maximum size with all different entries: every query of a judge must work without a
 * scan per record. */
START_TEST(a_full_record_is_judged_at_once)
{
    const size_t count = (size_t)1 << 17, quarter = count / 4;
    struct trace_record *records = calloc(count, sizeof *records);
    struct verdict *v = calloc(1, sizeof *v);
    struct timespec begin, end;

    for (size_t i = 0; i < count; i++) {
        struct trace_record *r = &records[i];
        *r = (struct trace_record){
            .process = 1 + (uint32_t)(i % 1000), .object = i, .caller = i + 1};
        r->stack = (uint32_t)i;
        r->kind = i < quarter       ? TRACE_FINDING
                  : i < 2 * quarter ? TRACE_CREATE
                  : i < 3 * quarter ? TRACE_MODULE
                                    : TRACE_STACK;
        r->finding.id = r->kind == TRACE_FINDING ? FINDING_TRAP : 0;
        r->what = r->kind == TRACE_CREATE ? TRACE_STREAM : TRACE_WHAT_NONE;
    }
    struct evidence e = support_evidence(records, count);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    verdict_findings(v, &e, NULL);
    verdict_leaks(v, &e, NULL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    const double seconds =
        (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
    ck_assert_uint_eq(v->failure_count, VERDICT_FAILURES);
    ck_assert_uint_ge(v->failures_left_out, quarter - VERDICT_FAILURES);
    /* Processor time, a hundredth of what a scan per record would take. */
    ck_assert_msg(seconds < 0.5, "%g s", seconds);
    free(v);
    free(records);
    evidence_release(&e);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("grader evidence");
    TCase *tcase = tcase_create("evidence");
    tcase_add_test(tcase, a_full_record_is_judged_at_once);
    tcase_add_test(tcase, operations_belong_to_the_phase_that_asked);
    tcase_add_test(tcase, overlap_is_measured);
    tcase_add_test(tcase, touching_is_not_overlapping);
    tcase_add_test(tcase, leaks_are_found);
    tcase_add_test(tcase, many_leaks_of_one_line_are_one_failure);
    tcase_add_test(tcase, threads_are_to_be_joined_or_to_have_ended);
    tcase_add_test(tcase, who_calls_is_known_by_calls_alone);
    tcase_add_test(tcase, failed_calls_are_found);
    tcase_add_test(tcase, findings_have_their_lines);
    tcase_add_test(tcase, calls_without_lines_show_no_address);
    tcase_add_test(tcase, settings_and_creations);
    tcase_add_test(tcase, requests_of_two_processes_are_two);
    tcase_add_test(tcase, too_many_failures_are_counted);
    tcase_add_test(tcase, first_differences);
    tcase_add_test(tcase, times_have_three_outcomes);
    tcase_add_test(tcase, another_way_than_the_references_may_take_any_time);
    tcase_add_test(tcase, a_gpu_has_a_threshold_of_its_own);
    tcase_add_test(tcase, forged_times_are_seen);
    tcase_add_test(tcase, one_sample_is_believed_where_it_is_clear);
    tcase_add_test(tcase, nothing_is_faster_than_the_link);
    tcase_add_test(tcase, disturbed_pairs_are_set_aside);
    tcase_add_test(tcase, two_events_say_no_more_than_the_host_took);
    tcase_add_test(tcase, rounds_without_records_give_the_time);
    tcase_add_test(tcase, an_interval_knows_its_pairs);
    tcase_add_test(tcase, noise_accuses_nobody);
    tcase_add_test(tcase, the_emulator_has_its_own_clock);
    suite_add_tcase(suite, tcase);
    return support_finish(srunner_create(suite));
}
