/* The checks of events_statistics in lesson 03: mean and standard deviation, which the judge
 * computes itself in two passes, and explanations of wrong results. No CUDA, no events.
 */
#ifndef OVERLAP_GRADER_LESSONS_03_EVENTS_STATISTICS_H
#define OVERLAP_GRADER_LESSONS_03_EVENTS_STATISTICS_H

#include "grader/evidence/judge.h"
#include "grader/lessons/03_events/exchange.h"

#define STATISTICS "events_statistics"

/* Draws the sets of numbers: widely spread; a single one; large ones that differ by little;
 * many. */
void statistics_draw(struct random_source *random, struct events_input *in);

/* Returns true when the student's function made no CUDA call in the phase of that name; otherwise
 * the verdict fails. */
bool statistics_calls_nothing(struct verdict *verdict, const struct evidence *evidence,
                              const char *phase);

/* A check: mean and deviation of all sets are right to six digits. */
void statistics_judge(struct verdict *verdict, const struct evidence *evidence);

#endif
