/* Sentences of ./emulate fit a terminal of 100 columns and lose nothing on the way. */
#include "emulator/cli/wrap.h"

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static char *out;
static size_t out_size;

/* Returns what is printed for `text` after `used` characters. */
static const char *wrapped(const char *text, size_t used)
{
    free(out);
    out = NULL;
    FILE *file = open_memstream(&out, &out_size);
    wrap_write(file, text, used);
    fclose(file);
    return out;
}

static void tear_down(void)
{
    free(out);
    out = NULL;
}

START_TEST(a_short_sentence_is_one_line)
{
    ck_assert_str_eq(wrapped("It is short.", 0), "It is short.\n");
    ck_assert_str_eq(wrapped("It is short.", 50), "It is short.\n");
    ck_assert_str_eq(wrapped("", 3), "");
}
END_TEST

/* Words in any number, behind any number of characters: every line fits, and all words are there.
 */
START_TEST(every_line_fits)
{
    char text[1024] = "", joined[1024];
    for (unsigned words = 1; words < 120; words++) {
        snprintf(text + strlen(text), sizeof text - strlen(text), "%sw%u", words > 1 ? " " : "",
                 words % 13 == 0 ? 1000000 + words : words);
        for (size_t used = 0; used < 100; used += 33) {
            size_t column = used, at = 0;
            for (const char *c = wrapped(text, used); *c != '\0'; c++) {
                column = *c == '\n' ? 0 : column + 1;
                ck_assert_uint_le(column, 100);
                const bool is_break = *c == '\n' || *c == ' ';
                if (!is_break)
                    joined[at++] = *c;
                else if (at > 0 && joined[at - 1] != ' ')
                    joined[at++] = ' ';
            }
            joined[at - 1] = '\0'; /* the last line's end */
            ck_assert_str_eq(joined, text);
        }
    }
}
END_TEST

START_TEST(further_lines_are_indented)
{
    char text[200];
    memset(text, 'a', 90);
    strcpy(text + 90, " and behind it more than fits");
    const char *line = strchr(wrapped(text, 8), '\n') + 1;
    ck_assert_uint_eq(strspn(line, " "), WRAP_INDENT);
}
END_TEST

START_TEST(a_word_that_is_too_long_gets_its_own_line)
{
    char word[151];
    memset(word, 'x', 150);
    word[150] = '\0';
    ck_assert_ptr_nonnull(strstr(wrapped(word, 20), word));
    ck_assert_ptr_nonnull(strstr(wrapped(word, 0), word));
}
END_TEST

START_TEST(commands_to_copy_are_not_broken)
{
    char text[400] = "Build it with:\n  nvcc -cudart shared";
    for (int i = 0; i < 20; i++) strcat(text, " another_source.cu");
    const char *command = strchr(text, '\n');
    ck_assert_ptr_nonnull(strstr(wrapped(text, 0), command));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("emulate_wrap");
    TCase *tests = tcase_create("emulate_wrap");
    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_add_test(tests, a_short_sentence_is_one_line);
    tcase_add_test(tests, every_line_fits);
    tcase_add_test(tests, further_lines_are_indented);
    tcase_add_test(tests, a_word_that_is_too_long_gets_its_own_line);
    tcase_add_test(tests, commands_to_copy_are_not_broken);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
