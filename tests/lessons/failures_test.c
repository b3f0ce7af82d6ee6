/* Which calls are made to fail, and how the runs with a failed call are judged, on hand-made
 * evidence. */
#include "grader/evidence/evidence.h"
#include "grader/evidence/failures.h"
#include "grader/evidence/injections.h"
#include "grader/evidence/verdict.h"
#include "threads/refusals.h"
#include "trace/large.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTION "work"
#define OUT_OF_MEMORY 2
#define INVALID_HANDLE 400

static const struct lesson lesson = {
    .folder = "09_by_hand", .function = FUNCTION, .files = (const char *const[]){"work.c", NULL}};

/* ---- evidence by hand ----------------------------------------------------------------------- */

enum { MOST = 400 };

/* The results of the student's function in such a run. */
struct left {
    int code;
    bool right;
};

static struct evidence make(void)
{
    struct trace_record *records = large_take(MOST * sizeof *records);
    struct left *left = large_take(sizeof *left);
    ck_assert(records != NULL && left != NULL);
    return (struct evidence){.lesson = &lesson,
                             .shown_folder = "lessons/09_by_hand",
                             .trace = {.records = records},
                             .trace_sound = true,
                             .output = left,
                             .output_size = sizeof *left,
                             .repeat_count = 1};
}

static struct trace_record *put(struct evidence *evidence, uint32_t kind, const char *name)
{
    ck_assert_uint_lt(evidence->trace.count, MOST);
    struct trace_record *record =
        (struct trace_record *)(uintptr_t)&evidence->trace.records[evidence->trace.count++];
    record->kind = kind;
    trace_copy_string(record->name, sizeof record->name, name);
    return record;
}

static void mark(struct evidence *evidence, uint32_t index, uint32_t flags)
{
    struct trace_record *record = put(evidence, TRACE_MARK, DRIVE_INJECTIONS);
    record->object = index;
    record->flags = flags;
}

static struct trace_record *can_fail(struct evidence *evidence, const char *name)
{
    struct trace_record *record = put(evidence, TRACE_CALL, name);
    record->flags = TRACE_CAN_FAIL;
    return record;
}

static void indexed(struct evidence *evidence)
{
    ck_assert_int_eq(evidence_index_build(evidence), 0);
}

/* ---- which calls ---------------------------------------------------------------------------- */

static char names[2000];

/* Returns the chosen calls, one after another. */
static const char *chosen(struct evidence *evidence, size_t most, size_t *calls)
{
    struct injection faults[INJECTIONS_MOST];
    indexed(evidence);
    const size_t count = injections_choose(evidence, faults, most, calls);
    ck_assert_uint_le(count, most);
    names[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        strcat(names, i > 0 ? " " : "");
        strcat(names, faults[i].which);
    }
    evidence_release(evidence);
    return names;
}

/* Numbered as the device counts them, including the drive's own calls before and between. */
START_TEST(all_that_can_fail_in_the_phases)
{
    struct evidence evidence = make();
    size_t calls;
    can_fail(&evidence, "cudaMalloc");
    mark(&evidence, 0, TRACE_BEGIN);
    can_fail(&evidence, "cudaMalloc");
    can_fail(&evidence, "cudaEventCreate");
    put(&evidence, TRACE_CALL, "cudaFree");
    put(&evidence, TRACE_OPERATION, "cudaMalloc")->flags = TRACE_CAN_FAIL;
    mark(&evidence, 0, TRACE_END);
    can_fail(&evidence, "cudaMalloc");
    mark(&evidence, 1, TRACE_BEGIN);
    can_fail(&evidence, "cudaMalloc");
    mark(&evidence, 1, TRACE_END);
    can_fail(&evidence, "cudaStreamSynchronize");
    ck_assert_str_eq(chosen(&evidence, INJECTIONS_MOST, &calls),
                     "cudaMalloc:2 cudaEventCreate:1 cudaMalloc:4");
    ck_assert_uint_eq(calls, 3);
}
END_TEST

/* As calls that release something, so that every path of a program can clean up. */
START_TEST(what_restores_the_device_does_not_fail)
{
    struct evidence evidence = make();
    size_t calls;
    mark(&evidence, 0, TRACE_BEGIN);
    can_fail(&evidence, "cudaSetDevice");
    can_fail(&evidence, "cudaLaunchKernel");
    can_fail(&evidence, "cudaSetDevice");
    can_fail(&evidence, "cudaDeviceSynchronize");
    put(&evidence, TRACE_CALL, "cudaFree");
    can_fail(&evidence, "cudaSetDevice");
    mark(&evidence, 0, TRACE_END);
    mark(&evidence, 1, TRACE_BEGIN);
    can_fail(&evidence, "cudaSetDevice");
    can_fail(&evidence, "cudaMalloc");
    mark(&evidence, 1, TRACE_END);
    ck_assert_str_eq(chosen(&evidence, INJECTIONS_MOST, &calls),
                     "cudaSetDevice:1 cudaLaunchKernel:1 cudaDeviceSynchronize:1 cudaSetDevice:4 "
                     "cudaMalloc:1");
    ck_assert_uint_eq(calls, 5);
}
END_TEST

START_TEST(none_without_a_phase)
{
    struct evidence evidence = make();
    size_t calls = 7;
    can_fail(&evidence, "cudaMalloc");
    ck_assert_str_eq(chosen(&evidence, INJECTIONS_MOST, &calls), "");
    ck_assert_uint_eq(calls, 0);
}
END_TEST

/* For a check that asks which call fails: a line that is executed in two phases has both ends
 * chosen in both.
 */
START_TEST(the_ends_of_each_line_and_phase)
{
    static const struct run_plan plan = {.flags = RUN_INJECTIONS | RUN_ENDS};
    struct evidence evidence = make();
    size_t calls;
    evidence.plan = &plan;
    for (uint32_t i = 0; i < 2; i++) {
        mark(&evidence, i, TRACE_BEGIN);
        for (int k = 0; k < 4; k++) can_fail(&evidence, "cuCtxCreate")->caller = 1;
        can_fail(&evidence, "cuCtxCreate")->caller = 2;
        mark(&evidence, i, TRACE_END);
    }
    ck_assert_str_eq(chosen(&evidence, INJECTIONS_MOST, &calls),
                     "cuCtxCreate:1 cuCtxCreate:4 cuCtxCreate:5 cuCtxCreate:6 cuCtxCreate:9 "
                     "cuCtxCreate:10");
    ck_assert_uint_eq(calls, 10);
}
END_TEST

/* With many calls: the first and last of every line are chosen, however often other lines call. */
START_TEST(of_many_every_line_is_there)
{
    struct evidence evidence = make();
    size_t calls;
    mark(&evidence, 0, TRACE_BEGIN);
    can_fail(&evidence, "cudaMalloc")->caller = 1;
    for (int i = 0; i < 100; i++) can_fail(&evidence, "cudaStreamQuery")->caller = 2;
    can_fail(&evidence, "cudaStreamQuery")->caller = 3;
    mark(&evidence, 0, TRACE_END);
    ck_assert_str_eq(chosen(&evidence, 8, &calls),
                     "cudaMalloc:1 cudaStreamQuery:1 cudaStreamQuery:26 cudaStreamQuery:50 "
                     "cudaStreamQuery:75 cudaStreamQuery:99 cudaStreamQuery:100 "
                     "cudaStreamQuery:101");
    ck_assert_uint_eq(calls, 102);
}
END_TEST

START_TEST(a_query_of_each_line_fails_alone_where_there_is_room)
{
    struct evidence evidence = make();
    size_t calls;
    mark(&evidence, 0, TRACE_BEGIN);
    can_fail(&evidence, "cudaEventQuery")->caller = 1;
    can_fail(&evidence, "cudaEventQuery")->caller = 1;
    can_fail(&evidence, "cudaFree")->caller = 2;
    mark(&evidence, 0, TRACE_END);
    ck_assert_str_eq(chosen(&evidence, 8, &calls),
                     "cudaEventQuery:1 cudaEventQuery:2 cudaFree:1 cudaEventQuery:1:alone");
    ck_assert_uint_eq(calls, 3);
}
END_TEST

START_TEST(never_more_than_asked_for)
{
    struct evidence evidence = make();
    size_t calls;
    mark(&evidence, 0, TRACE_BEGIN);
    for (uint64_t i = 0; i < 10; i++) can_fail(&evidence, "cudaMalloc")->caller = 1 + i;
    mark(&evidence, 0, TRACE_END);
    ck_assert_str_eq(chosen(&evidence, 3, &calls), "cudaMalloc:1 cudaMalloc:2 cudaMalloc:3");
    ck_assert_uint_eq(calls, 10);
}
END_TEST

/* ---- what is said --------------------------------------------------------------------------- */

static struct evidence plain, runs[4];
static size_t run_count;
static struct verdict verdict;
static int asked_for_more;

static struct answer answer(const struct evidence *evidence, const struct trace_record *failed,
                            struct phase *phase)
{
    uint32_t index = 99;
    ck_assert(failures_find(evidence, DRIVE_INJECTIONS, failed, phase, &index));
    ck_assert_uint_eq(index, 0);
    const struct left *left = evidence->output;
    return (struct answer){evidence, phase, FUNCTION, ANSWER_RUNTIME, left->code};
}

static bool is_right(const struct evidence *evidence)
{
    return ((const struct left *)evidence->output)->right;
}

static void more(struct verdict *of, const struct evidence *evidence, const struct answer *given,
                 const struct trace_record *failed, const char *before)
{
    (void)of;
    ck_assert_ptr_eq(given->evidence, evidence);
    ck_assert(failed->flags & TRACE_MADE_TO_FAIL);
    ck_assert_str_eq(before, "cudaStreamCreate was made to fail with cudaErrorMemoryAllocation "
                             "(2), as if it were Monday");
    asked_for_more++;
}

static struct failures_contract contract = {
    .api = ANSWER_RUNTIME, .answer = answer, .right = is_right, .more = more};

/* Makes a run in which the function made two objects, the second of which failed, and released the
 * first.
 */
static struct evidence *run_with_a_failure(int code, bool right)
{
    struct evidence *evidence = &runs[run_count++];
    *evidence = make();
    *(struct left *)(uintptr_t)evidence->output = (struct left){code, right};
    mark(evidence, 0, TRACE_BEGIN);
    can_fail(evidence, "cudaMalloc");
    struct trace_record *made = put(evidence, TRACE_CREATE, "");
    made->what = TRACE_DEVICE_MEMORY;
    made->object = 5;
    made->bytes = 64;
    struct trace_record *failed = can_fail(evidence, "cudaStreamCreate");
    failed->code = OUT_OF_MEMORY;
    failed->flags |= TRACE_MADE_TO_FAIL;
    trace_copy_string(failed->text, sizeof failed->text, "it were Monday");
    made = put(evidence, TRACE_DESTROY, "");
    made->what = TRACE_DEVICE_MEMORY;
    made->object = 5;
    mark(evidence, 0, TRACE_END);
    return evidence;
}

static void judge(void)
{
    for (size_t i = 0; i < run_count; i++) indexed(&runs[i]);
    if (plain.lesson == NULL) plain = make();
    indexed(&plain);
    plain.injections = runs;
    plain.injection_count = run_count;
    plain.fault_calls = run_count;
    failures_judge(&verdict, &plain, &contract);
    for (size_t i = 0; i < run_count; i++) evidence_release(&runs[i]);
    evidence_release(&plain);
}

static void says(const char *part)
{
    ck_assert_uint_eq(verdict.failure_count, 1);
    ck_assert_msg(strstr(verdict.failures[0].what, part) != NULL, "%s", verdict.failures[0].what);
    ck_assert(verdict.failures[0].why[0] != '\0');
}

START_TEST(the_error_returned_is_right)
{
    run_with_a_failure(OUT_OF_MEMORY, false);
    run_with_a_failure(OUT_OF_MEMORY, false);
    judge();
    ck_assert(!verdict_failed(&verdict));
    ck_assert_int_eq(asked_for_more, 2);
    ck_assert_str_eq(verdict.figures[0].text, "2 calls made to fail, each in a run of its own");
}
END_TEST

START_TEST(a_right_result_in_spite_of_it_is_right)
{
    run_with_a_failure(0, true);
    judge();
    ck_assert(!verdict_failed(&verdict));
    ck_assert_int_eq(asked_for_more, 1);
}
END_TEST

START_TEST(success_without_the_result_is_not)
{
    run_with_a_failure(0, false);
    run_with_a_failure(0, false);
    judge();
    says("cudaStreamCreate was made to fail with cudaErrorMemoryAllocation (2), as if it were "
         "Monday; work returned success, and the result is not there.");
    ck_assert(strstr(verdict.failures[0].hint, "Keep what every call returns") != NULL);
    ck_assert_int_eq(asked_for_more, 0);
}
END_TEST

START_TEST(a_launch_that_is_not_asked_has_its_own_hint)
{
    struct evidence *evidence = run_with_a_failure(0, false);
    trace_copy_string(((struct trace_record *)(uintptr_t)evidence_made_to_fail(evidence))->name,
                      TRACE_NAME_SIZE, "cudaLaunchKernel");
    judge();
    says("cudaLaunchKernel was made to fail");
    ck_assert(strstr(verdict.failures[0].hint, "cudaGetLastError") != NULL);
}
END_TEST

START_TEST(another_error_is_not)
{
    run_with_a_failure(OUT_OF_MEMORY, false);
    run_with_a_failure(INVALID_HANDLE, true);
    judge();
    says("; work returned cudaErrorInvalidResourceHandle (400) instead.");
    ck_assert_uint_eq(verdict.figure_count, 0);
}
END_TEST

/* In words of its own: the call was one of the C library's, and it has only to be made again. */
static struct evidence *run_with_a_host_call(const char *name, const char *as_if, int code)
{
    struct evidence *evidence = run_with_a_failure(code, code == 0);
    struct trace_record *failed = (struct trace_record *)(uintptr_t)evidence_made_to_fail(evidence);
    failed->kind = TRACE_HOST_CALL;
    trace_copy_string(failed->name, sizeof failed->name, name);
    trace_copy_string(failed->text, sizeof failed->text, as_if);
    return evidence;
}

START_TEST(any_error_will_do_where_the_c_library_fails)
{
    contract.more = NULL;
    run_with_a_host_call("read", REFUSALS_INTERRUPTED, INVALID_HANDLE);
    judge();
    ck_assert(!verdict_failed(&verdict));
}
END_TEST

START_TEST(an_interrupted_call_is_no_error_where_the_contract_says_so)
{
    contract.more = NULL;
    contract.goes_on = true;
    run_with_a_host_call("malloc", "there were no memory left", INVALID_HANDLE);
    run_with_a_host_call("read", REFUSALS_INTERRUPTED, 0);
    run_with_a_host_call("send", REFUSALS_INTERRUPTED, INVALID_HANDLE);
    judge();
    says("send was made to fail, as if a signal had interrupted it; work returned "
         "cudaErrorInvalidResourceHandle (400), although nothing had gone wrong.");
    ck_assert(strstr(verdict.failures[0].hint, "EINTR") != NULL);
}
END_TEST

START_TEST(nor_is_a_part_of_a_transfer)
{
    contract.more = NULL;
    contract.goes_on = true;
    run_with_a_host_call("write" REFUSALS_IN_PART, "", INVALID_HANDLE);
    judge();
    says("write moved half of the bytes that it was asked to, and said so; work returned "
         "cudaErrorInvalidResourceHandle (400), although nothing had gone wrong.");
    ck_assert(strstr(verdict.failures[0].hint, "go on with the rest") != NULL);
}
END_TEST

START_TEST(what_is_left_is_named)
{
    struct evidence *evidence = run_with_a_failure(OUT_OF_MEMORY, false);
    struct trace_record *destroyed =
        (struct trace_record *)(uintptr_t)&evidence->trace.records[evidence->trace.count - 2];
    ck_assert_uint_eq(destroyed->kind, TRACE_DESTROY);
    destroyed->object = 6; /* something else */
    judge();
    says("as if it were Monday. Device memory (64 bytes) that was allocated here was never "
         "released.");
    ck_assert_int_eq(asked_for_more, 0);
}
END_TEST

static void find_wrong(struct evidence *evidence)
{
    struct trace_record *found = put(evidence, TRACE_FINDING, "");
    found->finding = (struct trace_finding){.id = FINDING_COPY_AFTER_FREE};
    found->finding.sides[0].role = ROLE_SOURCE;
    found->address = 0x10;
    found->count = 1;
}

START_TEST(work_on_what_was_released_is_named)
{
    find_wrong(run_with_a_failure(OUT_OF_MEMORY, false));
    judge();
    says("as if it were Monday. Then: when the copy ran, its source at 0x10 was");
}
END_TEST

START_TEST(what_is_wrong_anyway_is_told_elsewhere)
{
    find_wrong(run_with_a_failure(OUT_OF_MEMORY, false));
    plain = make();
    find_wrong(&plain);
    judge();
    ck_assert(!verdict_failed(&verdict));
}
END_TEST

START_TEST(a_crash_is_told_with_what_failed)
{
    struct evidence *evidence = run_with_a_failure(OUT_OF_MEMORY, false);
    evidence->ending = ENDED_SIGNAL;
    evidence->signal = SIGSEGV;
    judge();
    says("; after that the program was stopped by a segmentation fault.");
}
END_TEST

START_TEST(a_crash_without_a_record_as_well)
{
    struct evidence *evidence = run_with_a_failure(OUT_OF_MEMORY, false);
    evidence->ending = ENDED_TIME;
    evidence->own_seconds = 10.1;
    evidence->trace.count = 0;
    judge();
    says("A call was made to fail; after that the program was still running after 10 s and was "
         "stopped.");
    ck_assert(strstr(verdict.failures[0].hint, "ask again") != NULL);
}
END_TEST

/* The program took another path, and no call failed: such a run proves nothing, but not all runs
 * may be so. */
START_TEST(a_run_in_which_none_failed_counts_for_nothing)
{
    struct evidence *evidence = run_with_a_failure(0, false);
    ((struct trace_record *)(uintptr_t)evidence_made_to_fail(evidence))->flags = TRACE_CAN_FAIL;
    run_with_a_failure(OUT_OF_MEMORY, false);
    judge();
    ck_assert(!verdict_failed(&verdict));
    ck_assert_str_eq(verdict.figures[0].text, "1 of 2 calls made to fail, one in a run of its own");
}
END_TEST

/* A call of the drive's own failed, and the drive gave up: the student is not to blame. */
START_TEST(a_failure_of_the_drives_own_counts_for_nothing)
{
    struct evidence *evidence = &runs[run_count++];
    *evidence = make();
    mark(evidence, 0, TRACE_BEGIN);
    can_fail(evidence, "cudaMalloc");
    mark(evidence, 0, TRACE_END);
    can_fail(evidence, "cudaStreamQuery")->flags |= TRACE_MADE_TO_FAIL;
    evidence->ending = ENDED_DRIVE;
    run_with_a_failure(OUT_OF_MEMORY, false);
    judge();
    ck_assert(!verdict_failed(&verdict));
    ck_assert_str_eq(verdict.figures[0].text, "1 of 2 calls made to fail, one in a run of its own");
}
END_TEST

START_TEST(no_call_at_all_is_a_failure)
{
    judge();
    says("No call of the program can fail.");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("failures");
    TCase *tcase = tcase_create("failures");
    tcase_add_test(tcase, all_that_can_fail_in_the_phases);
    tcase_add_test(tcase, what_restores_the_device_does_not_fail);
    tcase_add_test(tcase, none_without_a_phase);
    tcase_add_test(tcase, the_ends_of_each_line_and_phase);
    tcase_add_test(tcase, of_many_every_line_is_there);
    tcase_add_test(tcase, a_query_of_each_line_fails_alone_where_there_is_room);
    tcase_add_test(tcase, never_more_than_asked_for);
    tcase_add_test(tcase, the_error_returned_is_right);
    tcase_add_test(tcase, a_right_result_in_spite_of_it_is_right);
    tcase_add_test(tcase, success_without_the_result_is_not);
    tcase_add_test(tcase, a_launch_that_is_not_asked_has_its_own_hint);
    tcase_add_test(tcase, another_error_is_not);
    tcase_add_test(tcase, any_error_will_do_where_the_c_library_fails);
    tcase_add_test(tcase, an_interrupted_call_is_no_error_where_the_contract_says_so);
    tcase_add_test(tcase, nor_is_a_part_of_a_transfer);
    tcase_add_test(tcase, what_is_left_is_named);
    tcase_add_test(tcase, work_on_what_was_released_is_named);
    tcase_add_test(tcase, what_is_wrong_anyway_is_told_elsewhere);
    tcase_add_test(tcase, a_crash_is_told_with_what_failed);
    tcase_add_test(tcase, a_crash_without_a_record_as_well);
    tcase_add_test(tcase, a_run_in_which_none_failed_counts_for_nothing);
    tcase_add_test(tcase, a_failure_of_the_drives_own_counts_for_nothing);
    tcase_add_test(tcase, no_call_at_all_is_a_failure);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
