/* The whole program on the stand-in lessons: its command line, exit status and output; hostile
 * submissions fail with the sentence that they name, while the others are graded and nothing is
 * left running. */
#include "grader/base/descendants.h"
#include "grader/base/files.h"
#include "support.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *cache; /* one for all tests, so that nothing is compiled twice */
static struct text out, err;

/* Runs the grader with up to six arguments. */
static int grade(const char *const *variables, const char *a, const char *b, const char *c,
                 const char *d)
{
    const char *arguments[] = {GRADER, a, b, c, d, NULL};
    const char *all[8] = {cache};
    size_t count = 1;

    for (; variables != NULL && *variables != NULL; variables++) all[count++] = *variables;
    all[count] = NULL;
    text_free(&out);
    text_free(&err);
    int status = support_run(arguments, "/", all, &out, &err);
    ck_assert_uint_eq(support_processes(), 0);
    return status;
}

static bool says(const char *text)
{
    return strstr(text_string(&out), text) != NULL;
}

static int times(const char *text)
{
    int count = 0;
    for (const char *at = text_string(&out); (at = strstr(at, text)) != NULL; at++) count++;
    return count;
}

#define ASSERT_SAYS(text)                                                                          \
    ck_assert_msg(says(text), "it should say\n%s\nbut says\n%s%s", text, text_string(&out),        \
                  text_string(&err))

START_TEST(solutions_pass)
{
    ck_assert_int_eq(grade(NULL, "--solutions", "--device=emulator", "--seed=1", NULL), 0);
    support_hide_times(&out);
    support_compare_golden("solutions.txt", text_string(&out));
    /* A machine that cannot contain submissions prints this line, and nothing else. */
    const char *said = text_string(&err);
    if (strncmp(said, "grade: contained without: ", 26) == 0) said = strchr(said, '\n') + 1;
    ck_assert_str_eq(said, "");
    const int status = grade(NULL, "--solutions", "--sandbox=require", "--device=emulator", NULL);
    ck_assert_int_eq(status, said == text_string(&err) ? 0 : 2);
    ck_assert_int_eq(grade(NULL, "--sandbox=off", "--solutions", "--device=emulator", NULL), 0);
    ck_assert_ptr_nonnull(strstr(text_string(&err), "contained without: anything"));
    ck_assert_int_eq(grade(NULL, "--sandbox=of", NULL, NULL, NULL), 2);
}
END_TEST

START_TEST(stubs_fail)
{
    ck_assert_int_eq(grade(NULL, "--device=emulator", "--seed=1", NULL, NULL), 1);
    support_hide_times(&out);
    support_compare_golden("stubs.txt", text_string(&out));
}
END_TEST

START_TEST(with_a_gpu)
{
    /* Check's own variables have no effect. */
    static const char *const gpu[] = {"STAND_IN_GPU=1", "CK_RUN_CASE=other", "CK_FORK=no", NULL};

    ck_assert_int_eq(grade(gpu, "--solutions", "sum", NULL, NULL), 0);
    ASSERT_SAYS("[       OK ] Sum.NeedsAGpu");
    ASSERT_SAYS("the reference's time, 95 % between ");
    ASSERT_SAYS("(the host's clock)");
    ck_assert_int_eq(grade(gpu, "--solutions", "sum", "--device=gpu", NULL), 0);
    ASSERT_SAYS("Only the emulator can see this, and it is not used: --device=gpu was asked for.");
    ck_assert_int_eq(grade(NULL, "--solutions", "sum", "--device=gpu", NULL), 2);
    ck_assert_ptr_nonnull(strstr(text_string(&err), "there is no GPU to grade on"));
}
END_TEST

START_TEST(what_comes_from_one_line_is_told_once)
{
    ck_assert_int_eq(grade(NULL, "sum", "--submission=" ROUNDS "/one_line", "--device=emulator",
                           "--gtest_filter=*.NothingLeaks:*.CallsSucceed"),
                     1);
    ASSERT_SAYS("2 times a stream that was created here was never destroyed.");
    ck_assert_int_eq(times("was never destroyed"), 1);
    ck_assert_int_eq(times("You read too far."), 1);
}
END_TEST

/* The timed run goes on in rounds: each has its own inputs and is judged. */
START_TEST(each_round_is_judged)
{
    static const char *const gpu[] = {"STAND_IN_GPU=1", NULL};
    static const char timed[] = "--gtest_filter=*.IsFast";

    ck_assert_int_eq(grade(gpu, "sum", "--submission=" ROUNDS "/sleeps", timed, NULL), 1);
    ASSERT_SAYS("times as long as the reference solution, 95 % between ");
    ck_assert_int_eq(grade(gpu, "sum", "--submission=" ROUNDS "/forgets_its_input", timed, NULL),
                     1);
    ASSERT_SAYS("The sum is wrong.");
    ck_assert_int_eq(grade(gpu, "sum", "--submission=" ROUNDS "/segfault_later", timed, NULL), 1);
    ASSERT_SAYS("The program was stopped by a segmentation fault.");
}
END_TEST

START_TEST(listing_starts_nothing)
{
    ck_assert_int_eq(grade(NULL, "--gtest_list_tests", NULL, NULL, NULL), 0);
    ck_assert_str_eq(text_string(&out),
                     "Sum.\n  IsRight\n  NothingLeaks\n  CallsSucceed\n  IsFast\n"
                     "  NeedsAGpu\n  DISABLED_Later\nTwice.\n  IsRight\n");
    ck_assert_int_eq(grade(NULL, "--gtest_list_tests", "twice", NULL, NULL), 0);
    ck_assert_str_eq(text_string(&out), "Twice.\n  IsRight\n");
    ck_assert_int_eq(grade(NULL, "--gtest_list_tests", "--gtest_filter=*.Is*", NULL, NULL), 0);
    ck_assert_str_eq(text_string(&out), "Sum.\n  IsRight\n  IsFast\nTwice.\n  IsRight\n");
}
END_TEST

START_TEST(what_cannot_be_printed_is_no_pass)
{
    const char *const to[] = {">/dev/full", ">&-"};
    for (size_t i = 0; i < 2; i++) {
        char script[512];
        const char *arguments[] = {"/bin/sh", "-c", script, NULL}, *variables[] = {cache, NULL};
        snprintf(script, sizeof script, "exec %s --gtest_list_tests %s", GRADER, to[i]);
        text_free(&err);
        ck_assert_int_eq(support_run(arguments, "/", variables, &out, &err), 2);
        ck_assert_ptr_nonnull(strstr(text_string(&err), "standard output cannot be written to"));
    }
}
END_TEST

START_TEST(help_is_recognised)
{
    ck_assert_int_eq(grade(NULL, "--help", NULL, NULL, NULL), 0);
    ASSERT_SAYS("This program contains tests written using");
    const char *flag = strstr(text_string(&out), "--gtest_list_tests");
    ck_assert_ptr_nonnull(flag);
    ck_assert_ptr_nonnull(strstr(flag, "List the names of all tests instead of running them"));
    ck_assert_int_eq(grade(NULL, "--gtest_unknown", NULL, NULL, NULL), 2);
    ASSERT_SAYS("This program contains tests written using");
    ck_assert(!says("[ RUN"));
}
END_TEST

static const struct {
    const char *argument, *says;
} mistakes[] = {
    {"twise",
     "grade: there is no lesson \"twise\"; did you mean twice? The lessons are: sum, twice"},
    {"--divice=gpu", "grade: there is no flag --divice; did you mean --device?"},
    {"--submission=/no/such/place", "not a folder that can be opened"},
    {"--submission=/proc/self", "no submission: it should hold a copy of lessons/"},
    {"--gtest_output=html:x", "the formats are xml and json"},
};

START_TEST(a_wrong_command_line_is_explained)
{
    ck_assert_int_eq(grade(NULL, mistakes[_i].argument, NULL, NULL, NULL), 2);
    ck_assert_msg(strstr(text_string(&err), mistakes[_i].says) != NULL, "%s", text_string(&err));
    ck_assert_str_eq(text_string(&out), "");
}
END_TEST

START_TEST(filters_and_repeats)
{
    ck_assert_int_eq(
        grade(NULL, "--solutions", "--gtest_filter=No.Such", "--device=emulator", NULL), 2);
    ck_assert_ptr_nonnull(strstr(text_string(&err), "did not match any test; no tests were run"));
    ASSERT_SAYS("Running 0 tests from 0 test suites.");
    ck_assert_int_eq(grade(NULL, "--solutions", "--gtest_filter=No.Such",
                           "--gtest_fail_if_no_test_selected=0", "--device=emulator"),
                     0);
    ck_assert_int_eq(grade(NULL, "--solutions", "--gtest_filter=Twice.*", "--gtest_repeat=2",
                           "--device=emulator"),
                     0);
    ASSERT_SAYS("\nRepeating all tests (iteration 1) . . .\n");
    ASSERT_SAYS("\nRepeating all tests (iteration 2) . . .\n");
    ASSERT_SAYS("Note: Google Test filter = Twice.*\n");
    ck_assert_int_eq(times("Global test environment set-up."), 1);
    ck_assert_int_eq(times("Global test environment tear-down"), 1);
    ck_assert_int_eq(grade(NULL, "twice", "--seed=1", "--gtest_repeat=2", "--device=emulator"), 1);
    const char *first = strstr(text_string(&out), "twice("), *second = strstr(first + 1, "twice(");
    ck_assert(strncmp(first, second, 9) != 0); /* fresh inputs each time */
    ck_assert_int_eq(grade(NULL, "--solutions", "--gtest_also_run_disabled_tests",
                           "--device=emulator", "--gtest_filter=*Later"),
                     0);
    ASSERT_SAYS("[       OK ] Sum.DISABLED_Later");
    ck_assert(!says("YOU HAVE"));
}
END_TEST

START_TEST(fail_fast_skips_the_rest)
{
    ck_assert_int_eq(grade(NULL, "--gtest_fail_fast", "--device=emulator", NULL, NULL), 1);
    ASSERT_SAYS("[  FAILED  ] Sum.IsRight");
    ASSERT_SAYS("lessons/01_sum/sum.c:1: Skipped\n\n[  SKIPPED ] Sum.NothingLeaks");
    ASSERT_SAYS("[  SKIPPED ] Twice.IsRight");
}
END_TEST

START_TEST(shuffled_and_sharded)
{
    static const char *const shard[] = {"GTEST_TOTAL_SHARDS=2", "GTEST_SHARD_INDEX=1", NULL};

    ck_assert_int_eq(
        grade(NULL, "--solutions", "--gtest_shuffle", "--gtest_random_seed=5", "--device=emulator"),
        0);
    ASSERT_SAYS("Note: Randomizing tests' orders with a seed of 5 .");
    ASSERT_SAYS("[  PASSED  ] 5 tests.");
    ck_assert_int_eq(grade(shard, "--solutions", "--device=emulator", NULL, NULL), 0);
    ASSERT_SAYS("Note: This is test shard 2 of 2.");
    ASSERT_SAYS("Running 3 tests from 2 test suites.");
}
END_TEST

START_TEST(a_report_is_written)
{
    char flag[512], path[256];
    struct text report = {0};

    snprintf(path, sizeof path, "%s/deep/report.xml", support_folder());
    snprintf(flag, sizeof flag, "--gtest_output=xml:%s", path);
    ck_assert_int_eq(grade(NULL, "--device=emulator", flag, NULL, NULL), 1);
    ck_assert_int_eq(files_read(path, 1 << 20, &report), 0);
    ck_assert_ptr_nonnull(strstr(text_string(&report), "<testsuites tests=\"7\" failures=\"3\""));
    ck_assert_ptr_nonnull(strstr(text_string(&report), "lessons/01_sum/sum.c:4&#x0A;Nobody has"));
    text_free(&report);
}
END_TEST

/* ---- submissions ------------------------------------------------------------------------------
 */

/* Makes a folder with 01_sum/sum.c of that text, and the solution of 02_twice. */
static const char *copy_of_lessons(const char *sum)
{
    static char folder[128];
    char path[512];
    struct text twice = {0};

    snprintf(folder, sizeof folder, "%s", support_folder());
    snprintf(path, sizeof path, "%s/02_twice", folder);
    ck_assert_int_eq(files_make_folders(path), 0);
    ck_assert_int_eq(files_read(STAND_IN_SOURCE "/solutions/02_twice/twice.h", 1 << 20, &twice), 0);
    snprintf(path, sizeof path, "%s/02_twice/twice.h", folder);
    ck_assert_int_eq(files_write(path, text_string(&twice), twice.size), 0);
    text_free(&twice);
    snprintf(path, sizeof path, "%s/01_sum", folder);
    ck_assert_int_eq(files_make_folders(path), 0);
    snprintf(path, sizeof path, "%s/01_sum/sum.c", folder);
    if (sum != NULL) ck_assert_int_eq(files_write(path, sum, strlen(sum)), 0);
    return folder;
}

START_TEST(a_seed_draws_the_same_inputs_again)
{
    struct text first = {0};
    char flag[64] = "";

    ck_assert_int_eq(grade(NULL, "twice", "--device=emulator", NULL, NULL), 1);
    const char *seed = strstr(text_string(&err), "--seed=");
    ck_assert_ptr_nonnull(seed);
    snprintf(flag, sizeof flag, "%.*s", (int)strcspn(seed, " "), seed);
    support_hide_times(&out);
    text_add(&first, text_string(&out));
    ck_assert_int_eq(grade(NULL, "twice", "--device=emulator", flag, NULL), 1);
    support_hide_times(&out);
    ck_assert_str_eq(text_string(&out), text_string(&first));
    ck_assert_int_eq(grade(NULL, "twice", "--device=emulator", "--seed=12", NULL), 1);
    support_hide_times(&out);
    ck_assert_str_ne(text_string(&out), text_string(&first));
    text_free(&first);
}
END_TEST

START_TEST(what_does_not_compile_fails_alone)
{
    char wanted[512];
    const char *folder = copy_of_lessons("int sum_array(\n");

    ck_assert_int_eq(grade(NULL, "--submission", folder, "--device=emulator", NULL), 1);
    snprintf(wanted, sizeof wanted, "%s/01_sum/sum.c:1: Failure\nIt does not compile: expected",
             folder);
    ASSERT_SAYS(wanted);
    ASSERT_SAYS("Not judged: it does not compile (see Sum.IsRight above).");
    ASSERT_SAYS("[       OK ] Twice.IsRight");
    folder = copy_of_lessons(NULL);
    ck_assert_int_eq(grade(NULL, "--submission", folder, "--device=emulator", NULL), 1);
    ASSERT_SAYS("sum.c is missing: nothing was handed in.");
    ASSERT_SAYS("Not judged: nothing was handed in (see Sum.IsRight above).");
    ck_assert_ptr_null(strstr(text_string(&out), "does not compile"));
    ASSERT_SAYS("[       OK ] Twice.IsRight");
}
END_TEST

/* Each lesson is graded by a process of its own, and reported in order. */
START_TEST(lessons_side_by_side_say_the_same)
{
    ck_assert_int_eq(grade(NULL, "--solutions", "--device=emulator", "--seed=1", "--jobs=2"), 0);
    support_hide_times(&out);
    support_compare_golden("solutions.txt", text_string(&out));
    ck_assert_int_eq(grade(NULL, "--device=emulator", "--seed=1", "--jobs=3", NULL), 1);
    support_hide_times(&out);
    support_compare_golden("stubs.txt", text_string(&out));
    ck_assert_int_eq(grade(NULL, "--solutions", "--gtest_repeat=2", "--jobs=2", NULL), 0);
    ck_assert_int_eq(times("[       OK ] Twice.IsRight"), 2);
    const char *folder = copy_of_lessons("int sum_array(\n");
    ck_assert_int_eq(grade(NULL, "--submission", folder, "--device=emulator", "--jobs=2"), 1);
    ASSERT_SAYS("It does not compile: expected");
    ASSERT_SAYS("[       OK ] Twice.IsRight");
}
END_TEST

/* Submissions that are wrong in one order only. */
static const struct {
    const char *body, *says;
} orders[] = {
    {"*result = 0; device_store(s, result, sum); device_close(s); return 0;", "The sum is wrong."},
    {"int early = *result; device_store(s, result, sum); "
     "int seen = *result != early; device_wait(s); device_close(s); if (seen) *result = 0; "
     "return 0;",
     "Seen: on the emulator, with each operation run as early as CUDA allows (earliest)."},
    {"device_store(s, result, sum); device_wait(s); return 0;",
     "sum.c:6: Failure\nA stream that was created here was never destroyed."},
    {"device_store(s, result, sum); device_wait(s); device_close(s); device_close(s); return 0;",
     "sum.c:9: Failure\ndevice_close returned error 400."},
    /* The last call of a function is attributed to that function. */
    {"device_store(s, result, sum); device_wait(s); device_close(s); return device_wait(s);",
     "sum.c:9: Failure\ndevice_wait returned error 400."},
    {"device_complain(\"You read too far.\"); device_store(s, result, sum); device_wait(s); "
     "device_close(s); return 0;",
     "sum.c:9: Failure\nYou read too far."},
    {"device_work(s, 1000000); device_store(s, result, sum); device_wait(s); device_close(s); "
     "return 0;",
     "times as long as the reference solution ("},
};

START_TEST(what_is_printed_is_shown_once)
{
    const char *folder =
        copy_of_lessons("#include \"lesson.h\"\n#include <stdio.h>\n"
                        "int sum_array(const int *values, size_t count, int *result)\n{\n"
                        "    fprintf(stderr, \"overlap: mine as well\\n\\nmine\\n\\n\");\n"
                        "    return *result = (int)count * values[0];\n}\n");
    ck_assert_int_eq(grade(NULL, "--submission", folder, "--device=emulator", NULL), 1);
    ASSERT_SAYS(
        "[ RUN      ] Sum.IsRight\nIt printed:\n  | overlap: mine as well\n  | \n  | mine\n  | \n");
    ck_assert_ptr_null(strstr(strstr(text_string(&out), "It printed") + 1, "It printed"));
}
END_TEST

START_TEST(mistakes_are_named)
{
    char source[1024];

    snprintf(source, sizeof source,
             "#include \"device.h\"\n#include \"lesson.h\"\n"
             "int sum_array(const int *values, size_t count, int *result)\n{\n"
             "    int sum = 0;\n    uint64_t s = device_open();\n"
             "    for (size_t i = 0; i < count; i++)\n        sum += values[i];\n    %s\n}\n",
             orders[_i].body);
    const char *folder = copy_of_lessons(source);
    ck_assert_int_eq(grade(NULL, "--submission", folder, "--device=emulator", "--seed=3"), 1);
    ASSERT_SAYS(orders[_i].says);
}
END_TEST

/* ---- hostile submissions ----------------------------------------------------------------------
 */

/* The text behind "/ * name: " in the source, up to the end of the comment. */
static bool header(const char *source, const char *name, char *value, size_t size)
{
    const char *at = strstr(source, name), *end = at != NULL ? strstr(at, " */") : NULL;
    if (end == NULL) return false;
    at += strlen(name);
    snprintf(value, size, "%.*s", (int)(end - at), at);
    return true;
}

static struct dirent **hostile;
static int hostile_count;

static int is_name(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* The output without the line breaks that wrapping put in. */
static void unwrap(struct text *text)
{
    for (size_t i = 0; i + 1 < text->size; i++)
        if (text->data[i] == '\n' && text->data[i + 1] != '[') text->data[i] = ' ';
}

START_TEST(hostile_submissions_fail_with_their_sentence)
{
    char path[1024], sentence[256], line[32], place[600];
    struct text source = {0};
    const char *name = hostile[_i]->d_name;

    snprintf(path, sizeof path, HOSTILE "/%s/sum.c", name);
    ck_assert_int_eq(files_read(path, 1 << 20, &source), 0);
    ck_assert_msg(header(text_string(&source), "says: ", sentence, sizeof sentence), "%s", path);
    const char *folder = copy_of_lessons(text_string(&source));
    ck_assert_int_eq(grade(NULL, "--submission", folder, "--device=emulator", NULL), 1);
    unwrap(&out);
    ck_assert_msg(says(sentence), "%s should say\n%s\nbut says\n%s", name, sentence,
                  text_string(&out));
    if (header(text_string(&source), "line: ", line, sizeof line)) {
        snprintf(place, sizeof place, "%s/01_sum/sum.c:%s: Failure", folder, line);
        ck_assert_msg(says(place), "%s should fail at %s but says\n%s", name, place,
                      text_string(&out));
    }
    ASSERT_SAYS("[  FAILED  ] Sum.IsRight");
    /* The ending is reported in full once for each of its two runs. */
    const bool endless = strstr(sentence, "still running") != NULL;
    if (strstr(sentence, "stopped") != NULL) ck_assert_int_eq(times(" above)"), endless ? 3 : 2);
    ASSERT_SAYS("[       OK ] Twice.IsRight"); /* and the next lesson is graded */
    /* Only the grader's own lines have these tags: one summary, and no skip from the submission. */
    ck_assert_ptr_null(strstr(strstr(text_string(&out), "[  PASSED  ]") + 1, "[  PASSED  ]"));
    ck_assert_ptr_null(strchr(text_string(&out), '\033'));
    text_free(&source);
}
END_TEST

/* A toolkit without CUPTI, or one whose library is not found: what the outputs show is judged, and
 * nothing fails for missing records. */
START_TEST(without_a_recorder_nobody_is_accused)
{
    static const char *const none[] = {"STAND_IN_GPU=1", "STAND_IN_RECORDER=/none", NULL};
    static const char *const broken[] = {"STAND_IN_GPU=1", "STAND_IN_RECORDER=/bin/sh", NULL};
    static const char forgets[] = "--submission=" ROUNDS "/forgets_its_input";
    static const char timed[] = "--gtest_filter=*.IsFast";

    ck_assert_int_eq(grade(none, "sum", "--solutions", timed, NULL), 0);
    ASSERT_SAYS("[       OK ] Sum.IsFast");
    ck_assert_int_eq(grade(none, "sum", forgets, timed, "--device=gpu"), 0);
    ASSERT_SAYS("[  SKIPPED ] Sum.IsFast");
    unwrap(&out);
    ASSERT_SAYS("The GPU gives no record of what it did (CUPTI was not there when the grader was "
                "built), so that this cannot be judged on it.");
    ck_assert_int_eq(grade(broken, "sum", forgets, timed, "--device=gpu"), 0);
    unwrap(&out);
    ASSERT_SAYS("The GPU gives no record of what it did (CUPTI cannot be loaded: /bin/sh: ");
}
END_TEST

/* See docs/containment.md, "The record of a run on a GPU". */
START_TEST(the_record_of_a_gpu_is_closed_too)
{
    static const char *const gpu[] = {"STAND_IN_GPU=1", NULL};
    static const char submission[] = "--submission=" HOSTILE "/adds_to_the_record";
    static const char filter[] = "--gtest_filter=Sum.IsRight";
    static const char *const devices[] = {"--device=gpu", NULL};

    for (size_t i = 0; i < 2; i++) {
        ck_assert_int_eq(grade(gpu, "sum", submission, filter, devices[i]), 1);
        ASSERT_SAYS("The record is forged");
    }
}
END_TEST

/* A sanitizer slows the runner, so the limit is higher: the lesson's own. */
#ifdef __SANITIZE_ADDRESS__
#define HURRIED "2 s"
#else
#define HURRIED "1 s"
#endif

START_TEST(what_never_ends_is_not_run_again)
{
    static const char *const gpu[] = {"STAND_IN_GPU=1", NULL};

    ck_assert_int_eq(grade(gpu, "sum", "--submission=" HOSTILE "/deaf_loop", NULL, NULL), 1);
    unwrap(&out);
    ck_assert_int_eq(times("The program was still running after 2 s and was stopped."), 1);
    ASSERT_SAYS("Not judged: the run \"values\" did not end (see Sum.IsRight above), and this one "
                "had not after " HURRIED ".");
    ck_assert_int_eq(times("Not judged: the run "), 5 - 1);
}
END_TEST

/* Returns true while the submission runs: a runner is among the processes below `root`. */
static bool runs_below(pid_t root)
{
    const struct descendants_usage usage = descendants_usage(root, 0);
    for (unsigned i = 0; i < usage.processes; i++) {
        char path[64], name[64];
        snprintf(path, sizeof path, "/proc/%d/comm", (int)usage.pids[i]);
        if (files_read_small(path, name, sizeof name) > 0 && strcmp(name, "runner\n") == 0)
            return true;
    }
    return false;
}

/* Starts a grading that does not end by itself. */
static pid_t grade_without_end(const char *jobs, const char *output)
{
    struct text endless = {0};
    ck_assert_int_eq(files_read(HOSTILE "/endless_loop/sum.c", 1 << 20, &endless), 0);
    const char *folder = copy_of_lessons(text_string(&endless));
    const char *arguments[] = {GRADER, "--submission", folder, "--device=emulator", jobs, NULL};
    text_free(&endless);

    pid_t child = fork();
    if (child == 0) {
        freopen(output, "w", stdout);
        putenv((char *)(size_t)cache);
        execv(arguments[0], (char *const *)(size_t)arguments);
        _exit(127);
    }
    while (!runs_below(child)) usleep(10000);
    return child;
}

/* With lessons one after another, and side by side. */
START_TEST(an_interrupt_leaves_nothing_behind)
{
    int status;
    const pid_t child = grade_without_end(_i == 0 ? "--jobs=1" : "--jobs=2", "/dev/null");
    kill(child, SIGINT);
    waitpid(child, &status, 0);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 128 + SIGINT);
    ck_assert_uint_eq(support_processes(), 0);
}
END_TEST

/* The system may kill the process that grades a lesson. */
START_TEST(no_lesson_is_lost_with_its_process)
{
    char output[300], stat[64], line[512];
    int status, parent = 0;
    snprintf(output, sizeof output, "%s/told", support_folder());
    /* What is killed leaves its temporary folder. */
    setenv("TMPDIR", support_folder(), 1);
    const pid_t child = grade_without_end("--jobs=2", output);
    const struct descendants_usage usage = descendants_usage(child, 0);
    for (unsigned i = 0; i < usage.processes; i++) {
        snprintf(stat, sizeof stat, "/proc/%d/stat", (int)usage.pids[i]);
        if (files_read_small(stat, line, sizeof line) <= 0) continue;
        const char *behind = strrchr(line, ')');
        if (behind != NULL && sscanf(behind, ") %*c %d", &parent) == 1 && parent == child)
            kill(usage.pids[i], SIGKILL);
    }
    waitpid(child, &status, 0);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 1);
    text_free(&out);
    ck_assert_int_eq(files_read(output, 1 << 20, &out), 0);
    ASSERT_SAYS("[  FAILED  ] Sum.IsRight");
    ASSERT_SAYS("[       OK ] Twice.IsRight");
    ck_assert_uint_eq(support_processes(), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("grader command line");
    TCase *tcase = tcase_create("command line");
    static char variable[128];

    snprintf(variable, sizeof variable, "STAND_IN_CACHE=%s", support_folder());
    cache = variable;
    hostile_count = scandir(HOSTILE, &hostile, is_name, alphasort);
    /* A process that escapes the grader becomes a child of this one and is counted. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, solutions_pass);
    tcase_add_test(tcase, stubs_fail);
    tcase_add_test(tcase, lessons_side_by_side_say_the_same);
    tcase_add_test(tcase, with_a_gpu);
    tcase_add_test(tcase, what_comes_from_one_line_is_told_once);
    tcase_add_test(tcase, each_round_is_judged);
    tcase_add_test(tcase, listing_starts_nothing);
    tcase_add_test(tcase, what_cannot_be_printed_is_no_pass);
    tcase_add_test(tcase, help_is_recognised);
    tcase_add_loop_test(tcase, a_wrong_command_line_is_explained, 0,
                        sizeof mistakes / sizeof mistakes[0]);
    tcase_add_test(tcase, filters_and_repeats);
    tcase_add_test(tcase, fail_fast_skips_the_rest);
    tcase_add_test(tcase, shuffled_and_sharded);
    tcase_add_test(tcase, a_report_is_written);
    tcase_add_test(tcase, a_seed_draws_the_same_inputs_again);
    tcase_add_test(tcase, what_does_not_compile_fails_alone);
    tcase_add_test(tcase, what_is_printed_is_shown_once);
    tcase_add_loop_test(tcase, mistakes_are_named, 0, sizeof orders / sizeof orders[0]);
    tcase_add_loop_test(tcase, hostile_submissions_fail_with_their_sentence, 0,
                        hostile_count > 0 ? hostile_count : 1);
    tcase_add_test(tcase, without_a_recorder_nobody_is_accused);
    tcase_add_test(tcase, the_record_of_a_gpu_is_closed_too);
    tcase_add_test(tcase, what_never_ends_is_not_run_again);
    tcase_add_loop_test(tcase, an_interrupt_leaves_nothing_behind, 0, 2);
    tcase_add_test(tcase, no_lesson_is_lost_with_its_process);
    suite_add_tcase(suite, tcase);
    return support_finish(srunner_create(suite));
}
