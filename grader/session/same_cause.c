#include "grader/session/same_cause.h"
#include "grader/base/messages.h"

#include <stdio.h>
#include <string.h>

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

void same_cause_shorten(const struct suite *suite, size_t before, struct test *test)
{
    for (size_t i = 0; i < before; i++) {
        const struct test *first = &suite->tests[suite->order[i]];
        if (!test_failed(first) || !says_the_same(first->verdict, test->verdict)) continue;
        for (size_t j = 0; j < test->verdict->failure_count; j++) {
            struct verdict_failure *failure = &test->verdict->failures[j];
            snprintf(failure->what, sizeof failure->what,
                     _("It has the same cause: see %.80s.%.120s above."), suite->name,
                     first->check->name);
            failure->why[0] = failure->hint[0] = '\0';
        }
        return;
    }
}
