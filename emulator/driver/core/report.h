/* report: the trace's records of objects, memory and findings, and the sentences about them.
 *
 * It never decides that something is wrong.
 */
#ifndef OVERLAP_DRIVER_CORE_REPORT_H
#define OVERLAP_DRIVER_CORE_REPORT_H

#include "emulator/driver/core/object.h"

void trace_object(const struct object *object, enum trace_kind kind, enum trace_what what,
                  unsigned flags);
void trace_memory(const struct memory_region *region, enum trace_kind kind, unsigned flags);
/* The number of the TRACE_STACK with the calls that led to `caller`, which it writes if it is new;
 * 0 where the trace wants none. For a signal handler too. */
uint32_t stack_note(uint64_t caller);
void stack_after_fork(void);

/* What a finding says, on stderr, unless OVERLAP_QUIET is set: whoever reads the trace prints it.
 */
void finding_say(const char *sentence);
/* Puts a finding into the trace and says it; or counts it, where the same has been found at the
 * same call. */
void finding_put(const struct trace_record *record);
/* A finding at the current call; printf-like. */
void finding(const char *kind, CUresult code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* "device memory of 4096 bytes, allocated ..." for sentences. */
void describe_region(const struct memory_region *region, char *text, size_t size);
/* ", allocated by the call before 0x..., freed by the call before 0x..."; what is 0 is left out. */
void describe_life(uint64_t made, const char *making, uint64_t ended, const char *ending,
                   char *text, size_t size);
/* "1 byte", "4096 bytes", for the length of one expression. */
struct counted {
    char text[32];
};
struct counted count_bytes(uint64_t bytes);
/* Why `address` is no device memory, as the second half of a sentence. */
void describe_miss(uint64_t address, char *text, size_t size);

#endif
