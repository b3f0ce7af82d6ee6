#include "grader/session/gtest_report.h"
#include "grader/base/files.h"
#include "grader/base/json.h"
#include "grader/base/messages.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM_NAME "grader"

int gtest_report_target(const char *value, enum gtest_report_format *format, char *path,
                        size_t size, struct text *why)
{
    const char *colon = strchr(value, ':');
    size_t length = colon != NULL ? (size_t)(colon - value) : strlen(value);
    const char *extension = "xml";

    *format = REPORT_NONE;
    if (length == 0) return 0;
    if (length == 3 && strncmp(value, "xml", 3) == 0) {
        *format = REPORT_XML;
    } else if (length == 4 && strncmp(value, "json", 4) == 0) {
        *format = REPORT_JSON;
        extension = "json";
    } else {
        text_format(why, _("--gtest_output=%.*s: the formats are xml and json"), (int)length,
                    value);
        return -1;
    }
    const char *target = colon != NULL ? colon + 1 : "";
    size_t end = strlen(target);
    if (end == 0) {
        snprintf(path, size, "test_detail.%s", extension);
    } else if (target[end - 1] != '/') {
        snprintf(path, size, "%s", target);
    } else {
        snprintf(path, size, "%s%s.%s", target, PROGRAM_NAME, extension);
        for (int i = 1; access(path, F_OK) == 0; i++)
            snprintf(path, size, "%s%s_%d.%s", target, PROGRAM_NAME, i, extension);
    }
    return 0;
}

/* "2026-11-21T01:15:32" in the local time zone */
static void format_time(const struct timespec *at, char *text, size_t size)
{
    struct tm parts;
    if (localtime_r(&at->tv_sec, &parts) == NULL ||
        strftime(text, size, "%Y-%m-%dT%H:%M:%S", &parts) == 0)
        snprintf(text, size, "1970-01-01T00:00:00");
}

static const char *result_word(const struct test *test)
{
    return !test->runs ? "suppressed" : test_not_judged(test) ? "skipped" : "completed";
}

static void location(const struct suite *suite, char *file, size_t size)
{
    snprintf(file, size, "%s/%s", suite->handed_in->shown, suite->handed_in->lesson->files[0]);
}

/* A failure as GoogleTest prints it: place, line feed, message. */
static void failure_message(const struct test *test, size_t index, struct text *text)
{
    results_place_text(&test->verdict->failures[index].place, text);
    /* The console shows "file:41:", the reports "file:41". */
    text->data[--text->size] = '\0';
    text_add(text, "\n");
    results_failure_text(test->verdict, index, text);
}

static void skip_message(const struct suite *suite, const struct test *test, struct text *text)
{
    char file[PATH_MAX + 64];
    location(suite, file, sizeof file);
    text_add_quoted(text, file, strlen(file));
    text_add(text, ":1\n");
    text_add_quoted(text, test->verdict->skip_reason, strlen(test->verdict->skip_reason));
}

/* ---- XML --------------------------------------------------------------------------------------
 */

/* Source: XML 1.0, 2.2. Quoted text has no control characters except tab and line feed. */
static void put_attribute(FILE *out, const char *name, const char *value)
{
    fprintf(out, " %s=\"", name);
    for (; *value != '\0'; value++) {
        switch (*value) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '\'':
            fputs("&apos;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\n':
            fputs("&#x0A;", out);
            break;
        case '\t':
            fputs("&#x09;", out);
            break;
        default:
            fputc(*value, out);
        }
    }
    fputc('"', out);
}

static void put_cdata(FILE *out, const char *value)
{
    fputs("<![CDATA[", out);
    for (const char *end; (end = strstr(value, "]]>")) != NULL; value = end + 3)
        fprintf(out, "%.*s]]>]]&gt;<![CDATA[", (int)(end - value), value);
    fprintf(out, "%s]]>", value);
}

static void put_xml_times(FILE *out, double milliseconds, const struct timespec *started)
{
    char stamp[40], value[64];

    snprintf(value, sizeof value, "%.3f", milliseconds / 1000);
    put_attribute(out, "time", value);
    format_time(started, stamp, sizeof stamp);
    snprintf(value, sizeof value, "%s.%03ld", stamp, started->tv_nsec / 1000000);
    put_attribute(out, "timestamp", value);
}

static void put_xml_test(FILE *out, const struct suite *suite, const struct test *test,
                         bool listing)
{
    char file[PATH_MAX + 64];
    struct text message = {0};
    bool open = false;

    fputs("    <testcase", out);
    put_attribute(out, "name", test->check->name);
    location(suite, file, sizeof file);
    put_attribute(out, "file", file);
    put_attribute(out, "line", "1");
    if (listing) {
        fputs(" />\n", out);
        return;
    }
    put_attribute(out, "status", test->runs ? "run" : "notrun");
    put_attribute(out, "result", result_word(test));
    put_xml_times(out, test->milliseconds, &test->started);
    put_attribute(out, "classname", suite->name);
    for (size_t i = 0; test->verdict != NULL && i < test->verdict->failure_count; i++) {
        if (!open) fputs(">\n", out);
        open = true;
        failure_message(test, i, &message);
        fputs("      <failure", out);
        put_attribute(out, "message", text_string(&message));
        put_attribute(out, "type", test->verdict->failures[i].kind);
        fputc('>', out);
        put_cdata(out, text_string(&message));
        fputs("</failure>\n", out);
        text_free(&message);
    }
    if (test_not_judged(test) && test->verdict != NULL) {
        const char *element = test_troubled(test) ? "error" : "skipped";
        if (!open) fputs(">\n", out);
        open = true;
        skip_message(suite, test, &message);
        fprintf(out, "      <%s", element);
        put_attribute(out, "message", text_string(&message));
        fputc('>', out);
        put_cdata(out, text_string(&message));
        fprintf(out, "</%s>\n", element);
        text_free(&message);
    }
    if (test->verdict != NULL && test->verdict->figure_count > 0) {
        if (!open) fputs(">\n", out);
        open = true;
        fputs("      <properties>\n", out);
        for (size_t i = 0; i < test->verdict->figure_count; i++) {
            fputs("        <property", out);
            put_attribute(out, "name", test->verdict->figures[i].key);
            put_attribute(out, "value", test->verdict->figures[i].text);
            fputs("/>\n", out);
        }
        fputs("      </properties>\n", out);
    }
    fputs(open ? "    </testcase>\n" : " />\n", out);
}

static void put_xml_count(FILE *out, const char *name, size_t count)
{
    char value[32];
    snprintf(value, sizeof value, "%zu", count);
    put_attribute(out, name, value);
}

void gtest_report_xml(FILE *out, const struct results *results, int seed, bool listing)
{
    test_predicate counted = test_reportable;

    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites", out);
    put_xml_count(out, "tests", results_count(results, counted));
    if (!listing) {
        put_xml_count(out, "failures", results_count(results, test_failed));
        put_xml_count(out, "disabled", results_count(results, test_reportable_disabled));
        put_xml_count(out, "errors", results_count(results, test_troubled));
        put_xml_times(out, results->milliseconds, &results->started);
        if (seed != 0) put_xml_count(out, "random_seed", (size_t)seed);
    }
    put_attribute(out, "name", "AllTests");
    fputs(">\n", out);
    for (size_t i = 0; i < results->count; i++) {
        const struct suite *suite = &results->suites[i];
        if (suite_count(suite, counted) == 0) continue;
        fputs("  <testsuite", out);
        put_attribute(out, "name", suite->name);
        put_xml_count(out, "tests", suite_count(suite, counted));
        if (!listing) {
            put_xml_count(out, "failures", suite_count(suite, test_failed));
            put_xml_count(out, "disabled", suite_count(suite, test_reportable_disabled));
            put_xml_count(out, "skipped", suite_count(suite, test_skipped));
            put_xml_count(out, "errors", suite_count(suite, test_troubled));
            put_xml_times(out, suite->milliseconds, &suite->started);
        }
        fputs(">\n", out);
        for (size_t j = 0; j < suite->count; j++)
            if (counted(&suite->tests[j])) put_xml_test(out, suite, &suite->tests[j], listing);
        fputs("  </testsuite>\n", out);
    }
    fputs("</testsuites>\n", out);
}

/* ---- JSON -------------------------------------------------------------------------------------
 */

static void put_json_times(json_t *object, double milliseconds, const struct timespec *started)
{
    char stamp[40], text[48];

    format_time(started, stamp, sizeof stamp);
    snprintf(text, sizeof text, "%sZ", stamp);
    json_put_text(object, "timestamp", text);
    snprintf(text, sizeof text, "%gs", (double)(long)(milliseconds + 0.5) / 1000);
    json_put_text(object, "time", text);
}

static void put_json_counts(json_t *object, size_t failures, size_t disabled, size_t errors)
{
    json_put_count(object, "failures", failures);
    json_put_count(object, "disabled", disabled);
    json_put_count(object, "errors", errors);
}

static void put_json_messages(json_t *object, const struct suite *suite, const struct test *test)
{
    struct text message = {0};

    if (test->verdict == NULL) return;
    json_t *failures = test->verdict->failure_count > 0 ? json_put_array(object, "failures") : NULL;
    for (size_t i = 0; i < test->verdict->failure_count; i++) {
        failure_message(test, i, &message);
        json_t *failure = json_add_object(failures);
        json_put_text(failure, "failure", text_string(&message));
        json_put_text(failure, "type", test->verdict->failures[i].kind);
        text_free(&message);
    }
    if (test_not_judged(test)) {
        skip_message(suite, test, &message);
        json_put_text(
            json_add_object(json_put_array(object, test_troubled(test) ? "errors" : "skipped")),
            "message", text_string(&message));
        text_free(&message);
    }
    for (size_t i = 0; i < test->verdict->figure_count; i++)
        json_put_text(object, test->verdict->figures[i].key, test->verdict->figures[i].text);
}

static void put_json_test(json_t *object, const struct suite *suite, const struct test *test,
                          bool listing)
{
    char file[PATH_MAX + 64], result[16] = "";

    json_put_text(object, "name", test->check->name);
    location(suite, file, sizeof file);
    json_put_text(object, "file", file);
    json_put_count(object, "line", 1);
    if (listing) return;
    const char *word = result_word(test);
    for (size_t i = 0; word[i] != '\0'; i++) {
        result[i] = (char)(word[i] - 'a' + 'A');
        result[i + 1] = '\0';
    }
    json_put_text(object, "status", test->runs ? "RUN" : "NOTRUN");
    json_put_text(object, "result", result);
    put_json_times(object, test->milliseconds, &test->started);
    json_put_text(object, "classname", suite->name);
    put_json_messages(object, suite, test);
}

static void put_json_suite(json_t *object, const struct suite *suite, bool listing)
{
    json_put_text(object, "name", suite->name);
    json_put_count(object, "tests", suite_count(suite, test_reportable));
    if (!listing) {
        put_json_counts(object, suite_count(suite, test_failed),
                        suite_count(suite, test_reportable_disabled),
                        suite_count(suite, test_troubled));
        put_json_times(object, suite->milliseconds, &suite->started);
    }
    json_t *tests = json_put_array(object, "testsuite");
    for (size_t i = 0; i < suite->count; i++)
        if (test_reportable(&suite->tests[i]))
            put_json_test(json_add_object(tests), suite, &suite->tests[i], listing);
}

void gtest_report_json(FILE *out, const struct results *results, int seed, bool listing)
{
    json_t *all = json_object();

    json_put_count(all, "tests", results_count(results, test_reportable));
    if (!listing) {
        put_json_counts(all, results_count(results, test_failed),
                        results_count(results, test_reportable_disabled),
                        results_count(results, test_troubled));
        if (seed != 0) json_put_count(all, "random_seed", (size_t)seed);
        put_json_times(all, results->milliseconds, &results->started);
    }
    json_put_text(all, "name", "AllTests");
    json_t *suites = json_put_array(all, "testsuites");
    for (size_t i = 0; i < results->count; i++)
        if (suite_count(&results->suites[i], test_reportable) > 0)
            put_json_suite(json_add_object(suites), &results->suites[i], listing);
    json_dumpf(all, out, JSON_INDENT(2) | JSON_ESCAPE_SLASH);
    fputc('\n', out);
    json_decref(all);
}

int gtest_report_write(enum gtest_report_format format, const char *path,
                       const struct results *results, int seed, bool listing, struct text *why)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&bytes, &size);

    if (out != NULL) {
        if (format == REPORT_XML)
            gtest_report_xml(out, results, seed, listing);
        else
            gtest_report_json(out, results, seed, listing);
    }
    int failed = out == NULL || fclose(out) != 0 || files_replace(path, bytes, size) != 0;
    if (failed) text_format(why, _("the report %s cannot be written: %s"), path, strerror(errno));
    free(bytes);
    return failed ? -1 : 0;
}
