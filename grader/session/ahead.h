/* ahead: grades lessons side by side. Each lesson is graded by a process of its own, a fork of the
 * session, which hands back its results; the session prints and reports them in order, as if it had
 * graded the lesson itself. Each process has a share of the processors, and those that grade on a
 * GPU exclude each other by its lock (grader/run/gpu_lock.h). This module judges and prints
 * nothing.
 */
#ifndef OVERLAP_GRADER_SESSION_AHEAD_H
#define OVERLAP_GRADER_SESSION_AHEAD_H

#include "grader/base/trouble.h"
#include "grader/session/results.h"

struct ahead;

/* What a grading process hands back beside a suite's results. */
struct ahead_end {
    int result; /* 0, or -1: grading could not go on */
    struct trouble trouble;
    struct text why; /* owned */
};

/* The callback that grades a suite, called in a process of its own: fills in the suite's results
 * and *end. */
typedef void (*ahead_grade)(void *user, size_t suite, struct ahead_end *end);

/* Starts grading the suites with tests that run, at most `most` at a time, in the order of the
 * results. `results` must stay where it is until ahead_end. NULL: no memory. */
struct ahead *ahead_begin(struct results *results, size_t most, ahead_grade grade, void *user);

/* Waits for that suite and fills in its results; *end is then the caller's. False: the suite was
 * not graded and the caller has to grade it, or a signal came (process_interrupted). */
bool ahead_take(struct ahead *ahead, size_t suite, struct ahead_end *end);

/* Kills the grading processes that still run. `ahead` may be NULL. */
void ahead_end(struct ahead *ahead);

#endif
