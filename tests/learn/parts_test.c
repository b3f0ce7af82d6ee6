/* The parts of ./learn that need no terminal: every check has its three hints; pages are cut and
 * wrapped by columns; a grading can be ended at any time. */
#include "grader/base/text.h"
#include "grader/learn/grading.h"
#include "grader/learn/page.h"
#include "grader/lessons/table.h"

#include <check.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const struct hint *hint_of(const struct lesson *lesson, const char *check)
{
    for (const struct hint *hint = lesson->hints; hint->check != NULL; hint++)
        if (strcmp(hint->check, check) == 0) return hint;
    return NULL;
}

START_TEST(every_check_has_three_hints)
{
    for (const struct lesson *const *lesson = lesson_table; *lesson != NULL; lesson++) {
        size_t checks = 0, hints = 0;
        ck_assert_ptr_nonnull((*lesson)->hints);
        for (; (*lesson)->checks[checks].name != NULL; checks++) {
            const char *name = (*lesson)->checks[checks].name;
            const struct hint *hint = hint_of(*lesson, name);
            ck_assert_msg(hint != NULL, "%s.%s has no hints", (*lesson)->suite, name);
            for (int i = 0; i < HINT_STEPS; i++)
                ck_assert_msg(strlen(hint->steps[i]) > 20, "%s.%s, step %d", (*lesson)->suite, name,
                              i + 1);
        }
        while ((*lesson)->hints[hints].check != NULL) hints++;
        ck_assert_msg(hints == checks, "%s has %zu hints for %zu checks", (*lesson)->folder, hints,
                      checks);
    }
}
END_TEST

START_TEST(pages_are_cut_and_wrapped)
{
    struct page page = {.width = 20};

    page_line(&page, PAGE_PLAIN, "%s", "a\tb and more than twenty columns");
    ck_assert_str_eq(page.lines[0].text, "a       b and more t");
    page_paragraph(&page, PAGE_PLAIN, "Why: ", "one two three four five six");
    ck_assert_str_eq(page.lines[1].text, "Why: one two three");
    ck_assert_str_eq(page.lines[2].text, "     four five six");
    page_paragraph(&page, PAGE_PLAIN, "", "text\n  code that is not wrapped");
    ck_assert_str_eq(page.lines[3].text, "text");
    ck_assert_str_eq(page.lines[4].text, "  code that is not w");
    page_line(&page, PAGE_PLAIN, "%s", "\033[31m");
    ck_assert_str_eq(page.lines[5].text, "?[31m");
    page_free(&page);
    ck_assert_uint_eq(page.count, 0);
}
END_TEST

START_TEST(wide_characters_take_two_columns)
{
    struct page page = {.width = 12};

    ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "C.UTF-8"));
    ck_assert_uint_eq(text_columns("\u6d41 a"), 4);
    page_paragraph(&page, PAGE_PLAIN, "", "\u6d41\u6d41\u6d41\u6d41\u6d41\u6d41\u6d41\u6d41");
    ck_assert_uint_eq(page.count, 2);
    ck_assert_uint_eq(text_columns(page.lines[0].text), 12);
    ck_assert_uint_eq(text_columns(page.lines[1].text), 4);
    page_free(&page);
    page_line(&page, PAGE_PLAIN, "%s", "\xff broken");
    ck_assert_str_eq(page.lines[0].text, "? broken");
    page_free(&page);
    setlocale(LC_CTYPE, "C");
}
END_TEST

START_TEST(bars)
{
    char bar[64];

    page_bar(bar, 10, 5, 10);
    ck_assert_str_eq(bar, "#####.....");
    page_bar(bar, 4, 0, 0);
    ck_assert_str_eq(bar, "....");
    page_bar(bar, 4, 99, 100); /* full means all */
    ck_assert_str_eq(bar, "###.");
}
END_TEST

/* A save ends a grading while its verdicts fill the pipe: neither side waits for the other. */
START_TEST(a_grading_that_tells_more_than_fits_can_be_ended)
{
    const struct lesson *const only[] = {lesson_table[0], NULL};
    struct grading grading = {.fd = -1};
    int waiting = 0, before = -1;

    ck_assert_int_eq(grading_start(&grading, toolchain_configured(), only, only[0]), 0);
    const int room = fcntl(grading.fd, F_SETPIPE_SZ, (int)sysconf(_SC_PAGESIZE));
    ck_assert_int_gt(room, 0);
    ck_assert_uint_gt(sizeof(struct verdict), (size_t)room);
    /* The process has begun to send a verdict, and is blocked. */
    while (waiting != before || waiting < room / 2) {
        before = waiting;
        usleep(20000);
        ck_assert_int_eq(ioctl(grading.fd, FIONREAD, &waiting), 0);
    }
    grading_end(&grading);
    ck_assert_int_eq(grading.fd, -1);
    ck_assert_int_eq(grading.pid, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("learn parts");
    TCase *tcase = tcase_create("parts");
    tcase_add_test(tcase, every_check_has_three_hints);
    tcase_add_test(tcase, pages_are_cut_and_wrapped);
    tcase_add_test(tcase, wide_characters_take_two_columns);
    tcase_add_test(tcase, bars);
    tcase_add_test(tcase, a_grading_that_tells_more_than_fits_can_be_ended);
    tcase_set_timeout(tcase, 300); /* for a busy machine */
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
