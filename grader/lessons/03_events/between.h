/* What stands between a kernel's two events: its launch, and nothing else. Looks at the record of
 * calls and work, never at a time.
 */
#ifndef OVERLAP_GRADER_LESSONS_03_EVENTS_BETWEEN_H
#define OVERLAP_GRADER_LESSONS_03_EVENTS_BETWEEN_H

#include "grader/lessons/03_events/calls.h"

/* Between one of the kernel's events and its launch the same host thread launches others, which
 * take part in what is measured: true, the verdict fails where that event is recorded. */
bool events_say_between(struct verdict *verdict, const struct evidence *evidence,
                        const struct events_called *called, const struct trace_record *kernel,
                        uint32_t i);

/* A check: between the two events of each kernel there is its launch, and neither another kernel's
 * nor a call of the student's that may take time. */
void events_judge_between(struct verdict *verdict, const struct evidence *evidence);

#endif
