/* same_cause: a cause is told once. Several checks read one run, so one mistake can fail several
 * with the same sentence at the same line.
 */
#ifndef OVERLAP_GRADER_SESSION_SAME_CAUSE_H
#define OVERLAP_GRADER_SESSION_SAME_CAUSE_H

#include "grader/session/results.h"

/* Where an earlier check of the suite said the same as the failed `test`, the test refers to it.
 * Place and kind of each failure stay. `before`: how many of suite->order were judged before it. */
void same_cause_shorten(const struct suite *suite, size_t before, struct test *test);

#endif
