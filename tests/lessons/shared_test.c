/* Functions that the judges of several lessons share, on hand-made evidence: expected numbers,
 * explanations of wrong arrays and of return codes, detection of waits.
 */
#include "grader/evidence/answer.h"
#include "grader/evidence/evidence.h"
#include "grader/evidence/host_reference.h"
#include "grader/evidence/verdict.h"
#include "grader/evidence/waits.h"
#include "grader/lessons/values.h"
#include "trace/large.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RECORDS 32
#define PHASE "work"

/* ---- evidence by hand -------------------------------------------------------------------------
 */

static const struct lesson lesson = {
    .folder = "09_by_hand", .function = "work", .files = (const char *const[]){"work.c", NULL}};
static struct trace_record *records; /* belongs to the evidence */
static struct evidence evidence;
static struct verdict verdict;
static struct phase phase;

static void put(struct trace_record record)
{
    ck_assert_uint_lt(evidence.trace.count, MOST_RECORDS);
    records[evidence.trace.count++] = record;
}

static void mark(uint32_t flags)
{
    put((struct trace_record){.kind = TRACE_MARK, .flags = flags, .name = PHASE});
}

/* Adds a call that asks for no operation. */
static void call(const char *name, int code)
{
    struct trace_record record = {.kind = TRACE_CALL, .code = code};
    trace_copy_string(record.name, sizeof record.name, name);
    put(record);
}

/* Adds a call and its operation, both about this object. */
static void request_of(const char *name, uint32_t what, uint64_t object)
{
    static uint64_t requests;
    struct trace_record record = {.kind = TRACE_CALL, .request = ++requests, .object = object};
    trace_copy_string(record.name, sizeof record.name, name);
    put(record);
    record.kind = TRACE_OPERATION;
    record.what = what;
    put(record);
}

static void request(const char *name, uint32_t what)
{
    request_of(name, what, 0);
}

static void call_of(const char *name, uint64_t object)
{
    struct trace_record record = {.kind = TRACE_CALL, .object = object};
    trace_copy_string(record.name, sizeof record.name, name);
    put(record);
}

static void wait_for_event(uint64_t event)
{
    call_of("cudaEventSynchronize", event);
}

static void release(void)
{
    evidence_release(&evidence);
}

static void begin(void)
{
    release();
    memset(&verdict, 0, sizeof verdict);
    records = large_take(MOST_RECORDS * sizeof *records);
    ck_assert_ptr_nonnull(records);
    evidence.lesson = &lesson;
    evidence.trace.records = records;
    mark(TRACE_BEGIN);
}

static void end(void)
{
    mark(TRACE_END);
    ck_assert_int_eq(evidence_index_build(&evidence), 0);
    ck_assert(evidence_phase(&evidence, PHASE, 0, &phase));
}

/* ---- numbers ----------------------------------------------------------------------------------
 */

START_TEST(marks_are_what_the_kernel_does_step_by_step)
{
    const float inputs[] = {0.0f,         -0.0f,     1.0f,       -999.75f,   0x1p-149f,
                            -0x1.8p-130f, 0x1p-119f, 0x1.8p126f, 3.0000002f, INFINITY};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        volatile float value = inputs[i];
        for (int round = 0; round < 50; round++) {
            value = value * 2.0f;
            value = value / 2.0f;
        }
        const float expected = value + 1.0f + 0.0f; /* element 0 and 1009 receive a 1 */
        ck_assert_float_eq(host_reference_expected(inputs[i], 0), expected);
        ck_assert_float_eq(host_reference_expected(inputs[i], 1009), expected);
    }
    ck_assert_float_eq(host_reference_expected(0.5f, 1008), 1009.5f);
}
END_TEST

START_TEST(values_have_both_signs_spread_and_a_seed)
{
    double sum = 0.0;
    int negative = 0, equal = 0;
    for (size_t i = 0; i < 10000; i++) {
        const float value = values_at(7, i);
        ck_assert_float_ge(value, -1000.0f);
        ck_assert_float_lt(value, 1000.0f);
        sum += value;
        negative += value < 0.0f;
        equal += value == values_at(values_seed(7, 1), i);
    }
    ck_assert_double_lt(fabs(sum / 10000.0), 25.0);
    ck_assert_int_gt(negative, 4500);
    ck_assert_int_lt(negative, 5500);
    ck_assert_int_lt(equal, 5);
}
END_TEST

/* ---- wrong arrays -----------------------------------------------------------------------------
 */

#define LENGTH 200u

static void compare(float change(float right, float input, size_t i))
{
    static float input[LENGTH], output[LENGTH];
    for (size_t i = 0; i < LENGTH; i++) {
        input[i] = values_at(11, i);
        output[i] = change(host_reference_expected(input[i], i), input[i], i);
    }
    begin();
    end();
    const bool right = host_reference_compare(
        &verdict, &evidence,
        &(struct host_reference_array){
            .function = "work", .name = "It", .input = input, .output = output, .length = LENGTH});
    ck_assert(right == !verdict_failed(&verdict));
}

static float leave(float right, float input, size_t i)
{
    (void)input, (void)i;
    return right;
}

static float poison(float right, float input, size_t i)
{
    (void)right, (void)input, (void)i;
    memset(&right, DRIVE_POISON, sizeof right);
    return right;
}

static float unchanged_tail(float right, float input, size_t i)
{
    return i >= LENGTH - 8 ? input : right;
}

static float twice(float right, float input, size_t i)
{
    (void)input;
    return host_reference_expected(right, i);
}

static float last_bit(float right, float input, size_t i)
{
    (void)input;
    return i == 77 ? nextafterf(right, 2000.0f) : right;
}

START_TEST(arrays_are_compared_bit_for_bit_and_explained)
{
    compare(leave);
    ck_assert(!verdict_failed(&verdict));
    compare(poison);
    ck_assert_ptr_nonnull(strstr(verdict.failures[0].what, "all of them, still hold what was"));
    compare(unchanged_tail);
    ck_assert_ptr_nonnull(strstr(verdict.failures[0].what,
                                 "8 of its 200 elements, its end, came back as they went in"));
    ck_assert_ptr_nonnull(strstr(verdict.failures[0].what, "the first is element 192"));
    compare(twice);
    ck_assert_ptr_nonnull(strstr(verdict.failures[0].what, "have been through the kernel twice"));
    compare(last_bit);
    ck_assert_ptr_nonnull(strstr(verdict.failures[0].what, "1 of its 200 elements are wrong"));
}
END_TEST

/* ---- answers ----------------------------------------------------------------------------------
 */

static struct answer answer_of(int code)
{
    return (struct answer){&evidence, &phase, "work", ANSWER_RUNTIME, code};
}

START_TEST(names_of_errors)
{
    char text[ANSWER_NAME_SIZE];
    ck_assert_str_eq(answer_name(ANSWER_RUNTIME, 700, text), "cudaErrorIllegalAddress (700)");
    ck_assert_str_eq(answer_name(ANSWER_DRIVER, 700, text), "CUDA_ERROR_ILLEGAL_ADDRESS (700)");
    ck_assert_str_eq(answer_name(ANSWER_DRIVER, 9, text), "error 9");
    ck_assert_str_eq(answer_name(ANSWER_RUNTIME, -99, text), "error -99");
}
END_TEST

START_TEST(a_stub_is_told_that_it_is_one)
{
    begin();
    end();
    const struct answer answer = answer_of(ANSWER_NOT_WRITTEN);
    ck_assert(!answer_succeeded(&verdict, &answer, "anything"));
    ck_assert_str_eq(verdict.failures[0].what, "work is not written yet.");
    ck_assert_ptr_nonnull(strstr(verdict.failures[0].hint, "lessons/09_by_hand/README.md"));
}
END_TEST

START_TEST(an_unexpected_error_names_the_call_that_gave_it)
{
    begin();
    call("cudaEventQuery", 600); /* "not ready" is not an error */
    call("cudaMemcpyAsync", 1);
    end();
    struct answer answer = answer_of(1);
    ck_assert(!answer_succeeded(&verdict, &answer, "an array"));
    ck_assert_ptr_nonnull(strstr(verdict.failures[0].what,
                                 "cudaMemcpyAsync gave cudaErrorInvalidValue (1), and work"));
    answer = answer_of(0);
    ck_assert(answer_succeeded(&verdict, &answer, "an array"));
}
END_TEST

START_TEST(the_first_error_is_the_one_to_return)
{
    begin();
    call("cudaMalloc", 2);
    call("cudaMemcpyAsync", 1);
    end();
    struct answer answer = answer_of(2);
    ck_assert(answer_failed_with(&verdict, &answer, 9, "something else"));
    ck_assert(!verdict_failed(&verdict));
    answer = answer_of(1);
    ck_assert(!answer_failed_with(&verdict, &answer, 9, "something else"));
    answer = answer_of(0);
    ck_assert(!answer_failed_with(&verdict, &answer, 9, "it does not fit"));
    ck_assert_ptr_nonnull(
        strstr(verdict.failures[1].what,
               "returned success, although it does not fit: cudaErrorMemoryAllocation (2)"));
}
END_TEST

START_TEST(an_error_of_no_call_of_the_students_is_the_expected_one)
{
    begin();
    end();
    struct answer answer = answer_of(9);
    ck_assert(answer_failed_with(&verdict, &answer, 9, "the launch was refused"));
    answer = answer_of(1);
    ck_assert(!answer_failed_with(&verdict, &answer, 9, "the launch was refused"));
}
END_TEST

/* ---- waits ------------------------------------------------------------------------------------
 */

START_TEST(one_wait_behind_everything)
{
    begin();
    call("cudaMalloc", 0);
    request("cudaMemcpyAsync", TRACE_COPY);
    request("cudaLaunchKernel", TRACE_KERNEL);
    request("cudaMemcpyAsync", TRACE_COPY);
    call("cudaStreamSynchronize", 0);
    call("cudaFree", 0);
    end();
    const struct waits waits = waits_in(&evidence, &phase);
    ck_assert_uint_eq(waits.early_count, 0);
    ck_assert_uint_eq(waits.late_count, 1);
    ck_assert_ptr_null(waits.surplus);
    ck_assert_ptr_eq(waits.last_request, &records[6]);
}
END_TEST

START_TEST(waits_between_requests_are_early)
{
    begin();
    request("cudaMemcpy", TRACE_COPY); /* waits itself, and more work follows */
    call("cudaDeviceSynchronize", 0);
    request("cudaLaunchKernel", TRACE_KERNEL);
    request("cudaMemcpy", TRACE_COPY); /* the last request may wait */
    call("cudaDeviceSynchronize", 0);
    end();
    const struct waits waits = waits_in(&evidence, &phase);
    ck_assert_uint_eq(waits.early_count, 2);
    ck_assert_ptr_eq(waits.early, &records[1]);
    ck_assert_uint_eq(waits.late_count, 2);
    ck_assert_ptr_eq(waits.surplus, &records[8]);
}
END_TEST

START_TEST(waits_for_events_are_surplus_when_they_wait_for_nothing_more)
{
    begin();
    request("cudaMemcpyAsync", TRACE_COPY);
    request_of("cudaEventRecord", TRACE_EVENT_RECORD, 1);
    request("cudaMemcpyAsync", TRACE_COPY);
    request_of("cudaEventRecord", TRACE_EVENT_RECORD, 2);
    request("cudaLaunchHostFunc", TRACE_HOST_FUNCTION);
    wait_for_event(1);
    wait_for_event(2);
    call("cudaStreamSynchronize", 0);
    end();
    ck_assert_uint_eq(waits_in(&evidence, &phase).early_count, 0);
    ck_assert_uint_eq(waits_in(&evidence, &phase).late_count, 3);
    ck_assert_ptr_null(waits_in(&evidence, &phase).surplus);

    begin();
    request("cudaMemcpyAsync", TRACE_COPY);
    request_of("cudaEventRecord", TRACE_EVENT_RECORD, 1);
    request_of("cudaEventRecord", TRACE_EVENT_RECORD, 2);
    wait_for_event(2);
    wait_for_event(1);
    end();
    ck_assert_ptr_eq(waits_in(&evidence, &phase).surplus, &records[8]);

    begin(); /* as a GPU tells it */
    request("cudaMemcpyAsync", TRACE_COPY);
    call_of("cudaEventRecord", 1);
    request("cudaMemcpyAsync", TRACE_COPY);
    call_of("cudaEventRecord", 2);
    wait_for_event(1);
    wait_for_event(2);
    wait_for_event(1);
    end();
    ck_assert_ptr_eq(waits_in(&evidence, &phase).surplus, &records[9]);

    begin();
    request("cudaMemcpyAsync", TRACE_COPY);
    call("cudaStreamSynchronize", 0);
    wait_for_event(3); /* never recorded here */
    end();
    ck_assert_ptr_eq(waits_in(&evidence, &phase).surplus, &records[4]);
}
END_TEST

START_TEST(a_row_of_queries_is_one_wait_and_a_single_one_is_none)
{
    begin();
    request("cudaMemcpyAsync", TRACE_COPY);
    call("cudaStreamQuery", 600);
    request("cudaMemcpyAsync", TRACE_COPY);
    for (int i = 0; i < 5; i++) call("cudaStreamQuery", 600);
    end();
    const struct waits waits = waits_in(&evidence, &phase);
    ck_assert_uint_eq(waits.early_count, 0);
    ck_assert_uint_eq(waits.late_count, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lessons_shared");
    TCase *tests = tcase_create("all");
    tcase_add_checked_fixture(tests, NULL, release);
    tcase_add_test(tests, marks_are_what_the_kernel_does_step_by_step);
    tcase_add_test(tests, values_have_both_signs_spread_and_a_seed);
    tcase_add_test(tests, arrays_are_compared_bit_for_bit_and_explained);
    tcase_add_test(tests, names_of_errors);
    tcase_add_test(tests, a_stub_is_told_that_it_is_one);
    tcase_add_test(tests, an_unexpected_error_names_the_call_that_gave_it);
    tcase_add_test(tests, the_first_error_is_the_one_to_return);
    tcase_add_test(tests, an_error_of_no_call_of_the_students_is_the_expected_one);
    tcase_add_test(tests, one_wait_behind_everything);
    tcase_add_test(tests, waits_between_requests_are_early);
    tcase_add_test(tests, waits_for_events_are_surplus_when_they_wait_for_nothing_more);
    tcase_add_test(tests, a_row_of_queries_is_one_wait_and_a_single_one_is_none);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
