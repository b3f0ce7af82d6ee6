/* threads_refusals: calls of the C library that fail because the grader says so, to see what a
 * program makes of it, as the device's injected errors do for CUDA's calls.
 *
 *   OVERLAP_REFUSE=            each call that can fail is told in the trace: a TRACE_HOST_CALL
 *   OVERLAP_REFUSE=NAME:N      and the N-th of that function fails: malloc:3
 *
 * Only calls that the watched module makes itself are told and count, in all its threads and in the
 * processes that it forks together with its own. One call fails: it does nothing but return what
 * that function returns when it fails, with errno set. FORK_CHILD is no function: it is a child
 * that a signal ends before it has done anything. "read, in part" and its kin do not fail: they
 * move half of the bytes that they were asked to.
 *
 * It never fails a call that gives something back, chooses nothing by chance, and does nothing at
 * all where the variable is not set. Which functions: threads/refusals.def.
 */
#ifndef OVERLAP_THREADS_REFUSALS_H
#define OVERLAP_THREADS_REFUSALS_H

#include "trace/trace.h"

#include <stdbool.h>
#include <stdint.h>

#define REFUSALS_VARIABLE "OVERLAP_REFUSE"
#define REFUSALS_FORK_CHILD "the child of fork"
#define REFUSALS_IN_PART ", in part" /* behind the function's name */

/* `text`: the variable's value; NULL: it is not set. Before there are threads; `trace` as for
 * threads_watch. */
void refusals_begin(const char *text, struct trace_writer *trace);

/* The watched module calls `name` from `caller`: told, counted. True: it has to fail, "as if"
 * `as_if`. Changes no errno. */
bool refusals_strike(const char *name, uintptr_t caller, const char *as_if);

#endif
