#include "grader/session/record.h"
#include "grader/base/files.h"

#include "version.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOURCE_LIMIT ((size_t)1 << 20)
#define LINES_AROUND 2
#define LINE_LIMIT 300

/* ---- the student's lines ---------------------------------------------------------------- */

/* Finds the file that a place names; false: it is not one of the submission's. */
static bool find_source(const struct handed_in *handed_in, const struct place *place, char *path,
                        size_t size)
{
    const size_t length = strlen(handed_in->shown);

    if (place->line == 0 || strncmp(place->file, handed_in->shown, length) != 0 ||
        place->file[length] != '/')
        return false;
    snprintf(path, size, "%s%s", handed_in->folder, place->file + length);
    return true;
}

static void add_source(json_t *failure, const struct handed_in *handed_in,
                       const struct place *place)
{
    char path[PATH_MAX + 256];
    struct text text = {0};
    unsigned number = 1;

    json_t *lines = json_put_array(failure, "source");
    if (!find_source(handed_in, place, path, sizeof path) ||
        files_read(path, SOURCE_LIMIT, &text) != 0) {
        text_free(&text);
        return;
    }
    for (const char *at = text_string(&text); *at != '\0'; number++) {
        const size_t length = strcspn(at, "\r\n");
        if (number + LINES_AROUND >= place->line && number <= place->line + LINES_AROUND) {
            struct text line = {0};
            text_add_bytes(&line, at, length < LINE_LIMIT ? length : LINE_LIMIT);
            json_t *entry = json_add_object(lines);
            json_put_count(entry, "line", number);
            json_put_text(entry, "text", text_string(&line));
            text_free(&line);
        }
        at += length;
        if (*at == '\r') at++;
        if (*at == '\n') at++;
    }
    text_free(&text);
}

/* ---- a check ---------------------------------------------------------------------------- */

static void add_failures(json_t *check, const struct handed_in *handed_in,
                         const struct verdict *verdict)
{
    json_t *failures = json_put_array(check, "failures");

    for (size_t i = 0; verdict != NULL && i < verdict->failure_count; i++) {
        const struct verdict_failure *one = &verdict->failures[i];
        json_t *failure = json_add_object(failures);
        json_put_text(failure, "file", one->place.file);
        json_put_count(failure, "line", one->place.line);
        json_put_text(failure, "function", one->place.function);
        json_put_text(failure, "kind", one->kind);
        json_put_text(failure, "what", one->what);
        json_put_text(failure, "why", one->why);
        json_put_text(failure, "hint", one->hint);
        json_put_text(failure, "seen", i + 1 == verdict->failure_count ? verdict->seen : "");
        add_source(failure, handed_in, &one->place);
    }
}

/* Returns the check that failed among those that are named: "Sum.IsRight", "Sum.A or Sum.B". */
static const struct test *find_failed(const struct suite *suite, const char *names)
{
    char name[256];

    for (size_t i = 0; i < suite->count; i++) {
        const struct test *test = &suite->tests[suite->order[i]];
        const int length =
            snprintf(name, sizeof name, "%.100s.%.150s", suite->name, test->check->name);
        for (const char *at = names; (at = strstr(at, name)) != NULL; at += length)
            if ((at[length] == '\0' || at[length] == ' ') && test_failed(test)) return test;
    }
    return NULL;
}

/* Returns the check of the lesson whose failure kept this one from being judged, or NULL: it was
 * judged. One that names a check which passed, or did not run, stands for itself. */
static const struct test *blocked_by(const struct suite *suite, const struct test *test)
{
    const struct test *at = test;
    const char *because;

    for (size_t steps = 0; steps < suite->count && at != NULL && test_failed(at); steps++) {
        because = verdict_because(at->verdict);
        if (because == NULL) return at != test ? at : NULL;
        at = find_failed(suite, because);
    }
    return NULL;
}

static void add_check(json_t *check, const struct suite *suite, const struct test *test)
{
    static const char *const outcomes[] = {
        [TEST_NOT_RUN] = "skipped", [TEST_PASSED] = "passed",  [TEST_FAILED] = "failed",
        [TEST_SKIPPED] = "skipped", [TEST_TROUBLED] = "error",
    };
    const struct verdict *verdict = test->verdict;
    const struct test *because = blocked_by(suite, test);

    json_put_text(check, "name", test->check->name);
    json_put_text(check, "title", test->check->title);
    json_put_text(check, "outcome", outcomes[test->outcome]);
    json_put_bool(check, "judged", !test->cannot_be_judged);
    json_put_text(check, "because", because != NULL ? because->check->name : "");
    json_put_number(check, "seconds", test->milliseconds / 1000);
    json_put_text(check, "reason", verdict != NULL ? verdict->skip_reason : "");
    json_put_text(check, "printed", text_string(&test->printed));
    json_put_text(check, "timeline", text_string(&test->picture));
    json_t *figures = json_put_object(check, "figures");
    for (size_t i = 0; verdict != NULL && i < verdict->figure_count; i++)
        json_put_text(figures, verdict->figures[i].key, verdict->figures[i].text);
    add_failures(check, suite->handed_in, verdict);
}

/* ---- the record ------------------------------------------------------------------------- */

static const char *device_word(const struct devices *devices)
{
    return devices->gpu && devices->emulator ? "auto" : devices->gpu ? "gpu" : "emulator";
}

/* Adds the command line that draws the same inputs and runs in the same orders. */
static void add_command(json_t *record, const struct record_facts *facts)
{
    const struct options *options = facts->options;
    struct text text = {0};
    char path[PATH_MAX];

    text_add(&text, "./grade");
    if (options->solutions) text_add(&text, " --solutions");
    if (options->submission != NULL) {
        text_add(&text, " --submission=");
        text_add_shell_word(
            &text, realpath(options->submission, path) != NULL ? path : options->submission);
    }
    text_format(&text, " --seed=%llu --device=%s --random-orders=%u",
                (unsigned long long)facts->seed, device_word(facts->devices),
                options->random_orders);
    if (strcmp(options->filter, "*") != 0) {
        text_add(&text, " --gtest_filter=");
        text_add_shell_word(&text, options->filter);
    }
    for (size_t i = 0; i < options->word_count; i++) {
        text_add(&text, " ");
        text_add_shell_word(&text, options->words[i]);
    }
    json_put_text(record, "command", text_string(&text));
    text_free(&text);
}

static bool is_missing(const struct test *test)
{
    return test->verdict != NULL && test->verdict->missing;
}

static void add_lesson(json_t *lessons, const struct suite *suite)
{
    if (suite_count(suite, test_runs) == 0) return;
    json_t *lesson = json_add_object(lessons);
    json_put_text(lesson, "lesson", suite->handed_in->lesson->folder);
    json_put_text(lesson, "suite", suite->name);
    json_put_number(lesson, "seconds", suite->milliseconds / 1000);
    json_put_bool(lesson, "missing", suite_count(suite, is_missing) > 0);
    json_put_text(lesson, "note", text_string(&suite->note));
    json_t *checks = json_put_array(lesson, "checks");
    for (size_t i = 0; i < suite->count; i++)
        if (suite->tests[i].runs) add_check(json_add_object(checks), suite, &suite->tests[i]);
}

json_t *record_make(const struct record_facts *facts)
{
    json_t *class = json_object(), *records = json_put_array(class, "submissions");
    json_t *record = json_add_object(records);
    char number[32], name[PATH_MAX];

    json_t *submission = json_put_object(record, "submission");
    const char *folder = facts->options->submission;
    if (folder == NULL) folder = facts->options->solutions ? "solutions" : "lessons";
    snprintf(name, sizeof name, "%s", folder);
    for (size_t length = strlen(name); length > 1 && name[length - 1] == '/';)
        name[--length] = '\0';
    const char *slash = strrchr(name, '/');
    json_put_text(submission, "name", slash != NULL && slash[1] != '\0' ? slash + 1 : name);
    json_put_text(submission, "folder", folder);
    json_put_text(record, "overlap", OVERLAP_VERSION);
    json_put_text(record, "device", device_word(facts->devices));
    /* As text, because readers may store numbers with 53 bits only. */
    snprintf(number, sizeof number, "%llu", (unsigned long long)facts->seed);
    json_put_text(record, "seed", number);
    json_put_count(record, "random_orders", facts->options->random_orders);
    add_command(record, facts);
    json_put_number(record, "seconds", facts->results->milliseconds / 1000);
    json_put_bool(record, "complete", facts->complete);
    json_put_text(record, "trouble", facts->trouble);
    json_t *lessons = json_put_array(record, "lessons");
    for (size_t i = 0; i < facts->results->count; i++)
        add_lesson(lessons, &facts->results->suites[i]);
    return class;
}
