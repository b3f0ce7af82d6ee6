/* verdict: the result of one check, as plain data of a fixed size, because the child that Check
 * forks for the judge writes it and the grader reads it through shared memory.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_VERDICT_H
#define OVERLAP_GRADER_EVIDENCE_VERDICT_H

#include "grader/evidence/judge.h"

#define VERDICT_FAILURES 8
#define VERDICT_FIGURES 16

struct verdict_failure {
    struct place place;
    char kind[TRACE_NAME_SIZE]; /* kind of finding, see verdict_kind; empty: none */
    char what[3000];
    char why[1500];
    char hint[1500];
};

struct verdict_figure {
    char key[48];
    char text[240];
};

struct verdict {
    struct verdict_failure failures[VERDICT_FAILURES];
    size_t failure_count;
    size_t failures_left_out;
    bool not_compiled; /* there is nothing that could be judged, because it does not compile */
    bool missing;      /* nothing was handed in for the lesson */
    size_t
        not_judged; /* failures that are another check's again (verdict_not_judged), and whose: */
    char because[200];
    int ended; /* it was the run that failed, and how: equal for equal endings; 0: it ended well */
    char seen[200]; /* the device and the order in which it was seen, where that matters */
    bool slow;      /* it took too long: the timelines explain more */
    bool skipped;
    bool passed_over; /* by the evidence that was judged last */
    char skip_reason[512];
    struct verdict_figure figures[VERDICT_FIGURES];
    size_t figure_count;
};

/* Returns the check because of which this one was not judged ("Suite.Check"), or NULL: it was
 * judged. */
const char *verdict_because(const struct verdict *verdict);

/* Adds a failure when the run itself did not end well or its record is incomplete. Returns true
 * then; the check is not judged. `told`: the check of the same lesson ("Suite.Check") that reported
 * it before, or NULL. */
bool verdict_ending(struct verdict *verdict, const struct evidence *evidence, const char *told);

#endif
