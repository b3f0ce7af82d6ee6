/* inputs: the inputs of lesson 11's runs: one `prepare` callback for each run plan. Draws the
 * inputs and lays them out; judges nothing.
 */
#ifndef OVERLAP_GRADER_LESSONS_11_STRUCTS_INPUTS_H
#define OVERLAP_GRADER_LESSONS_11_STRUCTS_INPUTS_H

#include "grader/evidence/lesson.h"

int inputs_double(struct run_input *input);
int inputs_layout(struct run_input *input);
int inputs_arrays(struct run_input *input);
int inputs_call(struct run_input *input);
/* One case of each step. */
int inputs_each_failure(struct run_input *input);
/* Step 3, first small, then timed. */
int inputs_timed(struct run_input *input);

#endif
