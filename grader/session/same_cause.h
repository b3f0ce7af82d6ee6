/* same_cause: reports one cause once. Several checks read one run, so one mistake can fail several
 * checks with the same sentence at the same line.
 */
#ifndef OVERLAP_GRADER_SESSION_SAME_CAUSE_H
#define OVERLAP_GRADER_SESSION_SAME_CAUSE_H

#include "grader/session/results.h"

/* Where an earlier check of the suite failed with the same messages as `test`, but for numbers,
 * replaces the message by a reference to that check. Where it is that their runs ended in the same
 * way at the same line, the test was not judged because of that check. Place and kind of each
 * failure stay. `before`: how many of suite->order were judged before this test. */
void same_cause_shorten(const struct suite *suite, size_t before, struct test *test);

#endif
