/* report: trace records of objects and memory, and where in the program a call was made. It never
 * reports findings (findings/finding.h).
 */
#ifndef OVERLAP_DRIVER_CORE_REPORT_H
#define OVERLAP_DRIVER_CORE_REPORT_H

#include "emulator/driver/core/object.h"

void trace_object(const struct object *object, enum trace_kind kind, enum trace_what what,
                  unsigned flags);
void trace_memory(const struct memory_region *region, enum trace_kind kind, unsigned flags);
/* Fills in the fields that describe the thread's current call: request, caller, stack, time. */
void trace_at_call(struct trace_record *record);
/* Returns the number of the TRACE_STACK of the calls that led to `caller`, and writes that record
 * if the stack is new. Returns 0 where the trace wants no stacks. Safe in a signal handler. */
uint32_t stack_note(uint64_t caller);

/* Returns to what multiple of bytes kernels may load past the end of memory that the call allocates
 * which returns to `caller`, since the library that made the call pads its memory so; 0: they may
 * not. */
unsigned stack_padding(uint64_t caller);
void stack_after_fork(void);

#endif
