/* rounds: takes the evidence of a process that ran in rounds apart, so that each round can be
 * judged like a run of its own. Only grader/run/cache.c and tests do that.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_ROUNDS_H
#define OVERLAP_GRADER_EVIDENCE_ROUNDS_H

#include "grader/evidence/evidence.h"

/* Fills in the evidence of round `round` (release with evidence_release): copies of its input, its
 * output and its records. An operation is in the round in which it was asked for. What was printed
 * stays with the whole. Returns 0, or -1: no memory. A round that is not in the record has none. */
int rounds_take(const struct evidence *whole, unsigned round, struct evidence *one);

/* The first call that the student's process made between two rounds, or NULL: what was not waited
 * for, or a thread of its own, works while others are timed. */
const struct trace_record *rounds_call_between(const struct evidence *whole);

#endif
