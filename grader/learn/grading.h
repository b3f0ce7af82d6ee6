/* grading: one lesson graded in a process of its own, by the same session as ./grade, while the
 * caller goes on: it can be looked at, and ended when the student saves again.
 */
#ifndef OVERLAP_GRADER_LEARN_GRADING_H
#define OVERLAP_GRADER_LEARN_GRADING_H

#include "grader/base/text.h"
#include "grader/build/toolchain.h"
#include "grader/session/results.h"

#include <sys/types.h>

#define GRADING_NAME 64
#define GRADING_STEPS 16

struct grading_step {
    char name[GRADING_NAME]; /* "compile", or of a run */
    double seconds;          /* every time it was made, together */
};

struct grading_check {
    enum test_outcome outcome;
    struct verdict *verdict; /* owned; NULL until it is judged */
};

/* Starts as {.fd = -1}. */
struct grading {
    const struct lesson *lesson;
    pid_t pid; /* 0: none is under way */
    int fd;    /* readable when there is news; -1: none */
    struct text buffer;
    double started;                           /* seconds, CLOCK_MONOTONIC */
    double seconds;                           /* that it took, when it is done */
    char step[GRADING_NAME];                  /* what takes the time now */
    struct grading_step steps[GRADING_STEPS]; /* what took the time before, in order */
    size_t step_count;
    double step_started;
    struct grading_check *checks;
    size_t count, judged;
    size_t first;         /* the first check that failed; count: none has */
    bool broken;          /* it does not compile */
    struct text printed;  /* by the submission, quoted */
    struct text timeline; /* of the timed run, and of the reference's */
    struct text streams;  /* the same with a row for each stream */
    char trouble[300];    /* why it could not be done; "": it could */
    bool done;
};

/* Ends one that is under way and starts. Returns 0, or -1: no process, no memory (errno). */
int grading_start(struct grading *grading, const struct toolchain *toolchain,
                  const struct lesson *const *table, const struct lesson *lesson);

/* Takes what there is to read from the process. Returns true when something is new. */
bool grading_take(struct grading *grading);

/* Waits until it is done, or a signal interrupts (process_interrupted). */
void grading_wait(struct grading *grading);

/* Ends it and forgets what it found. */
void grading_end(struct grading *grading);

size_t grading_passed(const struct grading *grading);
size_t grading_skipped(const struct grading *grading);

double grading_now(void);

#endif
