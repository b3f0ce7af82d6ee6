/* Memory that a fork shares instead of copying: zeroed and aligned, of any size; large blocks are
 * shared with a fork until they are sealed.
 */
#include "trace/large.h"

#include <check.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static const size_t sizes[] = {0, 1, 63, 64, 65, 65535, 65536, 1000000};

START_TEST(memory_is_zeroed_and_aligned)
{
    for (int round = 0; round < 2; round++) {
        unsigned char *bytes = large_take(sizes[_i]);
        ck_assert_ptr_nonnull(bytes);
        ck_assert_uint_eq((uintptr_t)bytes % 64, 0);
        for (size_t k = 0; k < sizes[_i]; k++) {
            ck_assert_uint_eq(bytes[k], 0);
            bytes[k] = 0xff;
        }
        large_give_back(bytes);
    }
}
END_TEST

START_TEST(more_than_there_is_is_refused)
{
    ck_assert_ptr_null(large_take(SIZE_MAX));
    ck_assert_ptr_null(large_take(SIZE_MAX / 2));
    large_give_back(NULL);
}
END_TEST

/* A fork writes to the last byte of both. */
START_TEST(a_fork_shares_it)
{
    enum { SIZE = 1 << 20 };
    char *bytes = large_take(SIZE), *ordinary = calloc(1, SIZE);
    int status = 0;
    ck_assert(bytes != NULL && ordinary != NULL);
    bytes[SIZE - 1] = ordinary[SIZE - 1] = 1;
    const pid_t child = fork();
    if (child == 0) {
        const bool right = bytes[SIZE - 1] == 1;
        bytes[SIZE - 1] = ordinary[SIZE - 1] = 2;
        _exit(right ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_int_eq(ordinary[SIZE - 1], 1);
    ck_assert_int_eq(bytes[SIZE - 1], 2);
    free(ordinary);
    large_give_back(bytes);
}
END_TEST

/* Large or small: what a fork writes after sealing is seen by no other process. */
START_TEST(what_is_sealed_stays)
{
    char *bytes = large_take(sizes[_i]);
    int status = 0;
    ck_assert_ptr_nonnull(bytes);
    if (sizes[_i] > 0) bytes[0] = 1;
    large_seal(bytes);
    const pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        if (sizes[_i] > 0) *(volatile char *)bytes = 2;
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    if (sizes[_i] > 0) ck_assert_int_eq(bytes[0], 1);
    large_give_back(bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("trace_large");
    TCase *tests = tcase_create("all");
    tcase_add_loop_test(tests, memory_is_zeroed_and_aligned, 0, sizeof sizes / sizeof *sizes);
    tcase_add_test(tests, more_than_there_is_is_refused);
    tcase_add_test(tests, a_fork_shares_it);
    tcase_add_loop_test(tests, what_is_sealed_stays, 0, sizeof sizes / sizeof *sizes);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
