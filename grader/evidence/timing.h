/* timing: how long a phase of a run took, by the clock that fits its device, and what several such
 * times, taken in turn with the reference solution's, allow to conclude. verdict_time_ratio
 * (judge.h) is built on it.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_TIMING_H
#define OVERLAP_GRADER_EVIDENCE_TIMING_H

#include "grader/evidence/bound.h"
#include "grader/evidence/judge.h"
#include "grader/evidence/ratio.h"

/* The lower bound as a fraction of the reference's time, used where the record gives no higher
 * bound (bound.h): no right submission can be that much faster. Not used with BOUND_NONE. */
#define TIMING_LEAST 0.1

enum timing_outcome {
    TIMING_MET,
    TIMING_NOT_MET,
    TIMING_TOO_NOISY, /* the limit lies within what the samples leave open */
    TIMING_NO_TIME,   /* a run lacks the phase, or no record has a time */
    TIMING_FORGED,  /* the phase is shorter than the device's work in it, or than the parent saw */
    TIMING_BETWEEN, /* the submission worked while others were timed */
    TIMING_TOO_SHORT, /* shorter than the bound */
    TIMING_LEFT_OUT,  /* the submission's device work is less than the reference's */
};

struct timing {
    enum timing_outcome outcome;
    struct ratio ratio;             /* with MET, NOT_MET and TOO_NOISY */
    double bound_s;                 /* a shorter time is not believed */
    bool tenth;                     /* bound_s is TIMING_LEAST of the reference's time */
    struct work work, whole;        /* TIMING_LEFT_OUT: the submission's and the reference's */
    size_t set_aside;               /* disturbed pairs, not counted in ratio */
    const struct evidence *missing; /* TIMING_NO_TIME, TIMING_FORGED: the run that is meant */
};

/* Compares evidence->repeats with evidence->references, by the plan's phase and threshold. */
struct timing timing_compare(const struct evidence *evidence);

/* Returns the seconds that the phase of index 0 took in one run; negative: not known. */
double timing_of_phase(const struct evidence *evidence, const char *phase);

/* As timing_of_phase, for the phase of that index. */
double timing_of_phase_at(const struct evidence *evidence, const char *phase, uint32_t index);

/* Returns true when `seconds` is less than the time that copying the given bytes to and from the
 * device takes at the fastest rate of any copy in this run; then the timed work was not done in
 * that time. *least_s is set to the time that the copies take. */
bool timing_beats_the_link(const struct evidence *evidence, double seconds, uint64_t bytes_in,
                           uint64_t bytes_out, double *least_s);

/* Returns the longest time, in nanoseconds, that two events around a kernel can rightly report. An
 * idle device stamps the first event when the host asks for it, so the host's way from there to the
 * launch is part of the time, and so is any interruption of the host. The result spans from the
 * request for the first event to the request for the second, or to the kernel's end. */
double timing_most_between_events(const struct trace_record *before,
                                  const struct trace_record *kernel,
                                  const struct trace_record *after);

/* "1.02 times the reference's time, 95 % between 0.97 and 1.06, from 14 pairs" */
void timing_say_ratio(const struct ratio *ratio, const char *whose, char *text, size_t size);
/* "3.21 ms" */
const char *timing_in_words(double seconds, char *text, size_t size);

#endif
