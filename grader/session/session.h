/* session: one call of the grader, from the chosen lessons to the exit status: filters and orders
 * the checks, compiles, asks the store for evidence, has it judged, and tells printer and reports.
 */
#ifndef OVERLAP_GRADER_SESSION_SESSION_H
#define OVERLAP_GRADER_SESSION_SESSION_H

#include "grader/build/toolchain.h"
#include "grader/session/results.h"

/* What main does: the command line, with the lessons of `table` (NULL-ended). Returns the exit
 * status: 0 all passed, 1 a check failed, 2 it could not be judged (the command line, the set-up or
 * the machine), 128 + n when signal n interrupted it. */
int session_main(const struct toolchain *toolchain, const struct lesson *const *table, int count,
                 char *const *arguments);

/* Somebody who watches a session instead of reading what it prints. All pointers are the session's
 * and hold for the call only; any function may be NULL. */
struct session_observer {
    void *data;
    /* What takes the time from now on: "compile", or the name of a run. */
    void (*step)(void *data, const struct lesson *lesson, const char *step);
    /* A run was made and can be read. */
    void (*ran)(void *data, const struct evidence *evidence);
    /* A check was judged: suite->tests[index]. */
    void (*judged)(void *data, const struct suite *suite, size_t index);
    /* It cannot go on. */
    void (*trouble)(void *data, const char *why);
};

/* The same, told to the observer and not printed. */
int session_observed(const struct toolchain *toolchain, const struct lesson *const *table,
                     int count, char *const *arguments, const struct session_observer *observer);

#endif
