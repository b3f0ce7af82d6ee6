/* Formats of autograders: Gradescope, GitHub Classroom, Autolab, and the project's own JSON. */
#include "grader/report/kinds.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const json_t *first_record(const json_t *class)
{
    return json_array_get(json_list(class, "submissions"), 0);
}

static void add_json(struct text *text, json_t *value, size_t flags)
{
    char *dump = json_dumps(value, flags | JSON_REAL_PRECISION(12));
    if (dump == NULL) text->failed = true;
    if (dump != NULL) text_add(text, dump);
    free(dump);
    json_decref(value);
    text_add(text, "\n");
}

static bool passed(const json_t *check)
{
    return strcmp(json_text(check, "outcome"), "passed") == 0;
}

/* Appends why there are no points, or how to draw the same inputs again. */
static void summary(const json_t *record, struct text *text)
{
    const char *trouble = json_text(record, "trouble");
    const json_t *lesson;
    size_t i;

    if (trouble[0] != '\0')
        text_format(text, "This could not be judged, which is not the submission's fault: %s\n",
                    trouble);
    else if (!json_yes(record, "complete"))
        text_add(text, "Grading has not come to its end: grade again.\n");
    json_array_foreach(json_list(record, "lessons"), i, lesson)
    {
        if (json_text(lesson, "note")[0] != '\0')
            text_format(text, "%s.\n", json_text(lesson, "note"));
    }
    if (json_text(record, "command")[0] != '\0')
        text_format(text, "The same run again: %s\n", json_text(record, "command"));
}

void report_json(const json_t *class, struct text *text)
{
    json_t *whole = json_copy((json_t *)(uintptr_t) class);
    add_json(text, whole, JSON_INDENT(2));
}

/* ---- Gradescope ------------------------------------------------------------------------- */

static void gradescope_test(json_t *test, const json_t *lesson, const json_t *check, size_t number)
{
    char words[32];
    struct text output = {0};

    json_object_set_new(test, "score", json_deep_copy(json_object_get(check, "score")));
    json_object_set_new(test, "max_score", json_deep_copy(json_object_get(check, "max_score")));
    if (json_yes(check, "judged"))
        json_put_text(test, "status", passed(check) ? "passed" : "failed");
    text_format(&output, "%s.%s", json_text(lesson, "suite"), json_text(check, "name"));
    json_put_text(test, "name", text_string(&output));
    text_free(&output);
    snprintf(words, sizeof words, "%.2s.%zu", json_text(lesson, "lesson"), number);
    json_put_text(test, "number", words);
    check_words(check, &output);
    if (json_text(lesson, "lost")[0] != '\0')
        text_format(&output, "The lesson has no points: %s is required.\n",
                    json_text(lesson, "lost"));
    json_put_text(test, "output", text_string(&output));
    json_put_text(test, "output_format", "text");
    json_array_append_new(json_put_array(test, "tags"), json_string(json_text(lesson, "lesson")));
    json_put_text(test, "visibility", json_text(check, "visibility"));
    text_free(&output);
}

void report_gradescope(const json_t *class, struct text *text)
{
    const json_t *record = first_record(class), *lesson, *check;
    json_t *all = json_object();
    struct text output = {0};
    size_t i, j;

    /* Without a score Gradescope reports a failure of the autograder, instead of a zero for the
     * machine's fault.
     */
    if (record_has_points(record))
        json_object_set_new(all, "score", json_deep_copy(json_object_get(record, "score")));
    json_put_number(all, "execution_time", (double)(long)(json_number(record, "seconds") + 0.5));
    summary(record, &output);
    json_put_text(all, "output", text_string(&output));
    json_put_text(all, "output_format", "text");
    json_put_text(all, "visibility", "visible");
    json_put_text(all, "stdout_visibility", "hidden");
    json_t *extra = json_put_object(all, "extra_data");
    json_put_text(extra, "seed", json_text(record, "seed"));
    json_put_text(extra, "overlap", json_text(record, "overlap"));
    json_t *tests = json_put_array(all, "tests");
    json_array_foreach(json_list(record, "lessons"), i, lesson)
    {
        json_array_foreach(json_list(lesson, "checks"), j, check)
        {
            gradescope_test(json_add_object(tests), lesson, check, j + 1);
        }
    }
    text_free(&output);
    add_json(text, all, JSON_INDENT(2));
}

/* ---- GitHub Classroom ------------------------------------------------------------------- */

static void add_base64(struct text *text, const char *bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const size_t size = strlen(bytes);

    for (size_t i = 0; i < size; i += 3) {
        uint32_t three = 0;
        char four[4];
        for (size_t j = 0; j < 3; j++)
            three = three << 8 | (i + j < size ? (unsigned char)bytes[i + j] : 0);
        for (size_t j = 0; j < 4; j++)
            four[j] = i + j <= size ? digits[three >> (18 - 6 * j) & 63] : '=';
        text_add_bytes(text, four, sizeof four);
    }
}

static void github_test(json_t *test, const json_t *lesson, const json_t *check)
{
    struct text words = {0};
    const json_t *failure = json_array_get(json_list(check, "failures"), 0);

    text_format(&words, "%s.%s", json_text(lesson, "suite"), json_text(check, "name"));
    json_put_text(test, "name", text_string(&words));
    json_put_text(test, "status",
                  !json_yes(check, "judged") ? "error"
                  : passed(check)            ? "pass"
                                             : "fail");
    json_object_set_new(test, "score", json_deep_copy(json_object_get(check, "score")));
    json_object_set_new(test, "max_score", json_deep_copy(json_object_get(check, "max_score")));
    text_free(&words);
    /* GitHub has no hidden tests: of a hidden check only the name is given. */
    if (check_is_visible(check)) check_words(check, &words);
    json_put_text(test, "message", text_string(&words));
    text_free(&words);
    json_put_text(test, "test_code", json_text(check, "title"));
    json_put_text(test, "filename", json_text(failure, "file"));
    json_put_number(test, "line_no", json_number(failure, "line"));
    json_put_number(test, "duration", json_number(check, "seconds"));
}

void report_github(const json_t *class, struct text *text)
{
    const json_t *record = first_record(class), *lesson, *check;
    json_t *all = json_object();
    struct text dump = {0};
    bool every = true;
    size_t i, j;

    json_put_count(all, "version", 1);
    json_put_text(all, "status", "error");
    json_object_set_new(all, "max_score", json_deep_copy(json_object_get(record, "max_score")));
    json_t *tests = json_put_array(all, "tests");
    json_array_foreach(json_list(record, "lessons"), i, lesson)
    {
        json_array_foreach(json_list(lesson, "checks"), j, check)
        {
            /* Checks that cannot be judged here are left out, because they would be shown as
             * failures. */
            if (!json_yes(check, "judged")) continue;
            every = every && passed(check);
            github_test(json_add_object(tests), lesson, check);
        }
    }
    if (record_has_points(record)) json_put_text(all, "status", every ? "pass" : "fail");
    add_json(&dump, all, JSON_COMPACT);
    text_add(text, "result=");
    add_base64(text, text_string(&dump));
    text_add(text, "\n");
    text->failed = text->failed || dump.failed;
    text_free(&dump);
}

/* ---- Autolab ---------------------------------------------------------------------------- */

/* One line, because the autograder must print it last. */
void report_autolab(const json_t *class, struct text *text)
{
    const json_t *record = first_record(class), *lesson;
    json_t *all = json_object(), *scores = json_put_object(all, "scores");
    json_t *board = json_put_array(all, "scoreboard");
    size_t i;

    json_array_foreach(json_list(record, "lessons"), i, lesson)
    {
        json_t *score = json_object_get(lesson, "score");
        if (!record_has_points(record)) continue;
        json_object_set_new(scores, json_text(lesson, "lesson"), json_deep_copy(score));
        json_array_append_new(board, json_deep_copy(score));
    }
    add_json(text, all, JSON_COMPACT);
}
