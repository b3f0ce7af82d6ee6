/* report: the trace's records of objects and memory, and where in the program a call was made.
 * Findings are findings/finding.h's.
 */
#ifndef OVERLAP_DRIVER_CORE_REPORT_H
#define OVERLAP_DRIVER_CORE_REPORT_H

#include "emulator/driver/core/object.h"

void trace_object(const struct object *object, enum trace_kind kind, enum trace_what what,
                  unsigned flags);
void trace_memory(const struct memory_region *region, enum trace_kind kind, unsigned flags);
/* Fills in what the current call of the thread says: request, caller, stack, time. */
void trace_at_call(struct trace_record *record);
/* The number of the TRACE_STACK with the calls that led to `caller`, which it writes if it is new;
 * 0 where the trace wants none. For a signal handler too. */
uint32_t stack_note(uint64_t caller);
void stack_after_fork(void);

#endif
