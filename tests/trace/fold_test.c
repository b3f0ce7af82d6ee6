/* Promises of trace_fold: one finding in one place is reported once, with its number of
 * occurrences, and findings that a reader must tell apart stay apart.
 */
#include "trace/fold.h"

#include <check.h>
#include <stdlib.h>

/* A finding of the host's: a call at `caller`. */
static struct trace_record at_call(enum trace_finding_id id, uint64_t caller)
{
    return (struct trace_record){
        .kind = TRACE_FINDING, .caller = caller, .count = 1, .finding.id = id};
}

/* A finding in device code, launched at `caller`. */
static struct trace_record at_line(enum trace_finding_id id, const char *file, uint32_t line,
                                   uint64_t caller)
{
    struct trace_record found = at_call(id, caller);
    found.finding.sides[0].line = line;
    trace_finding_word_set(&found.finding, WORD_FILE, file);
    return found;
}

START_TEST(numbers_and_the_other_side_tell_nothing_apart)
{
    const struct trace_record a = at_call(FINDING_LAUNCH_THREADS, 100);
    struct trace_record b = a;
    b.address = 8, b.bytes = 1, b.request = 7;
    b.finding.numbers[0]++, b.finding.things[0].made++;
    b.finding.sides[0].thread[0] = 9, b.finding.sides[1].call = 4;
    ck_assert(trace_finding_repeats(&a, &b));
    b.finding.id = FINDING_LAUNCH_GRID; /* of the same kind */
    ck_assert(trace_finding_repeats(&a, &b));
    b.finding.id = FINDING_DOUBLE_FREE;
    ck_assert(!trace_finding_repeats(&a, &b));
}
END_TEST

START_TEST(another_call_or_kernel_is_another_finding)
{
    const struct trace_record a = at_call(FINDING_DOUBLE_FREE, 100);
    struct trace_record b = a;
    b.caller++;
    ck_assert(!trace_finding_repeats(&a, &b));
    b = a;
    trace_copy_string(b.name, sizeof b.name, "scale"); /* one launch in a loop over kernels */
    ck_assert(!trace_finding_repeats(&a, &b));
    b = a, b.stack = 3; /* by a wrapper that others call too */
    ck_assert(!trace_finding_repeats(&a, &b));
}
END_TEST

START_TEST(a_kernels_line_is_the_same_whoever_launched_it)
{
    const struct trace_record a = at_line(FINDING_OUT_OF_BOUNDS, "a.cu", 7, 100);
    struct trace_record b = at_line(FINDING_OUT_OF_BOUNDS, "a.cu", 7, 200);
    b.stack = 3;
    ck_assert(trace_finding_repeats(&a, &b));
    b = at_line(FINDING_OUT_OF_BOUNDS, "b.cu", 7, 100);
    ck_assert(!trace_finding_repeats(&a, &b));
    b = at_line(FINDING_OUT_OF_BOUNDS, "a.cu", 8, 100);
    ck_assert(!trace_finding_repeats(&a, &b));
}
END_TEST

START_TEST(of_two_accesses_the_launch_counts_as_well)
{
    struct trace_record a = at_line(FINDING_RACE, "a.cu", 7, 100), b;
    a.finding.sides[1].call = 300, a.finding.sides[1].access = ACCESS_READ;
    b = a, b.caller++;
    ck_assert(!trace_finding_repeats(&a, &b));
    b = a, b.finding.sides[1].call++;
    ck_assert(trace_finding_repeats(&a, &b));
}
END_TEST

START_TEST(without_a_place_what_is_named_tells_apart)
{
    const struct trace_record a = at_call(FINDING_MODULE_DOES_NOT_LINK, 0);
    struct trace_record b = a;
    ck_assert(trace_finding_repeats(&a, &b));
    trace_finding_word_set(&b.finding, WORD_DETAIL, "nobody defines f");
    ck_assert(!trace_finding_repeats(&a, &b));
    b = a, b.finding.id = FINDING_MODULE_NOT_OPENED;
    ck_assert(!trace_finding_repeats(&a, &b));
    b = a;
    trace_copy_string(b.name, sizeof b.name, "cuModuleLoad");
    ck_assert(!trace_finding_repeats(&a, &b));
}
END_TEST

START_TEST(the_first_is_kept_and_counts_for_all)
{
    const struct trace_record records[] = {
        at_call(FINDING_DOUBLE_FREE, 200),  at_line(FINDING_OUT_OF_BOUNDS, "a.cu", 7, 100),
        at_call(FINDING_INVALID_FREE, 100), at_line(FINDING_OUT_OF_BOUNDS, "a.cu", 7, 300),
        at_call(FINDING_DOUBLE_FREE, 200),  at_call(FINDING_DOUBLE_FREE, 201),
    };
    enum { COUNT = sizeof records / sizeof *records };
    static const size_t first[] = {0, 1, 2};
    static const uint64_t counts[] = {12, 6, 3};
    struct trace_folded rows[COUNT];
    /* The caller of trace_fold knows that 200 and 201 are one line. */
    for (size_t i = 0; i < COUNT; i++)
        rows[i] = (struct trace_folded){&records[i], records[i].caller / 10, i + 1};
    ck_assert_uint_eq(trace_fold(rows, COUNT), 3);
    for (size_t i = 0; i < 3; i++) {
        ck_assert_ptr_eq(rows[i].record, &records[first[i]]);
        ck_assert_uint_eq(rows[i].count, counts[i]);
    }
    ck_assert_uint_eq(trace_fold(rows, 0), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("trace_fold");
    TCase *tests = tcase_create("trace_fold");
    tcase_add_test(tests, numbers_and_the_other_side_tell_nothing_apart);
    tcase_add_test(tests, another_call_or_kernel_is_another_finding);
    tcase_add_test(tests, a_kernels_line_is_the_same_whoever_launched_it);
    tcase_add_test(tests, of_two_accesses_the_launch_counts_as_well);
    tcase_add_test(tests, without_a_place_what_is_named_tells_apart);
    tcase_add_test(tests, the_first_is_kept_and_counts_for_all);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
