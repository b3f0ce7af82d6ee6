/* report: checks the times that timing_measure reports: between which readings of the clock they
 * lie, which calls lie between these, and how the times compare with the device's own record. Each
 * function is the body of one check; the student's calls have succeeded.
 */
#ifndef OVERLAP_GRADER_LESSONS_09_HONEST_TIMING_REPORT_H
#define OVERLAP_GRADER_LESSONS_09_HONEST_TIMING_REPORT_H

#include "grader/lessons/09_honest_timing/stretches.h"

void report_readings(struct verdict *verdict, const struct stretches *stretches);
void report_calls(struct verdict *verdict, const struct stretches *stretches);
void report_first(struct verdict *verdict, const struct stretches *stretches);
void report_launch(struct verdict *verdict, const struct stretches *stretches);
void report_waited(struct verdict *verdict, const struct stretches *stretches);
void report_transfers(struct verdict *verdict, const struct stretches *stretches);
void report_events(struct verdict *verdict, const struct stretches *stretches);
void report_parts(struct verdict *verdict, const struct stretches *stretches);

/* Returns true when all five times were written. */
bool report_is_filled(const struct timing_measured *measured);

#endif
