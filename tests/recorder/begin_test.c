/* The recorder closes its record with the key that it got before anything else was loaded, also
 * where CUPTI refuses to work, as it does without a driver. */
#include "trace/trace.h"

#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct trace_key key = {{0x0123456789abcdef, 0xfedcba9876543210}};

static void call(void *library, const char *name, void *to, size_t size)
{
    void *symbol = dlsym(library, name);
    ck_assert_msg(symbol != NULL, "%s", name);
    memcpy(to, &symbol, size);
}

/* Does what the runner and then the driver do. `end`: how the process ends. */
static void record_in_a_process(int record, void (*end)(int))
{
    char path[64];
    const char *(*begin)(void);
    int (*inject)(void);
    const pid_t child = fork();

    ck_assert_int_ge(child, 0);
    if (child != 0) {
        int status;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
        return;
    }
    snprintf(path, sizeof path, "/proc/self/fd/%d", record);
    setenv(TRACE_PATH_VARIABLE, path, 1);
    setenv(TRACE_KEY_VARIABLE, "0123456789abcdeffedcba9876543210", 1);
    void *library = dlopen(RECORDER, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) _exit(1);
    call(library, "overlap_begin", &begin, sizeof begin);
    if (begin() != NULL) _exit(1);
    unsetenv(TRACE_PATH_VARIABLE);
    unsetenv(TRACE_KEY_VARIABLE);
    call(library, "InitializeInjection", &inject, sizeof inject);
    end(inject() == 1 ? 0 : 2);
}

static struct trace recorded(void (*end)(int))
{
    const int record = trace_create_in_memory(16, TRACE_ALL_KINDS);
    struct trace trace;
    char why[200];

    ck_assert_int_ge(record, 0);
    record_in_a_process(record, end);
    ck_assert_msg(trace_read_descriptor(record, &key, &trace, why, sizeof why) == 0, "%s", why);
    close(record);
    return trace;
}

START_TEST(the_record_is_closed_with_the_key)
{
    struct trace trace = recorded(exit);

    ck_assert_uint_eq(trace.count, 1);
    ck_assert_str_eq(trace.records[0].name, "recorder");
    ck_assert(!trace.forged);
    trace_free(&trace);
}
END_TEST

START_TEST(a_record_that_was_not_closed_is_seen)
{
    struct trace trace = recorded(_exit);

    ck_assert_uint_eq(trace.count, 1);
    ck_assert(trace.forged);
    trace_free(&trace);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("recorder_begin");
    TCase *tests = tcase_create("begin");

    tcase_add_test(tests, the_record_is_closed_with_the_key);
    tcase_add_test(tests, a_record_that_was_not_closed_is_seen);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? 0 : 1;
}
