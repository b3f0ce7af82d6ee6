/* given: the streams that a lesson's drive made and handed to the student's functions, and work
 * that went elsewhere. Reads the record only.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_GIVEN_H
#define OVERLAP_GRADER_EVIDENCE_GIVEN_H

#include "grader/evidence/judge.h"

/* The `number`-th stream (from 0) that the drive made before its first phase, as the records name
 * it; 0: none. */
uint64_t given_stream(const struct evidence *evidence, uint32_t number);

/* The operation is in a default stream: one that no call made. */
bool given_in_default(const struct evidence *evidence, const struct trace_record *operation);

/* Fails at the first copy, kernel or memset of the phase that is in another stream than `stream`,
 * at its line. `meant` names the right one: "the stream that it was given". Returns whether it did.
 */
bool given_say_elsewhere(struct verdict *verdict, const struct evidence *evidence,
                         const struct phase *phase, uint64_t stream, const char *meant);

/* "the copy to the device", "the copy to the host", "the kernel": an operation in a sentence. */
const char *given_work(const struct trace_record *operation);

#endif
