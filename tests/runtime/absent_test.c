/* Every function that a libcudart exports and does not support (ABSENT_FUNCTIONS lists them) prints
 * its name, returns cudaErrorNotSupported, leaves that as the last error, and does nothing else.
 * Compiled without NVIDIA's header, with whose prototypes these calls do not agree. */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NOT_SUPPORTED = 801 };

int cudaGetLastError(void);

#define ABSENT(symbol) int symbol(void);
#include ABSENT_FUNCTIONS
#undef ABSENT

static const struct absent {
    const char *name;
    int (*function)(void);
} absent[] = {
#define ABSENT(symbol) {#symbol, symbol},
#include ABSENT_FUNCTIONS
#undef ABSENT
};

enum { COUNT = sizeof absent / sizeof *absent };

START_TEST(each_names_itself)
{
    char text[512] = "";
    int ends[2], terminal = dup(2);
    ck_assert_int_eq(pipe(ends), 0);
    dup2(ends[1], 2);
    int code = absent[_i].function();
    dup2(terminal, 2);
    ck_assert_int_eq(code, NOT_SUPPORTED);
    ck_assert_int_eq(cudaGetLastError(), NOT_SUPPORTED);
    ck_assert_int_gt(read(ends[0], text, sizeof text - 1), 0);
    ck_assert_msg(strstr(text, absent[_i].name) != NULL, "%s says: %s", absent[_i].name, text);
    close(ends[0]);
    close(ends[1]);
    close(terminal);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("absent");
    TCase *tcase = tcase_create("absent");
    tcase_add_loop_test(tcase, each_names_itself, 0, COUNT);
    suite_add_tcase(suite, tcase);

    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
