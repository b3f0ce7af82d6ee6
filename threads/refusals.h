/* refusals: makes calls of the C library fail because the grader says so, to see how a program
 * handles it; like the device's injected errors for CUDA calls.
 *
 *   OVERLAP_REFUSE=            each call that can fail is recorded: a TRACE_HOST_CALL
 *   OVERLAP_REFUSE=NAME:N      and the N-th call of that function fails: malloc:3
 *
 * Only calls made by the watched module itself are recorded and counted, in all its threads and in
 * the processes it forks, with one common count. The chosen call does nothing but set errno and
 * return the function's failure value. REFUSALS_FORK_CHILD is not a function: it means that a
 * signal kills the child before it has done anything. "read, in part" and the like do not fail:
 * they transfer half of the requested bytes.
 *
 * Calls that release something never fail, nothing is chosen at random, and without the variable
 * this module does nothing. threads/refusals.def lists the functions.
 */
#ifndef OVERLAP_THREADS_REFUSALS_H
#define OVERLAP_THREADS_REFUSALS_H

#include "trace/trace.h"

#include <stdbool.h>
#include <stdint.h>

#define REFUSALS_VARIABLE "OVERLAP_REFUSE"
#define REFUSALS_FORK_CHILD "the child of fork"
#define REFUSALS_IN_PART ", in part" /* suffix of a function's name */
/* The `as_if` of every call that fails with EINTR. */
#define REFUSALS_INTERRUPTED "a signal had interrupted it"

/* `text`: the variable's value; NULL: not set. Call it before there are threads; `trace` as for
 * threads_watch. */
void refusals_begin(const char *text, struct trace_writer *trace);

/* The watched module calls `name` from `caller`: records and counts the call. Returns true if the
 * call must fail, "as if" `as_if`. Preserves errno. */
bool refusals_strike(const char *name, uintptr_t caller, const char *as_if);

#endif
