/* clock: judges the times of opencl_compare against the record: those of events against the
 * device's own times, those of the host against the calls between which the clock was read. Keeps
 * no state.
 */
#ifndef OVERLAP_GRADER_LESSONS_13_OPENCL_CLOCK_H
#define OVERLAP_GRADER_LESSONS_13_OPENCL_CLOCK_H

#include "grader/evidence/judge.h"

/* `phase` is the phase of the call. */
void clock_copies(struct verdict *verdict, const struct evidence *evidence,
                  const struct phase *phase, uint32_t count);
void clock_events(struct verdict *verdict, const struct evidence *evidence,
                  const struct phase *phase);
void clock_host(struct verdict *verdict, const struct evidence *evidence,
                const struct phase *phase);
void clock_total(struct verdict *verdict, const struct evidence *evidence,
                 const struct phase *phase);

#endif
