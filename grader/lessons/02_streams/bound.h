/* bound: what the device cannot beat in lesson 02, by what the drive calibrated in the same run.
 *
 * All lanes have to go in, and the last one's kernel and copy out come behind that. In the time of
 * that kernel only so many lanes can go out: the others have gone out before, beside copies in,
 * which then take longer, because both directions share the link. Nor can there be more kernels at
 * once than the device holds.
 */
#ifndef OVERLAP_GRADER_LESSONS_02_STREAMS_BOUND_H
#define OVERLAP_GRADER_LESSONS_02_STREAMS_BOUND_H

#include "grader/evidence/evidence.h"

/* In ns; 0: not known, the run was not calibrated. */
double streams_bound_ns(const struct evidence *evidence);

#endif
