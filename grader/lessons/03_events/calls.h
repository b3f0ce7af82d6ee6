/* The calls of events_time_one and events_time_each in the evidence of lesson 03: their arguments
 * and results, the kernels that they launched and the events around these. The only failure
 * reported here is that a call cannot be judged.
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

/* A call of one of the functions that launch: its phase, and its `count` tasks from `first` on. */
struct events_called {
    struct phase phase;
    struct answer answer;
    uint32_t first, count;
    const float *milliseconds;
};

enum events_which { EVENTS_CALL_ONE, EVENTS_CALL_FEW, EVENTS_CALL_MANY, EVENTS_CALL_COUNT };

/* Fills in *called, which must stay where it is, because its answer points into it. */
void events_call_look(const struct events_view *view, enum events_which which,
                      struct events_called *called);
/* As events_call_look. False: the call did not succeed, and the verdict has failed with the
 * reason. */
bool events_call_succeeded(struct verdict *verdict, const struct events_view *view,
                           enum events_which which, struct events_called *called);
/* As events_call_succeeded, with a failure of one line. */
bool events_call_get(struct verdict *verdict, const struct events_view *view,
                     enum events_which which, struct events_called *called);

/* Returns the device's record of the kernel that the call's i-th task launched. Kernels are told
 * apart by their streams, of which the drive made one per task, in order. NULL: there is none. */
const struct trace_record *events_kernel_of(const struct evidence *evidence,
                                            const struct events_called *called, uint32_t i);
/* As events_kernel_of; without a kernel the verdict fails. */
const struct trace_record *events_kernel_get(struct verdict *verdict,
                                             const struct events_view *view,
                                             const struct events_called *called, uint32_t i);

/* The kernel's launch, the last cudaEventRecord before it in its stream, and the first after it;
 * NULL where there is none. */
struct events_around {
    const struct trace_record *launch, *before, *after;
};
struct events_around events_around_kernel(const struct evidence *evidence,
                                          const struct events_called *called,
                                          const struct trace_record *kernel);

#endif
