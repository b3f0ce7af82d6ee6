/* bound: what nobody who does the whole work can do without, by the record of the reference
 * solution's run of the same inputs: so much time, so many bytes copied, a kernel that takes as
 * long. It is what a time is held against that looks too short to be true; what may be too long is
 * in thresholds.def as well.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_BOUND_H
#define OVERLAP_GRADER_EVIDENCE_BOUND_H

#include "grader/evidence/judge.h"

#include <stdint.h>

/* Seconds of the reference's `phase` that its plan's threshold says cannot be left out
 * (enum threshold_bound), by its own record, and times the threshold's part of it. 0: the record
 * does not say. */
double bound_of(const struct evidence *reference, const char *phase);

/* What a run copied, and how long its longest kernel took, in the phase; 0 where contexts are what
 * is timed. */
struct work {
    uint64_t bytes_in, bytes_out; /* to the device, from it */
    double kernel_s;
};
struct work work_of(const struct evidence *evidence, const char *phase);

/* "the work on the device" */
const char *bound_in_words(enum threshold_bound bound);

#endif
