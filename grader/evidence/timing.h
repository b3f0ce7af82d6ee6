/* timing: how long a phase of a run took, by the clock that fits its device, and what a number of
 * such times, taken in turn with the reference solution's, allows to say. verdict_time_ratio
 * (judge.h) is made of it.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_TIMING_H
#define OVERLAP_GRADER_EVIDENCE_TIMING_H

#include "grader/evidence/judge.h"

#define TIMING_WARM_UPS 1 /* pairs on a GPU that are run and thrown away */
#define TIMING_PAIRS 5    /* pairs on a GPU that count */
/* Of the reference's time; it has nothing to spare that would make room for less. */
#define TIMING_LEAST 0.1

enum timing_outcome {
    TIMING_MET,
    TIMING_NOT_MET,
    TIMING_TOO_NOISY, /* the limit lies within what identical runs differ by */
    TIMING_NO_TIME,   /* the phase is missing in some run, or no record has a time */
    TIMING_FORGED,    /* the phase is shorter than what the device did in it */
    TIMING_TOO_SHORT, /* less than TIMING_LEAST */
};

struct timing {
    enum timing_outcome outcome;
    double submission_s, reference_s; /* medians */
    double ratio;                     /* of the medians */
    double lowest, highest;           /* ratios of single pairs */
    size_t pairs;
    const struct evidence *missing; /* TIMING_NO_TIME, TIMING_FORGED: the run that it is about */
};

/* Compares evidence->repeats with evidence->references. */
struct timing timing_compare(const struct evidence *evidence, const char *phase, double limit);

/* Seconds that the index-0 phase took in one run; negative: not known. */
double timing_of_phase(const struct evidence *evidence, const char *phase);

#endif
