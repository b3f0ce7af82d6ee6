/* given: the streams that a lesson's drive made and passed to the student's functions, and work
 * that went to other streams. Reads the record only.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_GIVEN_H
#define OVERLAP_GRADER_EVIDENCE_GIVEN_H

#include "grader/evidence/judge.h"

/* Returns the `number`-th stream (from 0) that the drive made before its first phase, by its number
 * in the records; 0: none. */
uint64_t given_stream(const struct evidence *evidence, uint32_t number);

/* Returns true when the operation is in a default stream: one that no call created. */
bool given_in_default(const struct evidence *evidence, const struct trace_record *operation);

/* Returns true when an operation of the phase is in a default stream. */
bool given_any_in_default(const struct evidence *evidence, const struct phase *phase);

/* Fails at the first copy, kernel or memset of the phase that is in another stream than `stream`,
 * at its line. `meant` names the right stream: "the stream that it was given". Returns true when
 * the verdict failed.
 */
bool given_say_elsewhere(struct verdict *verdict, const struct evidence *evidence,
                         const struct phase *phase, uint64_t stream, const char *meant);

/* Names an operation in a sentence: "the copy to the device", "the copy to the host", "the
 * kernel". */
const char *given_work(const struct trace_record *operation);

#endif
