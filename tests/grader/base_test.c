/* The grader's base: growing strings, files written atomically, JSON, the language of messages,
 * trouble, parallel work.
 */
#include "grader/base/files.h"
#include "grader/base/json.h"
#include "grader/base/messages.h"
#include "grader/base/parallel.h"
#include "grader/base/text.h"
#include "grader/base/trouble.h"
#include "support.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *folder;

static void make_folder(void)
{
    folder = support_folder();
}

/* Returns the path of "NAME" in the tests' own folder. Valid until the next call but one. */
static const char *own(const char *name)
{
    static char paths[2][300];
    static int next;
    next = !next;
    snprintf(paths[next], sizeof paths[next], "%s/%s", folder, name);
    return paths[next];
}

/* ---- text ---------------------------------------------------------------------------------- */

START_TEST(a_text_grows_by_pieces)
{
    struct text text = {0};
    ck_assert_str_eq(text_string(&text), "");
    for (int i = 0; i < 5000; i++) text_format(&text, "%d,", i);
    text_add_bytes(&text, "a\0b", 3);
    text_add(&text, "end");
    ck_assert_uint_eq(text.size, 10 * 2 + 90 * 3 + 900 * 4 + 4000 * 5 + 6);
    ck_assert(!text.failed);
    ck_assert(strncmp(text_string(&text), "0,1,2,3,", 8) == 0);
    ck_assert_mem_eq(text.data + text.size - 6, "a\0bend", 7);
    text_free(&text);
    ck_assert_str_eq(text_string(&text), "");
}
END_TEST

/* ---- files --------------------------------------------------------------------------------- */

START_TEST(a_file_is_read_up_to_a_limit)
{
    struct text text = {0};
    ck_assert_int_eq(files_write(own("file"), "twelve bytes", 12), 0);
    ck_assert_int_eq(files_read(own("file"), 12, &text), 0);
    ck_assert_str_eq(text_string(&text), "twelve bytes");
    ck_assert_int_eq(files_read(own("file"), 11, &text), -1);
    ck_assert_int_eq(errno, EFBIG);
    ck_assert_int_eq(files_read(own("none"), 11, &text), -1);
    ck_assert_int_eq(errno, ENOENT);
    ck_assert_int_eq(symlink(own("file"), own("link")), 0);
    ck_assert_int_eq(files_read(own("link"), 100, &text), -1);
    text_free(&text);
}
END_TEST

START_TEST(a_file_is_replaced_whole)
{
    struct text text = {0};
    struct stat is;
    ck_assert_int_eq(files_replace(own("new/folders/file"), "one", 3), 0);
    ck_assert_int_eq(files_replace(own("new/folders/file"), "other", 5), 0);
    ck_assert_int_eq(files_read(own("new/folders/file"), 100, &text), 0);
    ck_assert_str_eq(text_string(&text), "other");
    text_free(&text);
    /* Where it cannot be written, the old file stays, and nothing is left beside it. */
    ck_assert_int_eq(files_make_folders(own("a/folder")), 0);
    ck_assert_int_eq(files_replace(own("a"), "x", 1), -1);
    ck_assert_int_eq(stat(own("a/folder"), &is), 0);
    ck_assert_int_eq(files_replace("/dev/null", "x", 1), 0);
    ck_assert(stat("/dev/null", &is) == 0 && S_ISCHR(is.st_mode));
}
END_TEST

START_TEST(a_folder_goes_with_all_that_is_in_it_and_no_more)
{
    struct stat is;
    ck_assert_int_eq(files_make_folders(own("gone/deep/er")), 0);
    ck_assert_int_eq(files_make_folders(own("gone/deep/er")), 0);
    ck_assert_int_eq(files_write(own("kept"), "x", 1), 0);
    ck_assert_int_eq(symlink(own("kept"), own("gone/deep/link")), 0);
    files_remove(own("gone"));
    ck_assert_int_eq(stat(own("gone"), &is), -1);
    ck_assert_int_eq(stat(own("kept"), &is), 0);
    files_remove(own("gone"));
}
END_TEST

/* ---- JSON ---------------------------------------------------------------------------------- */

START_TEST(what_is_put_is_read)
{
    json_t *object = json_object(), *again;
    json_put_text(object, "text", "it\033[2J \xff");
    json_put_text(object, "none", NULL);
    json_put_count(object, "count", 12);
    json_put_number(object, "whole", 3.0);
    json_put_number(object, "rounded", 1.0 / 3);
    json_put_bool(object, "yes", true);
    json_t *list = json_put_array(object, "list");
    json_put_text(json_add_object(list), "name", "one");
    json_put_text(json_add_object(list), "name", "two");
    json_put_count(json_put_object(object, "inner"), "count", 1);
    ck_assert_int_eq(json_write(own("value.json"), object), 0);
    json_decref(object);

    again = json_read(own("value.json"), 10000);
    ck_assert_str_eq(json_text(again, "text"), "it\\x1b[2J \\xff");
    ck_assert_str_eq(json_text(again, "none"), "");
    ck_assert(fabs(json_number(again, "count") - 12) < 1e-9);
    ck_assert(json_is_integer(json_object_get(again, "whole")));
    ck_assert(fabs(json_number(again, "rounded") - 0.333) < 1e-9);
    ck_assert(json_yes(again, "yes"));
    ck_assert_ptr_nonnull(json_find(json_list(again, "list"), "name", "two"));
    ck_assert_ptr_null(json_find(json_list(again, "list"), "name", "three"));
    json_decref(again);
}
END_TEST

START_TEST(what_is_not_there_has_an_answer)
{
    json_t *object = json_object();
    json_put_count(object, "count", 12);
    ck_assert_str_eq(json_text(object, "count"), "");
    ck_assert_str_eq(json_text(NULL, "count"), "");
    ck_assert(fabs(json_number(object, "none")) < 1e-9);
    ck_assert(!json_yes(object, "none"));
    ck_assert_ptr_null(json_list(object, "count"));
    ck_assert_ptr_null(json_find(NULL, "name", "x"));
    json_put_count(NULL, "count", 1);
    ck_assert_ptr_null(json_put_array(NULL, "list"));
    json_decref(object);
    ck_assert_ptr_null(json_read(own("none.json"), 10));
    ck_assert_int_eq(files_write(own("cut.json"), "{\"a\": 1", 7), 0);
    ck_assert_ptr_null(json_read(own("cut.json"), 10));
    ck_assert_int_eq(files_write(own("long.json"), "{\"a\": 1    }", 12), 0);
    ck_assert_ptr_null(json_read(own("long.json"), 11));
}
END_TEST

/* ---- language ------------------------------------------------------------------------------ */

START_TEST(without_a_catalogue_it_is_english)
{
    setenv("LC_ALL", "C.UTF-8", 1);
    setenv("OVERLAP_LANG", "zh", 1);
    messages_begin(own("no catalogues"));
    ck_assert_str_eq(messages_language(), "zh_CN");
    ck_assert_str_eq(messages_get("Why:  "), "Why:  ");
    ck_assert_str_eq(messages_get(""), "");
    ck_assert(messages_utf8());
}
END_TEST

START_TEST(english_is_chosen_over_the_locale)
{
    setenv("LC_ALL", "zh_CN.UTF-8", 1);
    setenv("OVERLAP_LANG", "en", 1);
    messages_begin("/nowhere");
    ck_assert_str_eq(messages_language(), "");
}
END_TEST

/* ---- trouble ------------------------------------------------------------------------------- */

START_TEST(the_first_trouble_is_the_cause)
{
    struct trouble trouble = {0};
    struct text text = {0};
    ck_assert_int_eq(trouble_set_error(&trouble, ENOSPC, TROUBLE_FOLDER, "%s", "/tmp"), -1);
    ck_assert_int_eq(trouble_set(&trouble, TROUBLE_BUSY, "too late"), -1);
    ck_assert_int_eq(trouble.kind, TROUBLE_DISK);
    trouble_sentence(&trouble, &text);
    ck_assert_ptr_nonnull(strstr(text_string(&text), "no room on a disk: /tmp: No space left"));
    text_free(&text);
}
END_TEST

START_TEST(an_error_that_a_submission_can_make_is_none)
{
    struct trouble trouble = {0};
    ck_assert_int_eq(trouble_of_error(ENOENT), TROUBLE_NONE);
    ck_assert_int_eq(trouble_of_error(EMFILE), TROUBLE_FILES);
    trouble_set_error(&trouble, EACCES, TROUBLE_FOLDER, "x");
    ck_assert_int_eq(trouble.kind, TROUBLE_FOLDER);
}
END_TEST

START_TEST(words_of_the_source_are_no_trouble)
{
    struct trouble trouble = {0};
    ck_assert_int_eq(
        trouble_find_words(&trouble, "gcc", "a.c:3:7: error: 'No space left on device'\n"), 0);
    ck_assert_int_eq(trouble_find_words(&trouble, "gcc", "    3 | \"memory exhausted\"\n"), 0);
    ck_assert_int_eq(
        trouble_find_words(&trouble, "gcc", "a.c: all is well\ncc1: memory exhausted\n"), -1);
    ck_assert_int_eq(trouble.kind, TROUBLE_MEMORY);
}
END_TEST

/* ---- side by side ------------------------------------------------------------------------------
 */

static unsigned char counts[1000];

static void count_one(void *user, size_t index)
{
    ck_assert_ptr_eq(user, counts);
    counts[index]++;
}

START_TEST(each_is_done_once)
{
    static const size_t several[] = {0, 1, 2, 17, 1000};
    for (size_t i = 0; i < sizeof several / sizeof *several; i++) {
        memset(counts, 0, sizeof counts);
        parallel_each(several[i], count_one, counts);
        for (size_t k = 0; k < sizeof counts; k++) ck_assert_uint_eq(counts[k], k < several[i]);
    }
}
END_TEST

/* No processor is in two shares, unless there are more shares than processors. */
START_TEST(shares_of_the_processors_are_apart)
{
    const size_t all = parallel_processors();
    parallel_take_share(1, 2);
    ck_assert_uint_eq(parallel_processors(), all > 1 ? all / 2 : 1);
    parallel_take_share(5, 1000);
    ck_assert_uint_eq(parallel_processors(), 1);
    memset(counts, 0, sizeof counts);
    parallel_each(3, count_one, counts);
    ck_assert_uint_eq(counts[2], 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("grader base");
    TCase *tcase = tcase_create("base");
    tcase_add_unchecked_fixture(tcase, make_folder, NULL);
    tcase_add_test(tcase, a_text_grows_by_pieces);
    tcase_add_test(tcase, a_file_is_read_up_to_a_limit);
    tcase_add_test(tcase, a_file_is_replaced_whole);
    tcase_add_test(tcase, a_folder_goes_with_all_that_is_in_it_and_no_more);
    tcase_add_test(tcase, what_is_put_is_read);
    tcase_add_test(tcase, what_is_not_there_has_an_answer);
    tcase_add_test(tcase, without_a_catalogue_it_is_english);
    tcase_add_test(tcase, english_is_chosen_over_the_locale);
    tcase_add_test(tcase, the_first_trouble_is_the_cause);
    tcase_add_test(tcase, an_error_that_a_submission_can_make_is_none);
    tcase_add_test(tcase, words_of_the_source_are_no_trouble);
    tcase_add_test(tcase, each_is_done_once);
    tcase_add_test(tcase, shares_of_the_processors_are_apart);
    suite_add_tcase(suite, tcase);
    return support_finish(srunner_create(suite));
}
