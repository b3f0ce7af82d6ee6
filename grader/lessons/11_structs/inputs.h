/* inputs: what the runs of lesson 11 hand to the student's functions: one `prepare` for each run
 * plan. Draws and lays out; judges nothing.
 */
#ifndef OVERLAP_GRADER_LESSONS_11_STRUCTS_INPUTS_H
#define OVERLAP_GRADER_LESSONS_11_STRUCTS_INPUTS_H

#include "grader/evidence/lesson.h"

int inputs_double(struct run_input *input);
int inputs_layout(struct run_input *input);
int inputs_arrays(struct run_input *input);
int inputs_call(struct run_input *input);
/* A case of each step. */
int inputs_each_failure(struct run_input *input);
/* Step 3, small and then timed. */
int inputs_timed(struct run_input *input);

#endif
