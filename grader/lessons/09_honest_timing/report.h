/* report: what the judge of lesson 09 says of the times that timing_measure reports: which readings
 * they are of, what lies between, and how they compare with the device's own record. Each function
 * is what one check judges; the calls have succeeded.
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

/* All five times have been written. */
bool report_is_filled(const struct timing_measured *measured);

#endif
