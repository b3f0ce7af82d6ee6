/* session: one call of the grader, from the chosen lessons to the exit status: filters and orders
 * the checks, compiles, gets evidence from the cache, has it judged, and passes the results to the
 * printer and the reports.
 */
#ifndef OVERLAP_GRADER_SESSION_SESSION_H
#define OVERLAP_GRADER_SESSION_SESSION_H

#include "grader/build/toolchain.h"
#include "grader/session/results.h"

/* The grader's main: handles the command line, with the lessons of `table` (NULL-ended). Returns
 * the exit status: 0 all passed, 1 a check failed, 2 it could not be judged (the command line, the
 * set-up or the machine), 128 + n when signal n interrupted it. */
int session_main(const struct toolchain *toolchain, const struct lesson *const *table, int count,
                 char *const *arguments);

/* Callbacks for a caller that follows a session instead of reading its output. All pointers belong
 * to the session and are valid during the call only; any function may be NULL. */
struct session_observer {
    void *data;
    /* The step that begins now: "compile", or the name of a run. */
    void (*step)(void *data, const struct lesson *lesson, const char *step);
    /* A run has ended, and its evidence can be read. */
    void (*ran)(void *data, const struct evidence *evidence);
    /* A check was judged: suite->tests[index]. */
    void (*judged)(void *data, const struct suite *suite, size_t index);
    /* The session cannot go on. */
    void (*trouble)(void *data, const char *why);
};

/* As session_main, but reports to the observer and prints nothing. */
int session_observed(const struct toolchain *toolchain, const struct lesson *const *table,
                     int count, char *const *arguments, const struct session_observer *observer);

#endif
