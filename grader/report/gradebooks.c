/* Formats of gradebooks and test viewers: Canvas' and Moodle's CSV, JUnit's XML. */
#include "grader/report/kinds.h"

#include <string.h>

/* ---- CSV (RFC 4180) --------------------------------------------------------------------- */

/* Returns true for a value that a spreadsheet would take for a formula. */
static bool is_formula(const char *value)
{
    return value[0] != '\0' && strchr("=+-@\t", value[0]) != NULL;
}

static void add_cell(struct text *text, const char *value)
{
    if (text->size > 0 && text->data[text->size - 1] != '\n') text_add(text, ",");
    text_add(text, "\"");
    if (is_formula(value)) text_add(text, "'");
    for (; *value != '\0'; value++) {
        if (*value == '"') text_add(text, "\"");
        text_add_bytes(text, value, 1);
    }
    text_add(text, "\"");
}

static void add_number(struct text *text, double number)
{
    text_add(text, ",");
    text_add_points(text, number);
}

static void end_row(struct text *text)
{
    text_add(text, "\r\n");
}

static const json_t *lesson_of(const json_t *record, const char *name)
{
    return json_find(json_list(record, "lessons"), "lesson", name);
}

/* Returns the names of all lessons in which some submission was judged, in order. */
static json_t *all_lessons(const json_t *class)
{
    json_t *names = json_object(), *record, *lesson;
    size_t i, j;

    json_array_foreach(json_list(class, "submissions"), i, record)
    {
        json_array_foreach(json_list(record, "lessons"), j, lesson)
        {
            json_t *most = json_object_get(names, json_text(lesson, "lesson"));
            const double here = json_number(lesson, "max_score");
            if (json_number_value(most) < here || most == NULL)
                json_put_number(names, json_text(lesson, "lesson"), here);
        }
    }
    return names;
}

static void canvas_row(struct text *text, const json_t *record, json_t *lessons)
{
    const json_t *submission = json_object_get(record, "submission");
    const char *name;
    json_t *most;

    add_cell(text, record_name(record));
    add_cell(text, json_text(submission, "id"));
    add_cell(text, json_text(submission, "sis_id"));
    add_cell(text, json_text(submission, "login"));
    add_cell(text, json_text(submission, "section"));
    json_object_foreach(lessons, name, most)
    {
        const json_t *lesson = lesson_of(record, name);
        if (record_has_points(record) && lesson != NULL)
            add_number(text, json_number(lesson, "score"));
        else
            text_add(text, ","); /* Canvas ignores an empty cell */
    }
    end_row(text);
}

/* One column per lesson, because in Canvas a column is an assignment. */
void report_canvas(const json_t *class, struct text *text)
{
    json_t *lessons = all_lessons(class), *record, *most;
    const char *name;
    size_t i;

    text_add(text, "Student,ID,SIS User ID,SIS Login ID,Section");
    json_object_foreach(lessons, name, most)
    {
        add_cell(text, name);
    }
    end_row(text);
    text_add(text, "    Points Possible,,,,");
    json_object_foreach(lessons, name, most)
    {
        add_number(text, json_number_value(most));
    }
    end_row(text);
    json_array_foreach(json_list(class, "submissions"), i, record)
    {
        canvas_row(text, record, lessons);
    }
    json_decref(lessons);
}

static void add_failure(struct text *text, const json_t *check)
{
    const json_t *failure = json_array_get(json_list(check, "failures"), 0);
    const double line = json_number(failure, "line");

    if (failure == NULL || check_is_blocked(check) || !check_is_visible(check)) return;
    text_format(text, "  %s, %s", json_text(check, "name"), json_text(failure, "file"));
    if (line > 0) text_format(text, ":%.0f", line); /* 0: of a file that is not there */
    text_format(text, ": %s\n", json_text(failure, "what"));
}

/* Appends one sentence per lesson, the first failure of each check, and what was not judged for
 * it. */
static void add_feedback(struct text *text, const json_t *record)
{
    const json_t *lesson, *check;
    size_t i, j;

    json_array_foreach(json_list(record, "lessons"), i, lesson)
    {
        text_format(text, "%s: ", json_text(lesson, "lesson"));
        text_add_points(text, json_number(lesson, "score"));
        text_add(text, " of ");
        text_add_points(text, json_number(lesson, "max_score"));
        text_add(text, json_yes(lesson, "missing") ? ": nothing was handed in\n" : "\n");
        if (json_yes(lesson, "missing")) continue;
        if (json_text(lesson, "note")[0] != '\0')
            text_format(text, "  %s\n", json_text(lesson, "note"));
        json_array_foreach(json_list(lesson, "checks"), j, check)
        {
            struct text blocked = {0};
            add_failure(text, check);
            check_blocks(lesson, check, true, &blocked);
            if (blocked.size > 0) text_format(text, "  %s", text_string(&blocked));
            text_free(&blocked);
        }
    }
}

void report_moodle(const json_t *class, struct text *text)
{
    const json_t *record;
    size_t i;

    text_add(text, "Identifier,\"Full name\",\"ID number\",\"Email address\",Grade,"
                   "\"Maximum Grade\",\"Feedback comments\"");
    end_row(text);
    json_array_foreach(json_list(class, "submissions"), i, record)
    {
        const json_t *submission = json_object_get(record, "submission");
        const char *id = json_text(submission, "id");
        struct text words = {0};
        if (id[0] != '\0') text_format(&words, "Participant %s", id);
        add_cell(text, text_string(&words));
        text_free(&words);
        add_cell(text, record_name(record));
        add_cell(text, json_text(submission, "sis_id"));
        add_cell(text, json_text(submission, "email"));
        if (record_has_points(record)) {
            add_number(text, json_number(record, "score"));
            add_number(text, json_number(record, "max_score"));
            add_feedback(&words, record);
        } else {
            text_add(text, ",,"); /* Moodle ignores an empty grade */
        }
        add_cell(text, text_string(&words));
        text_free(&words);
        end_row(text);
    }
}

/* ---- JUnit ------------------------------------------------------------------------------ */

static size_t count_outcome(const json_t *lesson, const char *outcome)
{
    const json_t *check;
    size_t i, count = 0;

    json_array_foreach(json_list(lesson, "checks"), i, check)
    {
        count += strcmp(json_text(check, "outcome"), outcome) == 0;
    }
    return count;
}

static void junit_attribute(struct text *text, const char *name, const char *value)
{
    text_format(text, " %s=\"", name);
    for (; *value != '\0'; value++) {
        const char byte[2] = {*value, '\0'};
        if (*value == '\n')
            text_add(text, "&#10;");
        else
            text_add_escaped(text, byte);
    }
    text_add(text, "\"");
}

static void junit_test(struct text *text, const char *class_name, const json_t *check)
{
    const char *outcome = json_text(check, "outcome");
    struct text words = {0};

    text_add(text, "    <testcase");
    junit_attribute(text, "name", json_text(check, "name"));
    junit_attribute(text, "classname", class_name);
    text_format(text, " time=\"%.3f\"", json_number(check, "seconds"));
    check_words(check, &words);
    if (strcmp(outcome, "failed") == 0) {
        const json_t *first = json_array_get(json_list(check, "failures"), 0);
        text_add(text, ">\n      <failure");
        junit_attribute(text, "message", json_text(first, "what"));
        junit_attribute(text, "type", json_text(first, "kind"));
        text_add(text, ">");
        text_add_escaped(text, text_string(&words));
        text_add(text, "</failure>\n    </testcase>\n");
    } else if (strcmp(outcome, "skipped") == 0) {
        text_add(text, ">\n      <skipped");
        junit_attribute(text, "message", json_text(check, "reason"));
        text_add(text, "/>\n    </testcase>\n");
    } else if (strcmp(outcome, "error") == 0) {
        text_add(text, ">\n      <error");
        junit_attribute(text, "message", json_text(check, "reason"));
        text_add(text, "/>\n    </testcase>\n");
    } else {
        text_add(text, "/>\n");
    }
    text_free(&words);
}

/* With several submissions a suite is called "alice.Streams", because viewers identify tests by
 * class. */
static void junit_record(struct text *text, const json_t *record, bool alone)
{
    const json_t *lesson, *check;
    size_t i, j;

    if (json_text(record, "trouble")[0] != '\0') {
        text_add(text, "  <testsuite");
        junit_attribute(text, "name", record_name(record));
        text_add(text, " tests=\"1\" failures=\"0\" skipped=\"0\" errors=\"1\">\n    <testcase "
                       "name=\"CanBeJudged\"");
        junit_attribute(text, "classname", record_name(record));
        text_add(text, ">\n      <error");
        junit_attribute(text, "message", json_text(record, "trouble"));
        text_add(text, "/>\n    </testcase>\n  </testsuite>\n");
    }
    json_array_foreach(json_list(record, "lessons"), i, lesson)
    {
        struct text name = {0};
        text_format(&name, "%s%s%s", alone ? "" : record_name(record), alone ? "" : ".",
                    json_text(lesson, "suite"));
        text_add(text, "  <testsuite");
        junit_attribute(text, "name", text_string(&name));
        text_format(text, " tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\" errors=\"%zu\">\n",
                    json_array_size(json_list(lesson, "checks")), count_outcome(lesson, "failed"),
                    count_outcome(lesson, "skipped"), count_outcome(lesson, "error"));
        json_array_foreach(json_list(lesson, "checks"), j, check)
        {
            junit_test(text, text_string(&name), check);
        }
        text_add(text, "  </testsuite>\n");
        text_free(&name);
    }
}

void report_junit(const json_t *class, struct text *text)
{
    const json_t *records = json_list(class, "submissions"), *record;
    size_t i;

    text_add(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"Overlap\">\n");
    json_array_foreach(records, i, record)
    {
        junit_record(text, record, json_array_size(records) == 1);
    }
    text_add(text, "</testsuites>\n");
}
