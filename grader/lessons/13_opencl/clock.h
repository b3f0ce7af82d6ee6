/* clock: judges the times of opencl_compare against the record: the events' against the device's
 * own, the host's against where in the course of the calls its clock was read. Keeps nothing.
 */
#ifndef OVERLAP_GRADER_LESSONS_13_OPENCL_CLOCK_H
#define OVERLAP_GRADER_LESSONS_13_OPENCL_CLOCK_H

#include "grader/evidence/judge.h"

/* All of them get the phase of the call. */
void clock_copies(struct verdict *verdict, const struct evidence *evidence,
                  const struct phase *phase, uint32_t count);
void clock_events(struct verdict *verdict, const struct evidence *evidence,
                  const struct phase *phase);
void clock_host(struct verdict *verdict, const struct evidence *evidence,
                const struct phase *phase);
void clock_total(struct verdict *verdict, const struct evidence *evidence,
                 const struct phase *phase);

#endif
