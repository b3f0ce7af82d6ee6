#include "grader/session/results.h"
#include "grader/base/messages.h"

#include <stdlib.h>
#include <string.h>

#define WIDTH 100

size_t suite_count(const struct suite *suite, test_predicate predicate)
{
    size_t count = 0;
    for (size_t i = 0; i < suite->count; i++) count += predicate(&suite->tests[i]);
    return count;
}

size_t results_count(const struct results *results, test_predicate predicate)
{
    size_t count = 0;
    for (size_t i = 0; i < results->count; i++)
        count += suite_count(&results->suites[i], predicate);
    return count;
}

size_t results_suites_that_run(const struct results *results)
{
    size_t count = 0;
    for (size_t i = 0; i < results->count; i++)
        count += suite_count(&results->suites[i], test_runs) > 0;
    return count;
}

void test_forget(struct test *test)
{
    free(test->verdict);
    test->verdict = NULL;
    text_free(&test->printed);
    text_free(&test->picture);
    test->outcome = TEST_NOT_RUN;
    test->cannot_be_judged = false;
    test->milliseconds = 0;
}

bool test_runs(const struct test *test)
{
    return test->runs;
}

bool test_failed(const struct test *test)
{
    return test->runs && test->outcome == TEST_FAILED;
}

bool test_skipped(const struct test *test)
{
    return test->runs && test->outcome == TEST_SKIPPED;
}

bool test_troubled(const struct test *test)
{
    return test->runs && test->outcome == TEST_TROUBLED;
}

bool test_not_judged(const struct test *test)
{
    return test_skipped(test) || test_troubled(test);
}

bool test_passed(const struct test *test)
{
    return test->runs && test->outcome == TEST_PASSED;
}

bool test_reportable(const struct test *test)
{
    return test->matches && !test->elsewhere;
}

bool test_reportable_disabled(const struct test *test)
{
    return test_reportable(test) && test->disabled;
}

/* Adds one paragraph, wrapped; lines after the first are indented. Line feeds in it are kept, and a
 * line that begins with a blank (quoted output, tables) is not wrapped. */
static void add_paragraph(struct text *text, const char *label, const char *paragraph)
{
    const size_t indent = text_columns(label);
    struct text quoted = {0};

    text_add_quoted(&quoted, paragraph, strlen(paragraph));
    for (const char *at = text_string(&quoted), *lead = label; *at != '\0'; lead = NULL) {
        size_t length = strcspn(at, "\n"), next = length, taken = length;
        if (*at != ' ') taken = text_break(at, length, WIDTH - indent, false, &next);
        if (lead != NULL)
            text_add(text, lead);
        else if (*at != ' ')
            text_format(text, "%*s", (int)indent, "");
        text_add_bytes(text, at, taken);
        text_add(text, "\n");
        at += next;
        if (next == length && *at == '\n') at++;
    }
    text_free(&quoted);
}

void results_failure_text(const struct verdict *verdict, size_t index, struct text *text)
{
    const struct verdict_failure *failure = &verdict->failures[index];

    add_paragraph(text, "", failure->what);
    add_paragraph(text, _("Why:  "), failure->why);
    add_paragraph(text, _("Hint: "), failure->hint);
    if (index + 1 == verdict->failure_count) {
        add_paragraph(text, _("Seen: "), verdict->seen);
        if (verdict->failures_left_out > 0)
            text_format(text, _("(and %zu more of the kind)\n"), verdict->failures_left_out);
    }
}

void results_place_text(const struct place *place, struct text *text)
{
    text_add_quoted(text, place->file, strlen(place->file));
    if (place->line > 0)
        text_format(text, ":%u:", place->line);
    else
        text_add(text, ":");
}
