/* listed: judges the results of opencl_devices against what OpenCL reported before the student's
 * code was loaded (the layer's settings). Keeps no state.
 */
#ifndef OVERLAP_GRADER_LESSONS_13_OPENCL_LISTED_H
#define OVERLAP_GRADER_LESSONS_13_OPENCL_LISTED_H

#include "grader/evidence/judge.h"

void listed_judge_devices(struct verdict *verdict, const struct evidence *evidence);
/* The same for a system without a platform. */
void listed_judge_none(struct verdict *verdict, const struct evidence *evidence);

#endif
