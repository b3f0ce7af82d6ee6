/* session: one call of the grader, from the chosen lessons to the exit status: filters and orders
 * the checks, compiles, asks the store for evidence, has it judged, and tells printer and reports.
 */
#ifndef OVERLAP_GRADER_SESSION_SESSION_H
#define OVERLAP_GRADER_SESSION_SESSION_H

#include "grader/build/toolchain.h"
#include "grader/evidence/judge.h"

/* What main does: the command line, with the lessons of `table` (NULL-ended). Returns the exit
 * status: 0 all passed, 1 a check failed, 2 the command line or the set-up is wrong, 128 + n when
 * signal n interrupted it. */
int session_main(const struct toolchain *toolchain, const struct lesson *const *table, int count,
                 char *const *arguments);

#endif
