/* The calls of events_time_one and events_time_each in the evidence of lesson 03: what they were
 * given, what they answered, the kernels that they launched and the events around these. Judges
 * nothing but whether there is something to judge.
 */
#ifndef OVERLAP_GRADER_LESSONS_03_EVENTS_CALLS_H
#define OVERLAP_GRADER_LESSONS_03_EVENTS_CALLS_H

#include "grader/evidence/answer.h"
#include "grader/evidence/judge.h"
#include "grader/lessons/03_events/exchange.h"

#include <stdbool.h>
#include <stdint.h>

#define EVENTS_ONE "events_time_one"
#define EVENTS_EACH "events_time_each"

struct events_view {
    const struct evidence *evidence;
    const struct events_input *in;
    const struct events_output *out;
};
struct events_view events_look(const struct evidence *evidence);

/* A call of one of the functions that launch: its phase, and its tasks, from `first` on. */
struct events_called {
    struct phase phase;
    struct answer answer;
    uint32_t first, count;
    const float *milliseconds;
};

enum events_which { EVENTS_CALL_ONE, EVENTS_CALL_FEW, EVENTS_CALL_MANY, EVENTS_CALL_COUNT };

/* *called must stay where it is: its answer points into it. */
void events_call_look(const struct events_view *view, enum events_which which,
                      struct events_called *called);
/* False: the call did not succeed, and the verdict says why. */
bool events_call_succeeded(struct verdict *verdict, const struct events_view *view,
                           enum events_which which, struct events_called *called);
/* The same in one line. */
bool events_call_get(struct verdict *verdict, const struct events_view *view,
                     enum events_which which, struct events_called *called);

/* The device's record of the kernel that the i-th of the call's tasks launched: what tells kernels
 * apart is their stream; the drive made one per task, in their order. NULL: there is none. */
const struct trace_record *events_kernel_of(const struct evidence *evidence,
                                            const struct events_called *called, uint32_t i);
/* The kernel, or a verdict that says that there is none. */
const struct trace_record *events_kernel_get(struct verdict *verdict,
                                             const struct events_view *view,
                                             const struct events_called *called, uint32_t i);

/* The last cudaEventRecord before the kernel's launch in its stream, and the first one after it;
 * NULL where there is none. */
struct events_around {
    const struct trace_record *launch, *before, *after;
};
struct events_around events_around_kernel(const struct evidence *evidence,
                                          const struct events_called *called,
                                          const struct trace_record *kernel);

#endif
