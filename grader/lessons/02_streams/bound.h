/* bound: a lower bound on the time of lesson 02, from copies and a kernel that the drive timed in
 * the same run.
 *
 * All lanes have to be copied in; the last lane's kernel and copy out come after that. During that
 * kernel only some lanes can be copied out; the others were copied out before, at the same time as
 * copies in, which then take longer, because both directions share the link. The number of kernels
 * at once is limited by the device.
 */
#ifndef OVERLAP_GRADER_LESSONS_02_STREAMS_BOUND_H
#define OVERLAP_GRADER_LESSONS_02_STREAMS_BOUND_H

#include "grader/evidence/evidence.h"

/* Returns the bound in ns; 0: not known, because the run was not calibrated. */
double streams_bound_ns(const struct evidence *evidence);

#endif
