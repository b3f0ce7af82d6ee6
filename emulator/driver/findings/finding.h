/* findings: builds a finding (trace/finding.h) from what the device knows of operations, objects
 * and memory, and reports it: in the trace, and on stderr unless OVERLAP_QUIET is set. A repeated
 * finding is only counted. This module writes no sentences; they come from trace/findings.def.
 *
 *     struct trace_record found = finding_at_call(FINDING_DOUBLE_FREE, CUDA_ERROR_INVALID_VALUE);
 *     finding_address(&found, address);
 *     finding_put(&found);
 */
#ifndef OVERLAP_DRIVER_FINDINGS_FINDING_H
#define OVERLAP_DRIVER_FINDINGS_FINDING_H

#include "emulator/driver/core/core.h"

/* Begins a finding at the thread's current call; `code` is what the call will return. */
struct trace_record finding_at_call(enum trace_finding_id id, CUresult code);
/* Begins a finding at the call that submitted `work`, the record of an operation; that operation
 * becomes the finding's first side. `stream_call`: return address of the call that created its
 * stream. */
struct trace_record finding_at_work(enum trace_finding_id id, const struct trace_record *work,
                                    uint64_t stream_call);

/* Sets the second side to the operation of `work`; parameters as above. */
void finding_other(struct trace_record *found, const struct trace_record *work,
                   uint64_t stream_call);
/* Sets the second side to the current call. Does nothing outside of a call. */
void finding_other_call(struct trace_record *found);

/* Copies what exec found in the kernel: access, place and line of the first side, the numbers and
 * the words. */
void finding_of_fault(struct trace_record *found, const struct trace_finding *fault);

/* Sets the device-code line of a side. `file` NULL or `line` 0: unknown, nothing is set. */
void finding_line(struct trace_record *found, int side, const char *file, uint32_t line);

/* Set one of the things that the sentence mentions, 0 to TRACE_THINGS - 1. */
void finding_object(struct trace_record *found, int thing, const struct object *object);
void finding_kind(struct trace_record *found, int thing, enum object_kind kind);
/* `region` NULL: ordinary host memory. */
void finding_memory(struct trace_record *found, int thing, const struct memory_region *region);
/* Sets the finding's address, with the memory there or nearby as thing 0. */
void finding_address(struct trace_record *found, uint64_t address);

__attribute__((format(printf, 2, 3))) void finding_detail(struct trace_record *found,
                                                          const char *format, ...);

/* Reports the finding, or counts it if it was reported before. */
void finding_put(const struct trace_record *found);

/* Reports a finding at the current call that has a detail and nothing else. Returns `code`.
 */
__attribute__((format(printf, 3, 4))) CUresult finding_tell(enum trace_finding_id id, CUresult code,
                                                            const char *format, ...);
/* The same for "the software device does not support ...". Returns CUDA_ERROR_NOT_SUPPORTED. */
__attribute__((format(printf, 1, 2))) CUresult finding_unsupported(const char *format, ...);

/* What to tell of a library of NVIDIA's that carries machine code only, by its file name without
 * folders; FINDING_NONE: it is no such library. */
enum trace_finding_id finding_of_library(const char *file);

#endif
