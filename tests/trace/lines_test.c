/* Promises of trace_lines: an address of a running program becomes the line it came from, through
 * functions that were inlined, and what is no address becomes nothing. */
#include "trace/lines.h"

#include <check.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct trace_lines *lines;

/* The first file that the dynamic linker lists is the program. */
static int take_base(struct dl_phdr_info *info, size_t size, void *base)
{
    (void)size;
    *(uint64_t *)base = info->dlpi_addr;
    return 1;
}

static void set_up(void)
{
    uint64_t base = 0;
    dl_iterate_phdr(take_base, &base);
    lines = trace_lines_open();
    ck_assert(trace_lines_add(lines, "/proc/self/exe", base));
}

static void tear_down(void)
{
    trace_lines_close(lines);
}

__attribute__((noinline)) static uint64_t here(void)
{
    return (uint64_t)(uintptr_t)__builtin_return_address(0);
}

static inline __attribute__((always_inline)) uint64_t wrapped(void)
{
    return here() + 0; /* the line of the call inside the wrapper */
}

static unsigned line_of_caller;

__attribute__((noinline)) static uint64_t caller_of_the_wrapper(void)
{
    line_of_caller = __LINE__ + 1;
    uint64_t address = wrapped();
    __asm__ volatile("" ::: "memory"); /* no tail call */
    return address;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

START_TEST(an_address_is_a_line)
{
    struct trace_line line;
    uint64_t address = here();
    unsigned expected = __LINE__ - 1;
    ck_assert(trace_lines_at(lines, address - 1, &line));
    ck_assert(ends_with(line.file, "lines_test.c"));
    ck_assert_uint_eq(line.line, expected);
    ck_assert(strncmp(line.function, "an_address_is_a_line", 20) == 0);
}
END_TEST

START_TEST(inlined_calls_are_unfolded)
{
    struct trace_line line[8];
    uint64_t address = caller_of_the_wrapper();
    size_t count = trace_lines_inlined(lines, address - 1, line, 8);
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(line[0].function, "wrapped");
    ck_assert(strncmp(line[1].function, "caller_of_the_wrapper", 21) == 0);
    ck_assert_uint_eq(line[1].line, line_of_caller);
    ck_assert_uint_eq(trace_lines_inlined(lines, address - 1, line, 1), 1);
    ck_assert_uint_eq(trace_lines_inlined(lines, address - 1, line, 0), 0);
}
END_TEST

START_TEST(an_address_without_lines_is_a_symbol_or_nothing)
{
    struct trace_line line;
    char text[256];
    ck_assert_ptr_nonnull(
        trace_lines_symbol(lines, (uint64_t)(uintptr_t)caller_of_the_wrapper, text, sizeof text));
    ck_assert_str_eq(text, "caller_of_the_wrapper+0");
    ck_assert_ptr_null(trace_lines_symbol(lines, 16, text, sizeof text));
    ck_assert(!trace_lines_at(lines, 16, &line));
    ck_assert(!trace_lines_at(NULL, 16, &line));
    ck_assert(!trace_lines_add(lines, "/no/such/file", 0x10000000));
    ck_assert(!trace_lines_add(NULL, "/proc/self/exe", 0));
}
END_TEST

static bool is_the_second(const struct trace_line *declared, void *user)
{
    *(struct trace_line *)user = *declared;
    return true;
}

START_TEST(functions_are_found_by_name)
{
    struct trace_line line = {0};
    ck_assert_uint_ne(caller_of_the_wrapper(), 0);
    ck_assert(trace_lines_function(lines, "caller_of_the_wrapper", is_the_second, &line));
    ck_assert_uint_eq(line.line, line_of_caller - 3);
    ck_assert(!trace_lines_function(lines, "no_such_function", is_the_second, &line));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("trace_lines");
    TCase *tests = tcase_create("trace_lines");
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, an_address_is_a_line);
    tcase_add_test(tests, inlined_calls_are_unfolded);
    tcase_add_test(tests, an_address_without_lines_is_a_symbol_or_nothing);
    tcase_add_test(tests, functions_are_found_by_name);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
