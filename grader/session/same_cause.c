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

static bool says_the_same(const struct verdict *a, const struct verdict *b)
{
    if (a->failure_count != b->failure_count) return false;
    for (size_t i = 0; i < a->failure_count; i++) {
        const struct verdict_failure *x = &a->failures[i], *y = &b->failures[i];
        if (strcmp(x->what, y->what) != 0 || strcmp(x->place.file, y->place.file) != 0 ||
            x->place.line != y->place.line)
            return false;
    }
    return true;
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
