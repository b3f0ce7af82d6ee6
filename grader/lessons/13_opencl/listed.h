/* listed: judges what opencl_devices said, against what OpenCL had said before the student's code
 * was there (the layer's settings). Keeps nothing.
 */
#ifndef OVERLAP_GRADER_LESSONS_13_OPENCL_LISTED_H
#define OVERLAP_GRADER_LESSONS_13_OPENCL_LISTED_H

#include "grader/evidence/judge.h"

void listed_judge_devices(struct verdict *verdict, const struct evidence *evidence);
/* The same where there is no platform. */
void listed_judge_none(struct verdict *verdict, const struct evidence *evidence);

#endif
