/* grading: grades one lesson in a process of its own, by the same session as ./grade, while the
 * caller goes on. The caller can follow the progress, and end the grading when the student saves
 * again.
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
    char name[GRADING_NAME]; /* "compile", or the name of a run */
    double seconds;          /* all its executions together */
};

struct grading_check {
    enum test_outcome outcome;
    struct verdict *verdict; /* owned; NULL until it is judged */
};

/* Initialise it with {.fd = -1}. */
struct grading {
    const struct lesson *lesson;
    pid_t pid; /* 0: no grading is in progress */
    int fd;    /* readable when there is news; -1: none */
    struct text buffer;
    double started;                           /* seconds, CLOCK_MONOTONIC */
    double seconds;                           /* total duration, when done */
    char step[GRADING_NAME];                  /* the current step */
    struct grading_step steps[GRADING_STEPS]; /* the finished steps, in order */
    size_t step_count;
    double step_started;
    struct grading_check *checks;
    size_t count, judged;
    size_t first;         /* index of the first failed check; count: none has failed */
    bool broken;          /* it does not compile */
    struct text printed;  /* output of the submission, quoted */
    struct text timeline; /* of the timed run and of the reference's */
    struct text streams;  /* the same, with a row per stream */
    char trouble[300];    /* why the lesson could not be graded; "": it could */
    bool done;
};

/* Ends a grading in progress and starts a new one. Returns 0, or -1: no process or no memory
 * (errno). */
int grading_start(struct grading *grading, const struct toolchain *toolchain,
                  const struct lesson *const *table, const struct lesson *lesson);

/* Reads what the process has sent. Returns true when there is anything new. */
bool grading_take(struct grading *grading);

/* Waits until the grading is done, or a signal interrupts (process_interrupted). */
void grading_wait(struct grading *grading);

/* Ends the grading and frees its results. */
void grading_end(struct grading *grading);

size_t grading_passed(const struct grading *grading);
size_t grading_skipped(const struct grading *grading);

double grading_now(void);

#endif
