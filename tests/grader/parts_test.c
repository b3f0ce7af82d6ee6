/* The grader's small parts: text, filters, random numbers, hashing, options, choosing lessons,
 * compilers' messages. */
#include "grader/base/files.h"
#include "grader/base/filter.h"
#include "grader/base/random.h"
#include "grader/base/sha256.h"
#include "grader/build/compiler_messages.h"
#include "grader/session/options.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- text -------------------------------------------------------------------------------------
 */

static const struct {
    const char *given, *quoted;
} quotes[] = {
    {"plain, with\ttab\nand line", "plain, with\ttab\nand line"},
    {"[  PASSED  ] 3 tests.", "(  PASSED  ) 3 tests."},
    {"x [  SKIPPED ] y", "x (  SKIPPED ) y"},
    {"[==========] [----------]", "(==========) (----------)"},
    {"values[i] and [12345678901]", "values[i] and [12345678901]"},
    {"\033[2J\r\x7f", "\\x1b[2J\\x0d\\x7f"},
    {"gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f"},
    {"\xc3(\xff\xc0\x80", "\\xc3(\\xff\\xc0\\x80"},
    {"\xe2\x82\xac \xed\xa0\x80 \xc2\x9b", "\xe2\x82\xac \\xed\\xa0\\x80 \\xc2\\x9b"},
    {"\xd8\x9c\xe2\x80\x8b\xe2\x80\x8d\xe2\x80\x8f", /* a joiner makes one sign of several */
     "\\xd8\\x9c\\xe2\\x80\\x8b\xe2\x80\x8d\\xe2\\x80\\x8f"},
    {"\xe2\x80\xae\xe2\x81\xa6\xef\xbb\xbf", "\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xef\\xbb\\xbf"},
    {"\xef\xbf\xbe\xef\xbf\xbf\xef\xbf\xbd", "\\xef\\xbf\\xbe\\xef\\xbf\\xbf\xef\xbf\xbd"},
    {"\xef\xb7\x90\xef\xb7\xaf\xef\xb7\xb0", "\\xef\\xb7\\x90\\xef\\xb7\\xaf\xef\xb7\xb0"},
    {"\xf0\x9f\xbf\xbe\xf4\x8f\xbf\xbf", "\\xf0\\x9f\\xbf\\xbe\\xf4\\x8f\\xbf\\xbf"},
    {"\xf3\xa0\x80\x81\xf3\xa0\x81\xbf\xf0\x9f\x9a\x80",
     "\\xf3\\xa0\\x80\\x81\\xf3\\xa0\\x81\\xbf\xf0\x9f\x9a\x80"},
};

START_TEST(quoting)
{
    struct text text = {0};
    text_add_quoted(&text, quotes[_i].given, strlen(quotes[_i].given));
    ck_assert_str_eq(text_string(&text), quotes[_i].quoted);
    text_free(&text);
}
END_TEST

START_TEST(lines_are_cut)
{
    struct text text = {0};
    text_add_lines(&text, "a\nb\nc\nd", 7, "| ", 2, false);
    ck_assert_str_eq(text_string(&text), "| a\n| b\n| (2 lines more)\n");
    text_free(&text);
    text_add_lines(&text, "a\nb\nc\nd\n", 8, "| ", 2, true);
    ck_assert_str_eq(text_string(&text), "| (2 lines before)\n| c\n| d\n");
    text_free(&text);
    text_add_lines(&text, "", 0, "| ", 2, true);
    ck_assert_str_eq(text_string(&text), "");
    char line[1000];
    memset(line, 'x', sizeof line);
    text_add_lines(&text, line, sizeof line, "", 5, false);
    ck_assert_uint_eq(text.size, 405);
    text_free(&text);
}
END_TEST

START_TEST(nearest_names)
{
    static const char *const names[] = {"device_sync", "streams", "events", NULL};
    ck_assert_str_eq(text_nearest("strems", names), "streams");
    ck_assert_str_eq(text_nearest("event", names), "events");
    ck_assert_str_eq(text_nearest("devicesync", names), "device_sync");
    ck_assert_ptr_null(text_nearest("mandelbrot", names));
    ck_assert_ptr_null(text_nearest("x", names));
}
END_TEST

/* ---- filters ----------------------------------------------------------------------------------
 */

static const struct {
    const char *filter, *name;
    bool matches;
} filters[] = {
    {"*", "A.B", true},
    {"", "A.B", false},
    {"A.B", "A.B", true},
    {"A.B", "A.BC", false},
    {"A.*", "A.B", true},
    {"*.B", "A.B", true},
    {"A.?", "A.B", true},
    {"A.?", "A.BC", false},
    {"A.B:C.D", "C.D", true},
    {"A.B:C.D", "C.E", false},
    {"-A.B", "A.B", false},
    {"-A.B", "A.C", true},
    {"*-A.*", "B.A", true},
    {"*-A.*", "A.A", false},
    {"A.*-A.B:A.C", "A.C", false},
    {"A.*-A.B:A.C", "A.D", true},
    {"*a*b*c", "xxaxbxbxc", true},
    {"*a*b*c", "xxaxbxbx", false},
    {"A.B-A.B-C", "A.B", true}, /* the second '-' belongs to the negative pattern */
    {"*::A", "A", true},
};

START_TEST(filtering)
{
    ck_assert_msg(filter_matches(filters[_i].filter, filters[_i].name) == filters[_i].matches,
                  "filter \"%s\" and test %s", filters[_i].filter, filters[_i].name);
}
END_TEST

START_TEST(shards_divide_the_tests)
{
    for (unsigned test = 0; test < 20; test++) {
        int owners = 0;
        for (unsigned shard = 0; shard < 3; shard++) owners += filter_in_shard(test, shard, 3);
        ck_assert_int_eq(owners, 1);
    }
    ck_assert(filter_in_shard(7, 0, 1));
}
END_TEST

/* ---- numbers ----------------------------------------------------------------------------------
 */

START_TEST(random_numbers)
{
    struct random_source a, b;
    int seen[7] = {0};
    uint64_t one, two;

    random_seed(&a, 42);
    random_seed(&b, 42);
    for (int i = 0; i < 100; i++) ck_assert_uint_eq(random_bits(&a), random_bits(&b));
    random_derive(&a, 42, "left");
    random_derive(&b, 42, "right");
    ck_assert_uint_ne(random_bits(&a), random_bits(&b));
    for (int i = 0; i < 7000; i++) seen[random_between(&a, -3, 3) + 3]++;
    for (int i = 0; i < 7; i++) ck_assert_msg(seen[i] > 800 && seen[i] < 1200, "%d", seen[i]);
    for (int i = 0; i < 1000; i++) {
        double x = random_real(&a, -2, 5);
        ck_assert(x >= -2 && x < 5);
    }
    random_between(&a, INT64_MIN, INT64_MAX);
    ck_assert_int_eq(random_secret(&one), 0);
    ck_assert_int_eq(random_secret(&two), 0);
    ck_assert_uint_ne(one, two);
}
END_TEST

/* FIPS 180-4's examples. */
START_TEST(hashes)
{
    static const struct {
        const char *text, *hash;
    } rows[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct sha256 hash;
        char text[SHA256_TEXT_SIZE];
        sha256_begin(&hash);
        for (const char *c = rows[i].text; *c != '\0'; c++) sha256_add(&hash, c, 1);
        sha256_end(&hash, text);
        ck_assert_str_eq(text, rows[i].hash);
    }
    struct sha256 hash;
    ck_assert_int_eq(sha256_add_file(&hash, "/no/such/file"), -1);
}
END_TEST

/* ---- options ----------------------------------------------------------------------------------
 */

#define PARSE(options, why, ...)                                                                   \
    options_parse(&(options), sizeof((char *[]){"grade", __VA_ARGS__}) / sizeof(char *),           \
                  (char *[]){"grade", __VA_ARGS__}, &(why))

START_TEST(options_are_read)
{
    struct options options;
    struct text why = {0};

    ck_assert_int_eq(PARSE(options, why, "streams", "--device=emulator", "--seed", "0x10",
                           "--gtest_filter=A.*", "--gtest_repeat=3", "--gtest_shuffle", "02",
                           "--gtest_random_seed=7", "--gtest_print_time=0", "--gtest_brief=false",
                           "--gtest_catch_exceptions=0", "--submission=x", "--random-orders=20"),
                     0);
    ck_assert_uint_eq(options.word_count, 2);
    ck_assert_str_eq(options.words[1], "02");
    ck_assert_int_eq(options.device, DEVICE_EMULATOR);
    ck_assert_uint_eq(options.seed, 16);
    ck_assert_str_eq(options.filter, "A.*");
    ck_assert_int_eq(options.repeat, 3);
    ck_assert(options.shuffle && !options.print_time && !options.brief && !options.help);
    ck_assert_str_eq(options.submission, "x");
    ck_assert_uint_eq(options.random_orders, 20);
    options_free(&options);
    text_free(&why);
}
END_TEST

static const struct {
    const char *argument;
    int status;
    const char *says;
} wrong[] = {
    {"--devise=gpu", 2, "there is no flag --devise; did you mean --device?"},
    {"--device=emulater", 2, "did you mean --device=emulator?"},
    {"--frobnicate", 2, "--help lists them"},
    {"--seed=many", 2, "--seed needs a number"},
    {"--random-orders=51", 2, "--random-orders needs a number from 0 to 50"},
    {"--random-orders=-1", 2, "--random-orders needs a number from 0 to 50"},
    {"--submission", 2, "--submission needs a value, as in"},
    {"--jobs=0", 2, "--jobs needs a number from 1 to"},
    {"--again", 2, "belong to --class=DIR"},
    {"--gtest_repeat=x", 2, "--gtest_repeat needs a whole number"},
    {"--gtest_filter", 2, "--gtest_filter needs a value"},
    {"--gtest_random_seed=100000", 2, "from 0 to 99999"},
    {"--gtest_flagfile=/no/such/file", 2, "cannot be read"},
};

START_TEST(wrong_options_are_explained)
{
    struct options options;
    struct text why = {0};

    ck_assert_int_eq(PARSE(options, why, (char *)(size_t)wrong[_i].argument), wrong[_i].status);
    ck_assert_msg(strstr(text_string(&why), wrong[_i].says) != NULL, "%s", text_string(&why));
    options_free(&options);
    text_free(&why);
}
END_TEST

START_TEST(unknown_gtest_flags_ask_for_help)
{
    struct options options;
    struct text why = {0};

    ck_assert_int_eq(PARSE(options, why, "--gtest_no_such_flag"), 2);
    ck_assert(options.help);
    ck_assert_str_eq(text_string(&why), "there is no flag --gtest_no_such_flag; this is the help, "
                                        "and nothing was run");
    options_free(&options);
    ck_assert_int_eq(PARSE(options, why, "--class=in", "--solutions"), 2);
    options_free(&options);
    ck_assert_int_eq(PARSE(options, why, "--report=html:a", "--report", "json:b", "--jobs=3"), 0);
    ck_assert_uint_eq(options.report_count, 2);
    ck_assert_str_eq(options.reports[1], "json:b");
    ck_assert_int_eq(options.jobs, 3);
    options_free(&options);
    ck_assert_int_eq(PARSE(options, why, "--solutions", "--submission=x"), 2);
    options_free(&options);
    text_free(&why);
}
END_TEST

START_TEST(the_environment_stands_in)
{
    struct options options;
    struct text why = {0};
    char file[256], flag[300];

    setenv("GTEST_FILTER", "B.*", 1);
    setenv("GTEST_COLOR", "yes", 1);
    setenv("TESTBRIDGE_TEST_RUNNER_FAIL_FAST", "1", 1);
    setenv("XML_OUTPUT_FILE", "out.xml", 1);
    setenv("GTEST_TOTAL_SHARDS", "3", 1);
    setenv("GTEST_SHARD_INDEX", "1", 1);
    ck_assert_int_eq(PARSE(options, why, "--gtest_color=no"), 0);
    ck_assert_str_eq(options.filter, "B.*");
    ck_assert_str_eq(options.color, "no");
    ck_assert_str_eq(options.output, "xml:out.xml");
    ck_assert(options.fail_fast);
    ck_assert_uint_eq(options.shards, 3);
    ck_assert_uint_eq(options.shard, 1);
    options_free(&options);

    setenv("GTEST_SHARD_INDEX", "3", 1);
    ck_assert_int_eq(PARSE(options, why, "x"), 1);
    options_free(&options);
    unsetenv("GTEST_SHARD_INDEX");
    ck_assert_int_eq(PARSE(options, why, "x"), 1);
    options_free(&options);
    unsetenv("GTEST_TOTAL_SHARDS");

    setenv("OVERLAP_COMPILER_SECONDS", "half", 1);
    ck_assert_int_eq(PARSE(options, why, "x"), 2);
    options_free(&options);
    unsetenv("OVERLAP_COMPILER_SECONDS");

    unsetenv("GTEST_FILTER");
    setenv("TESTBRIDGE_TEST_ONLY", "C.*", 1);
    snprintf(file, sizeof file, "%s/flags", support_folder());
    ck_assert_int_eq(files_write(file, "--gtest_repeat=4\n\n--gtest_brief\n", 32), 0);
    snprintf(flag, sizeof flag, "--gtest_flagfile=%s", file);
    ck_assert_int_eq(PARSE(options, why, flag), 0);
    ck_assert_str_eq(options.filter, "C.*");
    ck_assert_int_eq(options.repeat, 4);
    ck_assert(options.brief);
    options_free(&options);
    text_free(&why);
}
END_TEST

/* ---- choosing lessons -------------------------------------------------------------------------
 */

static const char *const sum_files[] = {"sum.c", NULL};
static const char *const twice_files[] = {"twice.h", NULL};
static const struct lesson sum = {
    .number = 1, .folder = "01_sum", .suite = "Sum", .files = sum_files};
static const struct lesson twice = {
    .number = 2, .folder = "02_twice", .suite = "Twice", .files = twice_files};
static const struct lesson *const table[] = {&sum, &twice, NULL};

static int choose(struct submission *submission, const char *word, const char *folder,
                  struct text *why)
{
    const char *words[] = {word};
    return submission_choose(submission, table, words, word != NULL, "/root_of_source", folder,
                             false, why);
}

START_TEST(lessons_have_several_names)
{
    static const char *const names[] = {"02_twice", "twice", "02", "2", "Twice"};
    for (size_t i = 0; i < 5; i++) {
        struct submission submission;
        struct text why = {0};
        ck_assert_int_eq(choose(&submission, names[i], NULL, &why), 0);
        ck_assert_uint_eq(submission.count, 1);
        ck_assert_str_eq(submission.lessons[0].shown, "lessons/02_twice");
        ck_assert_str_eq(submission.lessons[0].folder, "/root_of_source/lessons/02_twice");
        submission_free(&submission);
    }
}
END_TEST

START_TEST(unknown_lessons_are_explained)
{
    struct submission submission;
    struct text why = {0};
    ck_assert_int_eq(choose(&submission, "twise", NULL, &why), 2);
    ck_assert_str_eq(text_string(&why), "there is no lesson \"twise\"; did you mean twice? The "
                                        "lessons are: sum, twice");
    text_free(&why);
}
END_TEST

START_TEST(submissions_are_recognised)
{
    struct submission submission;
    struct text why = {0};
    const char *all = support_folder(), *one = support_folder(), *none = support_folder();
    char path[256];

    snprintf(path, sizeof path, "%s/01_sum", all);
    ck_assert_int_eq(mkdir(path, 0755), 0);
    snprintf(path, sizeof path, "%s/twice.h", one);
    ck_assert_int_eq(files_write(path, "", 0), 0);

    ck_assert_int_eq(choose(&submission, NULL, all, &why), 0);
    ck_assert_uint_eq(submission.count, 2);
    submission_free(&submission);
    snprintf(path, sizeof path, "%s//", one);
    ck_assert_int_eq(choose(&submission, NULL, path, &why), 0);
    ck_assert_uint_eq(submission.count, 1);
    ck_assert_ptr_eq(submission.lessons[0].lesson, &twice);
    ck_assert_str_eq(submission.lessons[0].shown, one);
    submission_free(&submission);

    ck_assert_int_eq(choose(&submission, "sum", one, &why), 2);
    ck_assert_ptr_nonnull(strstr(text_string(&why), "a submission for the lesson 02_twice"));
    ck_assert_int_eq(choose(&submission, NULL, none, &why), 2);
    ck_assert_ptr_nonnull(strstr(text_string(&why), "no submission: it should hold a copy of"));
    ck_assert_int_eq(choose(&submission, NULL, "/no/such/folder", &why), 2);
    ck_assert_ptr_nonnull(strstr(text_string(&why), "not a folder that can be opened"));
    text_free(&why);
}
END_TEST

/* ---- compilers' messages -----------------------------------------------------------------------
 */

static const struct {
    const char *said;
    unsigned line;
    const char *what;
} messages[] = {
    {"sum.c:3:5: warning: unused\nsum.c:7:9: error: expected ';' before 'x'\n    7 |  int\n", 7,
     "It does not compile: expected ';' before 'x'"},
    {"sum.c(12): error: identifier \"y\" is undefined\n", 12,
     "It does not compile: identifier \"y\" is undefined"},
    {"/usr/bin/ld: 0.o: in function `sum_array':\n/submission/sum.c:9: undefined reference to "
     "`helper'\ncollect2: error: ld returned 1 exit status\n",
     9, "It does not compile: undefined reference to `helper'"},
    {"/usr/bin/ld: drive.o: in function `drive_main':\ndrive.c:11: undefined reference to "
     "`sum_array'\n",
     0, "It does not compile: sum_array, which the lesson calls, is nowhere defined."},
    {"../src/sum.c(7): error: identifier \"y\" is undefined\n  instantiation of \"f<int>\"\n\n"
     "../src/sum.c(7): error: identifier \"y\" is undefined\n  instantiation of \"f<float>\"\n",
     7, "It does not compile, in 2 instantiations of the template: identifier \"y\" is undefined"},
    {"no space left", 0, "It does not compile."},
};

START_TEST(messages_are_explained)
{
    struct handed_in handed_in = {.lesson = &sum, .shown = "lessons/01_sum"};
    struct compiled compiled = {0};

    compiler_messages_explain(&handed_in, messages[_i].said, strlen(messages[_i].said), &compiled);
    ck_assert_str_eq(compiled.what, messages[_i].what);
    ck_assert_uint_eq(compiled.place.line, messages[_i].line);
    ck_assert_str_eq(compiled.place.file, "lessons/01_sum/sum.c");
    if (strstr(messages[_i].what, "nowhere") != NULL)
        ck_assert_ptr_null(compiled.said); /* it would name files of the grader's alone */
    else
        ck_assert_int_eq(strncmp(compiled.said, "  | ", 4), 0);
    compiled_free(&compiled);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("grader parts");
    TCase *tcase = tcase_create("parts");
    tcase_add_loop_test(tcase, quoting, 0, sizeof quotes / sizeof quotes[0]);
    tcase_add_test(tcase, lines_are_cut);
    tcase_add_test(tcase, nearest_names);
    tcase_add_loop_test(tcase, filtering, 0, sizeof filters / sizeof filters[0]);
    tcase_add_test(tcase, shards_divide_the_tests);
    tcase_add_test(tcase, random_numbers);
    tcase_add_test(tcase, hashes);
    tcase_add_test(tcase, options_are_read);
    tcase_add_loop_test(tcase, wrong_options_are_explained, 0, sizeof wrong / sizeof wrong[0]);
    tcase_add_test(tcase, unknown_gtest_flags_ask_for_help);
    tcase_add_test(tcase, the_environment_stands_in);
    tcase_add_test(tcase, lessons_have_several_names);
    tcase_add_test(tcase, unknown_lessons_are_explained);
    tcase_add_test(tcase, submissions_are_recognised);
    tcase_add_loop_test(tcase, messages_are_explained, 0, sizeof messages / sizeof messages[0]);
    suite_add_tcase(suite, tcase);
    return support_finish(srunner_create(suite));
}
