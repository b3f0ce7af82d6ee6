#include "grader/class/changes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_CHECKS 6

static const char *key_of(const json_t *record)
{
    return json_text(json_object_get(record, "submission"), "key");
}

static const json_t *find_record(const json_t *class, const char *key)
{
    const json_t *record;
    size_t i;

    json_array_foreach(json_list(class, "submissions"), i, record)
    {
        if (strcmp(key_of(record), key) == 0) return record;
    }
    return NULL;
}

/* Returns the outcome of a check in a record, or "". */
static const char *outcome_in(const json_t *record, const char *suite, const char *check)
{
    const json_t *lesson = json_find(json_list(record, "lessons"), "suite", suite);
    return json_text(json_find(json_list(lesson, "checks"), "name", check), "outcome");
}

/* Appends "; Streams.NothingLeaks passed before and failed now" for each changed check. Returns how
 * many. */
static size_t add_checks(const json_t *before, const json_t *after, struct text *text)
{
    const json_t *lesson, *check;
    size_t i, j, count = 0;

    json_array_foreach(json_list(after, "lessons"), i, lesson)
    {
        const char *suite = json_text(lesson, "suite");
        json_array_foreach(json_list(lesson, "checks"), j, check)
        {
            const char *then = outcome_in(before, suite, json_text(check, "name"));
            const char *now = json_text(check, "outcome");
            if (strcmp(then, now) == 0) continue;
            if (count++ < MOST_CHECKS)
                text_format(text, "; %s.%s: %s, now %s", suite, json_text(check, "name"),
                            then[0] != '\0' ? then : "not there", now);
        }
    }
    if (count > MOST_CHECKS) text_format(text, "; and %zu more", count - MOST_CHECKS);
    return count;
}

/* Names the differences between the versions by which the two were graded. */
static void add_causes(const json_t *before, const json_t *after, struct text *text)
{
    static const struct {
        const char *key, *words;
    } causes[] = {{"submission", "what was handed in changed"},
                  {"grader", "the grader changed"},
                  {"lessons", "the lessons changed"},
                  {"options", "it was graded with other flags"}};
    const json_t *then = json_object_get(before, "graded_as");
    const json_t *now = json_object_get(after, "graded_as");
    bool any = false;

    text_add(text, " (");
    for (size_t i = 0; i < sizeof causes / sizeof causes[0]; i++) {
        if (strcmp(json_text(then, causes[i].key), json_text(now, causes[i].key)) == 0) continue;
        text_format(text, "%s%s", any ? ", " : "", causes[i].words);
        any = true;
    }
    if (strcmp(json_text(before, "marks"), json_text(after, "marks")) != 0) {
        text_format(text, "%sthe points changed", any ? ", " : "");
        any = true;
    }
    if (!any)
        text_add(text, strcmp(json_text(before, "seed"), json_text(after, "seed")) != 0
                           ? "other inputs were drawn"
                           : "the same was graded again");
    text_add(text, ")");
}

static void compare(const json_t *before, const json_t *after, json_t *changes)
{
    struct text checks = {0}, what = {0};
    const double then = json_number(before, "score"), now = json_number(after, "score");
    const double most = json_number(after, "max_score");

    const size_t count = add_checks(before, after, &checks);
    const bool points =
        fabs(then - now) > 1e-6 || fabs(json_number(before, "max_score") - most) > 1e-6;
    if (count > 0 || points) {
        text_format(&what, "%s: %g of %g points, before %g of %g",
                    json_text(json_object_get(after, "submission"), "name"), now, most, then,
                    json_number(before, "max_score"));
        text_add(&what, text_string(&checks));
        add_causes(before, after, &what);
        json_t *change = json_add_object(changes);
        json_put_text(change, "key", key_of(after));
        json_put_text(change, "what", text_string(&what));
    }
    text_free(&checks);
    text_free(&what);
}

json_t *changes_between(const json_t *before, const json_t *after)
{
    json_t *changes = json_array();
    const json_t *record;
    size_t i;

    json_array_foreach(json_list(after, "submissions"), i, record)
    {
        const json_t *then = find_record(before, key_of(record));
        if (then != NULL && json_array_size(json_list(then, "lessons")) > 0 &&
            json_array_size(json_list(record, "lessons")) > 0)
            compare(then, record, changes);
    }
    return changes;
}
