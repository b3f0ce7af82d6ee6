/* bound: lower bounds on the work and time of a submission, taken from the record of the reference
 * solution's run with the same inputs: the time, the bytes copied and the duration of a kernel that
 * nobody who does the whole work can save. A time below its bound is not believed. Upper limits on
 * time are in thresholds.def.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_BOUND_H
#define OVERLAP_GRADER_EVIDENCE_BOUND_H

#include "grader/evidence/judge.h"

#include <stdint.h>

/* Returns the lower bound in seconds for `phase`: the part of the reference's recorded work that
 * the plan's threshold names (enum threshold_bound), times the threshold's `part`. 0: the record
 * does not say. */
double bound_of(const struct evidence *reference, const char *phase);

/* The bytes that a run copied in the phase and the duration of its longest kernel; all 0 where the
 * timed work is making contexts. */
struct work {
    uint64_t bytes_in, bytes_out; /* to the device, from it */
    double kernel_s;
};
struct work work_of(const struct evidence *evidence, const char *phase);

/* Names the bound in a sentence: "the work on the device". */
const char *bound_in_words(enum threshold_bound bound);

#endif
