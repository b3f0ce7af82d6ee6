/* Promises of ./emulate's report, on hand-made traces: a repeated finding is reported once, a
 * released object is no leak, and a trace that student code overwrote does no harm. */
#include "emulator/cli/report.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/cli/options.h"
#include "emulator/cli/wrap.h"

static char *text;
static size_t text_size;

/* Writes the report of `count` records into `text`. */
static int report_of(const struct trace_record *records, size_t count, uint64_t dropped,
                     struct report_run run)
{
    const struct trace trace = {.records = records, .count = count, .dropped = dropped};
    free(text);
    FILE *out = open_memstream(&text, &text_size);
    ck_assert_ptr_nonnull(out);
    int found = report_write(out, &trace, &run);
    fclose(out);
    return found;
}

static const struct report_run succeeded = {"./program", true, true};

static struct trace_record finding(enum trace_finding_id id, const char *file, unsigned line,
                                   const char *detail)
{
    struct trace_record record = {.kind = TRACE_FINDING, .process = 1, .count = 1};
    record.finding.id = id;
    record.finding.sides[0].line = line;
    trace_finding_word_set(&record.finding, WORD_FILE, file);
    trace_finding_word_set(&record.finding, WORD_DETAIL, detail);
    return record;
}

static struct trace_record object(enum trace_kind kind, uint32_t what, uint64_t number)
{
    return (struct trace_record){
        .kind = kind, .what = what, .object = number, .process = 1, .bytes = 10};
}

static void tear_down(void)
{
    free(text);
    text = NULL;
}

START_TEST(nothing_found_is_nothing_said)
{
    struct trace_record records[] = {object(TRACE_CREATE, TRACE_STREAM, 1),
                                     object(TRACE_DESTROY, TRACE_STREAM, 1)};
    ck_assert_int_eq(report_of(records, 2, 0, succeeded), 0);
    ck_assert_str_eq(text, "");
    ck_assert_int_eq(report_of(NULL, 0, 0, succeeded), 0);
    ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(one_finding_in_one_place_is_told_once)
{
    struct trace_record records[] = {
        finding(FINDING_MODULE_DOES_NOT_LINK, "a.cu", 7, "a store at 1"),
        finding(FINDING_MODULE_DOES_NOT_LINK, "a.cu", 7, "a store at 2"),
        finding(FINDING_MODULE_DOES_NOT_LINK, "a.cu", 8, "a store at 3"),
        finding(FINDING_BREAKPOINT, "a.cu", 7, ""),
    };
    records[1].count = 5;
    ck_assert_int_eq(report_of(records, 4, 0, succeeded), 3);
    ck_assert_str_eq(text,
                     "a.cu:7: invalid module: a store at 1\n"
                     "    Seen 6 times.\n"
                     "a.cu:8: invalid module: a store at 3\n"
                     "a.cu:7: trap: the kernel executed a breakpoint, and no debugger is attached\n"
                     "overlap: ./program: 3 findings: invalid module (2), trap (1)\n");
}
END_TEST

static size_t times_in_text(const char *wanted)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, wanted)) != NULL; at++) count++;
    return count;
}

START_TEST(why_it_matters_is_said_once_for_a_kind)
{
    struct trace_record records[] = {finding(FINDING_IMAGE_OF_NO_OBJECT, "a.cu", 7, "one"),
                                     finding(FINDING_SURFACE_MISALIGNED, "a.cu", 8, "two"),
                                     finding(FINDING_IMAGE_OF_NO_OBJECT, "a.cu", 9, "three")};
    ck_assert_int_eq(report_of(records, 3, 0, succeeded), 3);
    ck_assert_uint_eq(times_in_text("    Why:  A GPU stops the whole context"), 1);
    ck_assert_uint_eq(times_in_text("    Hint: Compare the index"), 1);
    ck_assert(strstr(text, "Why:") < strstr(text, "a.cu:8"));
}
END_TEST

START_TEST(without_a_place_the_sentence_tells_findings_apart)
{
    struct trace_record records[] = {finding(FINDING_MODULE_DOES_NOT_LINK, "", 0, "so deep"),
                                     finding(FINDING_MODULE_DOES_NOT_LINK, "", 0, "deeper"),
                                     finding(FINDING_MODULE_DOES_NOT_LINK, "", 0, "so deep")};
    ck_assert_int_eq(report_of(records, 3, 0, succeeded), 2);
    ck_assert_ptr_nonnull(strstr(text, "invalid module: so deep\n    Seen 2 times.\n"));
}
END_TEST

START_TEST(what_was_not_given_back_is_a_leak)
{
    struct trace_record records[] = {
        object(TRACE_CREATE, TRACE_DEVICE_MEMORY, 1), object(TRACE_CREATE, TRACE_DEVICE_MEMORY, 2),
        object(TRACE_CREATE, TRACE_EVENT, 3),         object(TRACE_CREATE, TRACE_STREAM, 4),
        object(TRACE_CREATE, TRACE_STREAM, 5),        object(TRACE_DESTROY, TRACE_STREAM, 5),
        object(TRACE_CREATE, TRACE_STREAM, 5),
    };
    records[3].flags = TRACE_IMPLICIT; /* a default stream */
    records[6].process = 2;            /* numbers are per process */
    ck_assert_int_eq(report_of(records, 7, 0, succeeded), 3);
    ck_assert_ptr_nonnull(strstr(text, "leak: 2 times device memory (20 bytes) that was"));
    ck_assert_ptr_nonnull(strstr(text, "cudaEventDestroy (cuEventDestroy)"));
    ck_assert_ptr_nonnull(strstr(text, "leak: A stream (10 bytes) that was created here"));
    ck_assert_ptr_nonnull(strstr(text, "3 findings: leak (3)"));
    /* In the order of creation. */
    ck_assert(strstr(text, "device memory") < strstr(text, "An event"));
    ck_assert(strstr(text, "An event") < strstr(text, "A stream"));
}
END_TEST

START_TEST(a_thread_is_a_leak_where_the_device_was_used)
{
    struct trace_record records[] = {object(TRACE_CREATE, TRACE_THREAD, 1),
                                     object(TRACE_CREATE, TRACE_THREAD, 2),
                                     object(TRACE_DESTROY, TRACE_THREAD, 2),
                                     object(TRACE_CREATE, TRACE_THREAD, 1),
                                     {.kind = TRACE_SETTING, .process = 1, .name = "device"}};
    records[0].bytes = 0;
    records[3].process = 2; /* another program, of a script */
    ck_assert_int_eq(report_of(records, 5, 0, succeeded), 1);
    ck_assert_ptr_nonnull(strstr(text, "leak: A thread that was started here was never joined."));
    ck_assert_int_eq(report_of(records, 4, 0, succeeded), 0);
}
END_TEST

START_TEST(a_program_that_failed_is_not_asked_for_what_it_held)
{
    struct trace_record records[] = {object(TRACE_CREATE, TRACE_EVENT, 1)};
    ck_assert_int_eq(report_of(records, 1, 0, (struct report_run){"./program", true, false}), 0);
    ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(what_is_missing_from_the_trace_is_said)
{
    struct trace_record records[] = {object(TRACE_CREATE, TRACE_EVENT, 1)};
    ck_assert_int_eq(report_of(records, 1, 12, succeeded), 0);
    ck_assert_ptr_nonnull(strstr(text, "12 records too many"));
    ck_assert_ptr_null(strstr(text, "leak:"));
}
END_TEST

START_TEST(a_program_that_made_no_call_is_told_so)
{
    const struct trace_record setting = {.kind = TRACE_SETTING, .process = 1};
    const struct report_run script = {"./script", false, true};
    ck_assert_int_eq(report_of(NULL, 0, 0, script), 0);
    ck_assert_ptr_nonnull(strstr(text, "./script made no CUDA call"));
    ck_assert_int_eq(report_of(&setting, 1, 0, script), 0);
    ck_assert_str_eq(text, "");
}
END_TEST

/* Brings the fields that the reader checks into their ranges; all others may have any value. */
static void bound(struct trace_finding *finding)
{
    finding->id = 1 + finding->id % (FINDING_COUNT - 1);
    for (int i = 0; i < TRACE_SIDES; i++) {
        finding->sides[i].what %= TRACE_WHAT_COUNT;
        finding->sides[i].from %= TRACE_PLACE_COUNT;
        finding->sides[i].to %= TRACE_PLACE_COUNT;
        finding->sides[i].access %= ACCESS_COUNT;
        finding->sides[i].role %= ROLE_COUNT;
        finding->sides[i].stream %= STREAM_COUNT;
        finding->sides[i].known %= 2;
    }
    for (int i = 0; i < TRACE_THINGS; i++) {
        finding->things[i].kind %= THING_COUNT;
        finding->things[i].relation %= RELATION_COUNT;
    }
    for (int i = 0; i < TRACE_WAITERS; i++) finding->waiters[i].where %= WAITS_COUNT;
    ck_assert(trace_finding_is_sound(finding));
}

START_TEST(a_trace_that_was_scribbled_over_does_no_harm)
{
    enum { COUNT = 400 };
    struct trace_record *records = calloc(COUNT, sizeof *records);
    unsigned char *bytes = (unsigned char *)records;
    uint32_t random = 1;
    ck_assert_ptr_nonnull(records);
    for (size_t i = 0; i < COUNT * sizeof *records; i++) {
        random = random * 1664525u + 1013904223u;
        bytes[i] = (unsigned char)(random >> 24);
    }
    for (size_t i = 0; i < COUNT; i++) { /* everything that trace_read accepts */
        records[i].kind = 1 + records[i].kind % (TRACE_KIND_COUNT - 1);
        records[i].what %= TRACE_WHAT_COUNT;
        records[i].process %= 3;
        records[i].stack %= 5;
        if (records[i].kind == TRACE_STACK) records[i].object %= 5;
        records[i].name[sizeof records[i].name - 1] = '\0';
        records[i].text[sizeof records[i].text - 1] = '\0';
        if (records[i].kind == TRACE_FINDING) bound(&records[i].finding);
    }
    ck_assert_int_gt(report_of(records, COUNT, 0, succeeded), 0);
    free(records);
}
END_TEST

START_TEST(long_sentences_are_broken_between_words)
{
    char line[256], expected[] = "    bbbb cc\n";
    free(text);
    FILE *out = open_memstream(&text, &text_size);
    memset(line, 'a', 98);
    strcpy(line + 98, " bbbb cc");
    wrap_write(out, line, 0);
    fclose(out);
    ck_assert_uint_eq(strlen(text), 99 + strlen(expected));
    ck_assert_str_eq(text + 99, expected);

    free(text);
    out = open_memstream(&text, &text_size);
    memset(line, 'a', 150); /* one word, longer than a line, behind a long beginning */
    line[150] = '\0';
    wrap_write(out, line, 90);
    wrap_write(out, "short:\n  a command to copy", 0);
    fclose(out);
    ck_assert_uint_eq(strcspn(text, "\n"), 0);
    ck_assert_ptr_nonnull(strstr(text, line));
    ck_assert_ptr_nonnull(strstr(text, "\nshort:\n  a command to copy\n"));
}
END_TEST

START_TEST(options_stand_in_front_of_the_program)
{
    char *arguments[] = {"emulate", "--order=random:3", "program", "--order=x", "--help", NULL};
    struct options options;
    char why[256];
    ck_assert(options_read(arguments, &options, why, sizeof why));
    ck_assert_int_eq(options.action, OPTIONS_RUN);
    ck_assert_str_eq(options.order, "random:3");
    ck_assert_ptr_eq(options.program, arguments + 2);

    char *bad[] = {
        "--order=",          "--order=random",        "--order=random:x",    "--order=Latest",
        "--error-exitcode=", "--error-exitcode=1000", "--error-exitcode=-1", "-x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *line[] = {"emulate", bad[i], "program", NULL};
        ck_assert_msg(!options_read(line, &options, why, sizeof why), "%s", bad[i]);
        ck_assert_ptr_nonnull(strstr(why, bad[i]));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("emulate_report");
    TCase *tests = tcase_create("emulate_report");
    tcase_add_checked_fixture(tests, NULL, tear_down);
    tcase_add_test(tests, nothing_found_is_nothing_said);
    tcase_add_test(tests, one_finding_in_one_place_is_told_once);
    tcase_add_test(tests, why_it_matters_is_said_once_for_a_kind);
    tcase_add_test(tests, without_a_place_the_sentence_tells_findings_apart);
    tcase_add_test(tests, what_was_not_given_back_is_a_leak);
    tcase_add_test(tests, a_thread_is_a_leak_where_the_device_was_used);
    tcase_add_test(tests, a_program_that_failed_is_not_asked_for_what_it_held);
    tcase_add_test(tests, what_is_missing_from_the_trace_is_said);
    tcase_add_test(tests, a_program_that_made_no_call_is_told_so);
    tcase_add_test(tests, a_trace_that_was_scribbled_over_does_no_harm);
    tcase_add_test(tests, long_sentences_are_broken_between_words);
    tcase_add_test(tests, options_stand_in_front_of_the_program);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
