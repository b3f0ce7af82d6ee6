/* evidence: makes, seals and releases the evidence that the queries of judge.h read. Only
 * grader/run/run.c and tests make evidence; judges see it as const.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_EVIDENCE_H
#define OVERLAP_GRADER_EVIDENCE_EVIDENCE_H

#include "grader/evidence/judge.h"

/* Builds the index of evidence->trace that the queries use. Returns 0, or -1: no memory. */
int evidence_index_build(struct evidence *evidence);

/* Returns the next record after `after` (NULL: from the start) with this kind (TRACE_CREATE,
 * TRACE_DESTROY, TRACE_STACK) and the same process, what and object as `named`; with `what` none,
 * the next TRACE_CALL that the thread `object` made. NULL: there is none. The lookup uses the index
 * and does not scan the record. */
const struct trace_record *evidence_object(const struct evidence *evidence, uint32_t kind,
                                           const struct trace_record *named,
                                           const struct trace_record *after);

/* Makes input, output and records read-only. A judge that writes to them is killed by the fault,
 * and no other judge sees the write. All three must come from trace/large.h. */
void evidence_seal(const struct evidence *evidence);

/* Frees input, output and trace (from trace/large.h), and printed and index (from malloc). Does not
 * free the sources. */
void evidence_release(struct evidence *evidence);

/* Returns true when the run ended well and its record is complete, so that a judge may see it. */
bool evidence_usable(const struct evidence *evidence);

/* Writes how the run ended, as the end of a sentence that begins with "The program": "was stopped
 * by signal 11 (segmentation fault)". */
void evidence_describe_ending(const struct evidence *evidence, char *text, size_t size);

/* For a run that was stopped: finds the innermost line of the student's on its stack. False:
 * none. */
bool evidence_ending_place(const struct evidence *evidence, struct place *place);

/* Writes the sentence of a finding, with the lines of the calls that the finding names. */
void evidence_sentence(const struct evidence *evidence, const struct trace_record *finding,
                       char *text, size_t size);

#endif
