/* findings: makes a finding (trace/finding.h) of what the device knows of operations, objects and
 * memory, and tells it: in the trace, and on stderr unless OVERLAP_QUIET is set. The same again is
 * counted. What it says in English is trace/findings.def's matter; nothing here writes sentences.
 *
 *     struct trace_record found = finding_at_call(FINDING_DOUBLE_FREE, CUDA_ERROR_INVALID_VALUE);
 *     finding_address(&found, address);
 *     finding_put(&found);
 */
#ifndef OVERLAP_DRIVER_FINDINGS_FINDING_H
#define OVERLAP_DRIVER_FINDINGS_FINDING_H

#include "emulator/driver/core/core.h"

/* At the thread's current call; `code` is what the call will return. */
struct trace_record finding_at_call(enum trace_finding_id id, CUresult code);
/* At the call that asked for `work`, an operation's record, which is this side. `stream_call`: who
 * made its stream. */
struct trace_record finding_at_work(enum trace_finding_id id, const struct trace_record *work,
                                    uint64_t stream_call);

/* The other side: `work`, as above. */
void finding_other(struct trace_record *found, const struct trace_record *work,
                   uint64_t stream_call);
/* The other side is the current call; nothing outside of a call. */
void finding_other_call(struct trace_record *found);

/* What exec found of the work: this side's access, place and line, the numbers and the words. */
void finding_of_fault(struct trace_record *found, const struct trace_finding *fault);

/* Where in device code a side is; NULL: unknown. */
void finding_line(struct trace_record *found, int side, const char *file, uint32_t line);

/* The things that the sentence speaks of, 0 to TRACE_THINGS - 1. */
void finding_object(struct trace_record *found, int thing, const struct object *object);
void finding_kind(struct trace_record *found, int thing, enum object_kind kind);
/* `region` NULL: the host's own memory. */
void finding_memory(struct trace_record *found, int thing, const struct memory_region *region);
/* The address that it is about, with the memory there or nearby as thing 0. */
void finding_address(struct trace_record *found, uint64_t address);

__attribute__((format(printf, 2, 3))) void finding_detail(struct trace_record *found,
                                                          const char *format, ...);

/* Tells it, or counts it where it was told before. */
void finding_put(const struct trace_record *found);

/* All of it for a finding at the current call that has a detail and nothing else. Returns `code`.
 */
__attribute__((format(printf, 3, 4))) CUresult finding_tell(enum trace_finding_id id, CUresult code,
                                                            const char *format, ...);
/* The same for "the software device does not support ...". */
__attribute__((format(printf, 1, 2))) CUresult finding_unsupported(const char *format, ...);

#endif
