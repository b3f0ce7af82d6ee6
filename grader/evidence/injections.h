/* injections: chooses which calls of a submission are made to fail, one per run, for a run plan
 * with RUN_INJECTIONS. The choice is a pure function of the run without injected failures.
 *
 * A call is identified by its function name and by its index among all calls of that function in
 * the run. That identifies the same call in a run with several threads, where an index among all
 * calls would differ from run to run.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_INJECTIONS_H
#define OVERLAP_GRADER_EVIDENCE_INJECTIONS_H

#include "grader/evidence/judge.h"

#include <stddef.h>

#define INJECTIONS_MOST 48 /* runs of one lesson */

/* The setting that selects one call. For the software device (OVERLAP_FAIL): "cudaMalloc:2" or
 * "cudaEventQuery:1:alone"; for a call of the submission to the C library, given to the runner
 * (threads/refusals.h): "malloc:2". */
struct injection {
    char which[TRACE_NAME_SIZE + 24];
    bool of_host;
};

/* Chooses, in order, among the calls in the phases DRIVE_INJECTIONS that can fail. All are chosen,
 * or, where there are more than `most`, the first and the last of each source line, and as many of
 * the others as fit, evenly spaced. For a plan with RUN_ENDS: the first and the last of each line
 * in each phase. *calls is set to the number of candidates. Returns how many were chosen. */
size_t injections_choose(const struct evidence *evidence, struct injection *chosen, size_t most,
                         size_t *calls);

#endif
