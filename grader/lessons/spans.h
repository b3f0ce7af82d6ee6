/* spans: how long a phase took on the device's clock, for figures that compare two phases of one
 * run (serial against overlapped). Ratios between submission and reference are
 * verdict_time_ratio's.
 */
#ifndef OVERLAP_GRADER_LESSONS_SPANS_H
#define OVERLAP_GRADER_LESSONS_SPANS_H

#include "grader/judge.h"

/* Nanoseconds. On the emulator: virtual time from the first start to the last end of the calls and
 * operations asked for in the phase. On a GPU: wall time between the marks. 0: nothing happened. */
uint64_t spans_phase(const struct evidence *evidence, const struct phase *phase);

/* The duration in ns of the last operation that `query` selects, and its size in *bytes (may be
 * NULL); 0 when there is none, or the device gave it no time. */
uint64_t spans_last(const struct evidence *evidence, const struct query *query, uint64_t *bytes);

#endif
