/* What lesson 03 asks of events_statistics: the mean and the deviation of numbers that the judge
 * reckons itself, in two passes, and what a wrong one looks like. No CUDA, no events.
 */
#ifndef OVERLAP_GRADER_LESSONS_03_EVENTS_STATISTICS_H
#define OVERLAP_GRADER_LESSONS_03_EVENTS_STATISTICS_H

#include "grader/evidence/judge.h"
#include "grader/lessons/03_events/exchange.h"

#define STATISTICS "events_statistics"

/* Draws the numbers: with spread; one alone; large ones that differ by little; many. */
void statistics_draw(struct random_source *random, struct events_input *in);

/* True when the student's function made no CUDA call in the phase of that name. */
bool statistics_calls_nothing(struct verdict *verdict, const struct evidence *evidence,
                              const char *phase);

/* A check: mean and deviation of all sets are right to six digits. */
void statistics_judge(struct verdict *verdict, const struct evidence *evidence);

#endif
