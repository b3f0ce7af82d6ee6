/* Checks what happens between a kernel's two events: the kernel's launch, and nothing else. Looks
 * at the record of calls and work, never at a time.
 */
#ifndef OVERLAP_GRADER_LESSONS_03_EVENTS_BETWEEN_H
#define OVERLAP_GRADER_LESSONS_03_EVENTS_BETWEEN_H

#include "grader/lessons/03_events/calls.h"

/* Returns true when, between one of the kernel's events and its launch, the same host thread
 * launches other kernels, which then are part of the measured time. The verdict fails at the line
 * that records that event. */
bool events_say_between(struct verdict *verdict, const struct evidence *evidence,
                        const struct events_called *called, const struct trace_record *kernel,
                        uint32_t i);

/* A check: between the two events of each kernel there is the kernel's launch, no other kernel's
 * launch, and no call of the student's that may take time. */
void events_judge_between(struct verdict *verdict, const struct evidence *evidence);

#endif
