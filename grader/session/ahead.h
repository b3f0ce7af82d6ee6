/* ahead: lessons side by side. Each is graded by a process of its own, a copy of the session, which
 * hands back what it found; the session tells it in its turn, as if it had graded it itself. Each
 * process has a share of the processors, and those that grade on a GPU keep out of each other's
 * way by its lock (grader/run/gpu_lock.h). It judges nothing and prints nothing.
 */
#ifndef OVERLAP_GRADER_SESSION_AHEAD_H
#define OVERLAP_GRADER_SESSION_AHEAD_H

#include "grader/base/trouble.h"
#include "grader/session/results.h"

struct ahead;

/* What the session is told beside a suite's results. */
struct ahead_end {
    int result; /* of grade */
    struct trouble trouble;
    struct text why; /* owned */
};

/* Called in a process of its own: fills in the suite's results and *end. */
typedef void (*ahead_grade)(void *user, size_t suite, struct ahead_end *end);

/* `most` suites at a time, of those with tests that run, in the order of the results, which have to
 * stay where they are. NULL: no memory. */
struct ahead *ahead_begin(struct results *results, size_t most, ahead_grade grade, void *user);

/* Waits for that suite and fills in its results; *end is the caller's. False: nobody graded it, and
 * the caller has to; or a signal came (process_interrupted). */
bool ahead_take(struct ahead *ahead, size_t suite, struct ahead_end *end);

/* Ends what still runs. `ahead` may be NULL. */
void ahead_end(struct ahead *ahead);

#endif
