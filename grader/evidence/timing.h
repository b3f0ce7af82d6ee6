/* timing: how long a phase of a run took, by the clock that fits its device, and what a number of
 * such times, taken in turn with the reference solution's, allows to say. verdict_time_ratio
 * (judge.h) is made of it.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_TIMING_H
#define OVERLAP_GRADER_EVIDENCE_TIMING_H

#include "grader/evidence/bound.h"
#include "grader/evidence/judge.h"
#include "grader/evidence/ratio.h"

/* Of the reference's time, where its record gives no higher bound (bound.h): it has nothing to
 * spare that would make room for less; but where the threshold's bound is BOUND_NONE. */
#define TIMING_LEAST 0.1

enum timing_outcome {
    TIMING_MET,
    TIMING_NOT_MET,
    TIMING_TOO_NOISY, /* the limit lies within what the samples leave open */
    TIMING_NO_TIME,   /* the phase is missing in some run, or no record has a time */
    TIMING_FORGED,    /* the phase is shorter than what the device did in it, or than it was seen */
    TIMING_BETWEEN,   /* the submission worked while others were timed */
    TIMING_TOO_SHORT, /* less than the bound */
    TIMING_LEFT_OUT,  /* the submission had less done than the reference */
};

struct timing {
    enum timing_outcome outcome;
    struct ratio ratio;             /* of MET, NOT_MET and TOO_NOISY */
    double bound_s;                 /* less is not believed */
    bool tenth;                     /* it is TIMING_LEAST of the reference's time */
    struct work work, whole;        /* TIMING_LEFT_OUT: the submission's and the reference's */
    size_t set_aside;               /* pairs that were disturbed, and are not counted in it */
    const struct evidence *missing; /* TIMING_NO_TIME, TIMING_FORGED: the run that it is about */
};

/* Compares evidence->repeats with evidence->references, by the plan's phase and threshold. */
struct timing timing_compare(const struct evidence *evidence);

/* Seconds that the index-0 phase took in one run; negative: not known. */
double timing_of_phase(const struct evidence *evidence, const char *phase);

/* The same of the index-th. */
double timing_of_phase_at(const struct evidence *evidence, const char *phase, uint32_t index);

/* Is it less than copying so many bytes to the device, or from it, takes at the fastest rate that
 * any copy in this run had? Then what was timed was not done in that time. `least_s`: what it
 * takes. */
bool timing_beats_the_link(const struct evidence *evidence, double seconds, uint64_t bytes_in,
                           uint64_t bytes_out, double *least_s);

/* As much, in nanoseconds, as two events around a kernel can say. A device with nothing to do
 * stamps the first one when it is asked for, so the host's way from there to the launch is in the
 * time, and a host that is interrupted there is late: all of it is from the asking for the first
 * event to the asking for the second, or to the kernel's end. */
double timing_most_between_events(const struct trace_record *before,
                                  const struct trace_record *kernel,
                                  const struct trace_record *after);

/* "1.02 times the reference's time, 95 % between 0.97 and 1.06, from 14 pairs" */
void timing_say_ratio(const struct ratio *ratio, const char *whose, char *text, size_t size);
/* "3.21 ms" */
const char *timing_in_words(double seconds, char *text, size_t size);

#endif
