/* refused: judges the run in which calls are made to fail, one in each call of the student's
 * functions. They share one process, because loading PoCL and its compilation are most of the cost.
 */
#ifndef OVERLAP_GRADER_LESSONS_13_OPENCL_REFUSED_H
#define OVERLAP_GRADER_LESSONS_13_OPENCL_REFUSED_H

#include "grader/evidence/judge.h"

void refused_judge(struct verdict *verdict, const struct evidence *evidence);

#endif
