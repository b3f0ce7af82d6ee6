/* rounds: splits the evidence of a process that ran in rounds, so that each round can be judged
 * like a run of its own. Only grader/run/cache.c and tests use it.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_ROUNDS_H
#define OVERLAP_GRADER_EVIDENCE_ROUNDS_H

#include "grader/evidence/evidence.h"

/* Fills in the evidence of round `round` (release it with evidence_release): copies of its input,
 * output and records. An operation belongs to the round in which it was asked for. Printed text
 * stays with the whole. A round that the record lacks has no records. Returns 0, or -1: no
 * memory. */
int rounds_take(const struct evidence *whole, unsigned round, struct evidence *one);

/* Returns the first call that the student's process made between two rounds, or NULL. Such a call
 * comes from work that was not waited for, or from a thread of the student's, and runs while others
 * are timed. */
const struct trace_record *rounds_call_between(const struct evidence *whole);

#endif
