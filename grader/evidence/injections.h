/* injections: which calls of a submission are made to fail, one in a run of its own, for a run plan
 * with RUN_INJECTIONS. A pure function of the run in which none was.
 *
 * A call is known by its function and by which of that function's calls in the whole run it is: so
 * it is found again in a run with several threads, where a number among all calls would be another
 * call's each time.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_INJECTIONS_H
#define OVERLAP_GRADER_EVIDENCE_INJECTIONS_H

#include "grader/evidence/judge.h"

#include <stddef.h>

#define INJECTIONS_MOST 48 /* runs of one lesson */

/* What the software device is told (OVERLAP_FAIL), "cudaMalloc:2", "cudaEventQuery:1:alone", or, of
 * the C library's calls that the submission makes, what the runner is told (threads/refusals.h):
 * "malloc:2". */
struct injection {
    char which[TRACE_NAME_SIZE + 24];
    bool of_host;
};

/* Chooses among the calls in the phases DRIVE_INJECTIONS that can fail, in their order: all, or
 * where there are more than `most`, the first and the last that each line of source made, and of
 * the others as many as there is room for, evenly; of a plan with RUN_ENDS the first and the last
 * that each line made in each phase. *calls: how many there are. */
size_t injections_choose(const struct evidence *evidence, struct injection *chosen, size_t most,
                         size_t *calls);

#endif
