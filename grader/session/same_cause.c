#include "grader/session/same_cause.h"
#include "grader/base/messages.h"

#include <stdio.h>
#include <string.h>

/* Two runs that ended in the same way at the same line: an address, or what the device had said,
 * may differ. */
static bool ended_the_same(const struct verdict *a, const struct verdict *b)
{
    const struct place *x = &a->failures[0].place, *y = &b->failures[0].place;
    return a->ended != 0 && a->ended == b->ended && x->line == y->line &&
           strcmp(x->file, y->file) == 0;
}

/* Returns the text behind the number that begins here, or `at`: there is none. */
static const char *behind_number(const char *at)
{
    const bool hex = at[0] == '0' && at[1] == 'x';
    return at + (hex ? 2 : 0) +
           strspn(at + (hex ? 2 : 0), hex ? "0123456789abcdef" : "0123456789.");
}

/* Compares but for the numbers: sizes, addresses and threads differ from run to run. */
static bool is_one_sentence(const char *a, const char *b)
{
    while (*a != '\0' || *b != '\0') {
        const char *behind_a = behind_number(a), *behind_b = behind_number(b);
        if ((behind_a > a) != (behind_b > b)) return false;
        if (behind_a == a && *a++ != *b++) return false;
        if (behind_a > a) {
            a = behind_a;
            b = behind_b;
        }
    }
    return true;
}

static bool says(const struct verdict *verdict, const struct verdict_failure *failure)
{
    for (size_t i = 0; i < verdict->failure_count; i++) {
        const struct verdict_failure *one = &verdict->failures[i];
        if (one->place.line == failure->place.line &&
            strcmp(one->place.file, failure->place.file) == 0 &&
            is_one_sentence(one->what, failure->what))
            return true;
    }
    return false;
}

/* Returns true when the first verdict says all that the other one does. */
static bool says_the_same(const struct verdict *first, const struct verdict *other)
{
    for (size_t i = 0; i < other->failure_count; i++)
        if (!says(first, &other->failures[i])) return false;
    return other->failures_left_out == 0;
}

/* What the run would have shown nobody knows. */
static void not_judged_for(const struct suite *suite, const struct test *first,
                           struct verdict *verdict)
{
    verdict->not_judged = verdict->failure_count;
    snprintf(verdict->because, sizeof verdict->because, "%.80s.%.110s", suite->name,
             first->check->name);
}

void same_cause_shorten(const struct suite *suite, size_t before, struct test *test)
{
    /* It says already which check to look at. */
    if (verdict_because(test->verdict) != NULL) return;
    for (size_t i = 0; i < before; i++) {
        const struct test *first = &suite->tests[suite->order[i]];
        if (!test_failed(first) || verdict_because(first->verdict) != NULL) continue;
        const bool ended = ended_the_same(first->verdict, test->verdict);
        if (!ended && !says_the_same(first->verdict, test->verdict)) continue;
        for (size_t j = 0; j < test->verdict->failure_count; j++) {
            struct verdict_failure *failure = &test->verdict->failures[j];
            snprintf(failure->what, sizeof failure->what,
                     _("It has the same cause: see %.80s.%.120s above."), suite->name,
                     first->check->name);
            failure->why[0] = failure->hint[0] = '\0';
        }
        if (ended) not_judged_for(suite, first, test->verdict);
        return;
    }
}
