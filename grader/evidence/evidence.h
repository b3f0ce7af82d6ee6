/* evidence: making and releasing what judge.h's queries read. Only grader/run/run.c and tests make
 * evidence; judges see it as const.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_EVIDENCE_H
#define OVERLAP_GRADER_EVIDENCE_EVIDENCE_H

#include "grader/evidence/judge.h"

/* Prepares the queries for evidence->trace. Returns 0, or -1: no memory. */
int evidence_index_build(struct evidence *evidence);

/* The first record after `after` (NULL: of all) that is of that kind (TRACE_CREATE, TRACE_DESTROY,
 * TRACE_STACK) and about what `named` names by process, what and object, or a TRACE_CALL made by
 * the thread that is its object (what: none); or NULL. It does not go through the record for it. */
const struct trace_record *evidence_object(const struct evidence *evidence, uint32_t kind,
                                           const struct trace_record *named,
                                           const struct trace_record *after);

/* Input, output and records stay as they are from now on: a judge that writes there is ended by it,
 * and no other sees what it wrote. All three come from trace/large.h. */
void evidence_seal(const struct evidence *evidence);

/* Frees input, output and trace, which come from trace/large.h, and printed and index, which come
 * from malloc; not the sources. */
void evidence_release(struct evidence *evidence);

/* It ended well, and its record is whole: a judge may see it. */
bool evidence_usable(const struct evidence *evidence);

/* "was stopped by signal 11 (segmentation fault)": how the run ended, as the end of a sentence that
 * begins with "The program". */
void evidence_describe_ending(const struct evidence *evidence, char *text, size_t size);

/* Of a run that was stopped: the innermost line of the student's that it was in. */
bool evidence_ending_place(const struct evidence *evidence, struct place *place);

/* What a finding says, with the lines of the calls that it names. */
void evidence_sentence(const struct evidence *evidence, const struct trace_record *finding,
                       char *text, size_t size);

#endif
