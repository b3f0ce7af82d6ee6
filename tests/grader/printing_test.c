/* The console, XML and JSON output of hand-made results, against golden files; and GoogleTest's
 * rules for colours, brief and listing. */
#include "grader/base/files.h"
#include "grader/session/gtest_report.h"
#include "grader/session/printer.h"
#include "grader/session/record.h"
#include "grader/session/same_cause.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const files[] = {"sum.c", NULL};
static const struct lesson sum = {.suite = "Sum", .folder = "01_sum", .files = files};
static const struct lesson twice = {.suite = "Twice", .folder = "02_twice", .files = files};
static struct handed_in handed_in[] = {{.lesson = &sum, .shown = "lessons/01_sum"},
                                       {.lesson = &twice, .shown = "lessons/02_twice"}};
static const struct check checks[] = {
    {.name = "IsRight"},
    {.name = "NothingLeaks"},
    {.name = "IsFast"},
    {.name = "DISABLED_Later"},
};

static struct test tests[2][4];
static size_t orders[3][4];
static struct suite suites[2];
static struct results results;

static void set(size_t suite, size_t index, enum test_outcome outcome, double milliseconds)
{
    struct test *test = &tests[suite][index];
    *test = (struct test){.check = &checks[index],
                          .matches = true,
                          .runs = outcome != TEST_NOT_RUN,
                          .outcome = outcome,
                          .milliseconds = milliseconds,
                          .started = {.tv_sec = 1795223732, .tv_nsec = 123456789},
                          .verdict = calloc(1, sizeof *test->verdict)};
    test->disabled = index == 3;
}

/* Sum: passed with a figure, failed twice with forged output, skipped, disabled. Twice: passed. */
static void make_results(void)
{
    struct place place = {.file = "lessons/01_sum/sum.c", .line = 41};

    setenv("TZ", "UTC", 1);
    for (size_t i = 0; i < 4; i++) orders[0][i] = orders[1][i] = orders[2][i] = i;
    set(0, 0, TEST_PASSED, 12.4);
    verdict_figure(tests[0][0].verdict, "ratio", "1.02 times the reference's time");
    set(0, 1, TEST_FAILED, 1);
    struct verdict *v = tests[0][1].verdict;
    verdict_fail_at(v, &place,
                    "A stream that was made here was never ended, and this sentence goes on for "
                    "so long that it has to be broken into two lines of text.");
    verdict_kind(v, "leak");
    verdict_why(v, "It is <held> & \"kept\" until the end ]]> of the program.");
    verdict_hint(v, "End it.");
    place.line = 0;
    verdict_fail_at(v, &place,
                    "The student wrote [  PASSED  ] and \033[2J.\n  | quoted line\nlast");
    strcpy(v->seen, "on the emulator, with each operation run as early as CUDA allows (earliest).");
    text_add(&tests[0][1].printed, "  | (       OK ) is what it printed\n");
    set(0, 2, TEST_SKIPPED, 0);
    verdict_skip(tests[0][2].verdict, "too noisy to say");
    set(0, 3, TEST_NOT_RUN, 0);
    set(1, 0, TEST_PASSED, 3);
    suites[0] = (struct suite){.handed_in = &handed_in[0],
                               .name = "Sum",
                               .tests = tests[0],
                               .order = orders[0],
                               .count = 4,
                               .milliseconds = 14,
                               .started = tests[0][0].started};
    suites[1] = (struct suite){.handed_in = &handed_in[1],
                               .name = "Twice",
                               .tests = tests[1],
                               .order = orders[1],
                               .count = 1,
                               .milliseconds = 3,
                               .started = tests[0][0].started};
    results = (struct results){.suites = suites,
                               .order = orders[2],
                               .count = 2,
                               .milliseconds = 20,
                               .started = tests[0][0].started};
}

static void forget_results(void)
{
    for (size_t i = 0; i < 2; i++)
        for (size_t j = 0; j < 4; j++) {
            free(tests[i][j].verdict);
            text_free(&tests[i][j].printed);
        }
    memset(tests, 0, sizeof tests);
}

static const struct options plain = {
    .filter = "*", .repeat = 1, .color = "no", .print_time = true, .output = "", .shards = 1};

/* Prints one iteration like the session. */
static void print_iteration(FILE *out, const struct options *options)
{
    struct printer printer;

    printer_begin(&printer, out, options);
    printer_iteration_start(&printer, &results, options, 1, 77);
    printer_set_up(&printer);
    for (size_t i = 0; i < results.count; i++) {
        const struct suite *suite = &results.suites[i];
        printer_suite_start(&printer, suite);
        for (size_t j = 0; j < suite->count; j++) {
            const struct test *test = &suite->tests[j];
            if (test->runs) {
                printer_test_start(&printer, suite, test);
                printer_test_end(&printer, suite, test);
            } else {
                printer_test_disabled(&printer, suite, test);
            }
        }
        printer_suite_end(&printer, suite);
    }
    printer_tear_down(&printer);
    printer_iteration_end(&printer, &results, options);
}

static void compare_console(const char *golden, const struct options *options)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    print_iteration(out, options);
    fclose(out);
    support_compare_golden(golden, text);
    free(text);
}

START_TEST(the_console_is_googletests)
{
    compare_console("console.txt", &plain);
}
END_TEST

START_TEST(notes_come_first)
{
    struct options options = plain;
    options.filter = "S*";
    options.repeat = 2;
    options.shuffle = true;
    options.shards = 3;
    options.shard = 1;
    options.print_time = false;
    compare_console("console_notes.txt", &options);
}
END_TEST

START_TEST(brief_is_brief)
{
    struct options options = plain;
    options.brief = true;
    compare_console("console_brief.txt", &options);
}
END_TEST

START_TEST(colours_when_asked_for)
{
    struct options options = plain;
    options.color = "yes";
    compare_console("console_color.txt", &options);
}
END_TEST

START_TEST(all_passed)
{
    tests[0][1].outcome = TEST_PASSED;
    tests[0][1].verdict->failure_count = 0;
    compare_console("console_passed.txt", &plain);
}
END_TEST

START_TEST(the_list_has_no_banner)
{
    struct printer printer;
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    tests[0][2].matches = false;
    printer_begin(&printer, out, &plain);
    printer_list(&printer, &results);
    fclose(out);
    ck_assert_str_eq(text,
                     "Sum.\n  IsRight\n  NothingLeaks\n  DISABLED_Later\nTwice.\n  IsRight\n");
    free(text);
}
END_TEST

static void compare_report(const char *golden,
                           void (*report)(FILE *, const struct results *, int, bool), int seed,
                           bool listing)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    report(out, &results, seed, listing);
    fclose(out);
    support_compare_golden(golden, text);
    free(text);
}

START_TEST(reports)
{
    compare_report("report.xml", gtest_report_xml, 0, false);
    compare_report("report.json", gtest_report_json, 0, false);
    compare_report("report_seed.xml", gtest_report_xml, 77, false);
    compare_report("report_list.xml", gtest_report_xml, 0, true);
    compare_report("report_list.json", gtest_report_json, 0, true);
}
END_TEST

START_TEST(reports_go_where_they_are_asked_to)
{
    enum gtest_report_format format;
    char path[512], wanted[512], value[512];
    struct text why = {0};
    const char *folder = support_folder();

    ck_assert_int_eq(gtest_report_target("", &format, path, sizeof path, &why), 0);
    ck_assert_int_eq(format, REPORT_NONE);
    ck_assert_int_eq(gtest_report_target("xml", &format, path, sizeof path, &why), 0);
    ck_assert_str_eq(path, "test_detail.xml");
    ck_assert_int_eq(gtest_report_target("json:a/b.json", &format, path, sizeof path, &why), 0);
    ck_assert_int_eq(format, REPORT_JSON);
    ck_assert_str_eq(path, "a/b.json");
    ck_assert_int_eq(gtest_report_target("yaml:x", &format, path, sizeof path, &why), -1);
    ck_assert_ptr_nonnull(strstr(text_string(&why), "the formats are xml and json"));

    snprintf(value, sizeof value, "xml:%s/new/", folder);
    ck_assert_int_eq(gtest_report_target(value, &format, path, sizeof path, &why), 0);
    snprintf(wanted, sizeof wanted, "%s/new/grader.xml", folder);
    ck_assert_str_eq(path, wanted);
    ck_assert_int_eq(gtest_report_write(format, path, &results, 0, false, &why), 0);
    ck_assert_int_eq(access(path, R_OK), 0);
    ck_assert_int_eq(gtest_report_target(value, &format, path, sizeof path, &why), 0);
    snprintf(wanted, sizeof wanted, "%s/new/grader_1.xml", folder);
    ck_assert_str_eq(path, wanted); /* the existing file is not overwritten */
    ck_assert_int_eq(gtest_report_write(format, "/proc/no/such/place", &results, 0, false, &why),
                     -1);
    text_free(&why);
}
END_TEST

START_TEST(a_cause_is_told_once)
{
    struct place place = {.file = "lessons/01_sum/sum.c", .line = 41};
    struct test *first = &tests[0][1], *later = &tests[0][2];
    struct verdict_failure *failure = &later->verdict->failures[0];

    *later->verdict = *first->verdict;
    later->outcome = TEST_FAILED;
    same_cause_shorten(&suites[0], 1, later); /* earlier checks did not report it */
    ck_assert_str_eq(failure->what, first->verdict->failures[0].what);
    same_cause_shorten(&suites[0], 2, later);
    ck_assert_str_eq(failure->what, "It has the same cause: see Sum.NothingLeaks above.");
    ck_assert_str_eq(failure->kind, "leak");
    ck_assert_uint_eq(failure->place.line, 41);
    ck_assert_str_eq(failure->hint, "");

    /* The same message at another line is another mistake. */
    *later->verdict = *first->verdict;
    failure->place.line = ++place.line;
    same_cause_shorten(&suites[0], 2, later);
    ck_assert_str_eq(failure->what, first->verdict->failures[0].what);
}
END_TEST

/* Makes the verdict say one thing at a line. */
static void say(struct verdict *verdict, unsigned line, const char *what)
{
    const struct place place = {.file = "lessons/01_sum/sum.c", .line = line};

    memset(verdict, 0, sizeof *verdict);
    verdict_fail_at(verdict, &place, "%s", what);
}

static const struct {
    const char *first, *later;
    bool same;
} sayings[] = {
    {"Of its 224 bytes 56 are copied.", "Of its 66724 bytes 16681 are copied.", true},
    {"It is 1.50 at 0x7fff00ab.", "It is 2 at 0x7.", true},
    {"Array 3 is wrong.", "Array 3 is missing.", false},
    {"Array 3", "Array", false},
    {"Array", "Array 3", false},
};

START_TEST(numbers_make_no_other_cause)
{
    struct test *later = &tests[0][2];

    say(tests[0][1].verdict, 41, sayings[_i].first);
    say(later->verdict, 41, sayings[_i].later);
    later->outcome = TEST_FAILED;
    same_cause_shorten(&suites[0], 2, later);
    ck_assert_int_eq(strstr(later->verdict->failures[0].what, "same cause") != NULL,
                     sayings[_i].same);
    ck_assert_ptr_null(verdict_because(later->verdict)); /* it was judged */
}
END_TEST

START_TEST(a_run_that_ended_in_the_same_way_was_not_judged)
{
    struct verdict *first = tests[0][1].verdict, *later = tests[0][2].verdict;

    tests[0][2].outcome = TEST_FAILED;
    say(first, 41, "The program crashed. Before that, the device said: a store");
    say(later, 41, "The program crashed.");
    first->ended = 7;
    later->ended = 8; /* in another way */
    same_cause_shorten(&suites[0], 2, &tests[0][2]);
    ck_assert_str_eq(later->failures[0].what, "The program crashed.");
    later->ended = 7;
    same_cause_shorten(&suites[0], 2, &tests[0][2]);
    ck_assert_str_eq(later->failures[0].what, "It has the same cause: see Sum.NothingLeaks above.");
    ck_assert_str_eq(verdict_because(later), "Sum.NothingLeaks");
}
END_TEST

/* Returns what the record of the check says that it was not judged for. */
static const char *because(json_t *class, size_t check)
{
    json_t *record = json_array_get(json_list(class, "submissions"), 0);
    json_t *lesson = json_array_get(json_list(record, "lessons"), 0);
    return json_text(json_array_get(json_list(lesson, "checks"), check), "because");
}

START_TEST(the_record_names_the_check_that_failed)
{
    static const struct {
        const char *because, *found;
    } rows[] = {{"Sum.NothingLeaks", "NothingLeaks"},
                {"Sum.IsRight or Sum.NothingLeaks", "NothingLeaks"},
                {"Sum.IsRight", ""}, /* it passed */
                {"Sum.NothingLeaksAtAll", ""}};
    struct options options = {.filter = "*"};
    const struct devices devices = {.emulator = true};
    const struct record_facts facts = {
        .options = &options, .devices = &devices, .results = &results, .trouble = ""};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        say(tests[0][2].verdict, 41, "Not judged.");
        verdict_not_judged(tests[0][2].verdict, rows[i].because);
        tests[0][2].outcome = TEST_FAILED;
        json_t *class = record_make(&facts);
        ck_assert_str_eq(because(class, 2), rows[i].found);
        json_decref(class);
    }
    /* A failure of its own beside it counts. */
    verdict_fail_at(tests[0][2].verdict, &(struct place){.line = 0}, "It is wrong.");
    ck_assert_ptr_null(verdict_because(tests[0][2].verdict));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("grader printing");
    TCase *tcase = tcase_create("printing");
    tcase_add_checked_fixture(tcase, make_results, forget_results);
    tcase_add_test(tcase, the_console_is_googletests);
    tcase_add_test(tcase, notes_come_first);
    tcase_add_test(tcase, brief_is_brief);
    tcase_add_test(tcase, colours_when_asked_for);
    tcase_add_test(tcase, all_passed);
    tcase_add_test(tcase, the_list_has_no_banner);
    tcase_add_test(tcase, reports);
    tcase_add_test(tcase, a_cause_is_told_once);
    tcase_add_loop_test(tcase, numbers_make_no_other_cause, 0, sizeof sayings / sizeof *sayings);
    tcase_add_test(tcase, a_run_that_ended_in_the_same_way_was_not_judged);
    tcase_add_test(tcase, the_record_names_the_check_that_failed);
    tcase_add_test(tcase, reports_go_where_they_are_asked_to);
    suite_add_tcase(suite, tcase);
    return support_finish(srunner_create(suite));
}
