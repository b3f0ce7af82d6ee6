/* queued: what judges ask of a function that queues work and returns: was it called at all, did its
 * work run to its end, is all of it in the stream that was given, which kernel came last. Reads the
 * record and what the drive says came back; it judges no value.
 *
 * `why` and `hint` are texts marked with N_: they are translated here.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_QUEUED_H
#define OVERLAP_GRADER_EVIDENCE_QUEUED_H

#include "grader/evidence/answer.h"
#include "grader/evidence/judge.h"

/* Fails: the drive made no call of `function`, since one before it had broken the context. */
void queued_say_lost(struct verdict *verdict, const struct evidence *evidence,
                     const char *function);

/* Fails: the call returned success, and `later` (never 0) came when its work was waited for.
 * `doing`: "an array of 100 floats". */
void queued_say_failed_later(struct verdict *verdict, const struct answer *answer, int later,
                             const char *doing, const char *hint);

/* True when the call succeeded and its work ran to its end; otherwise the verdict fails, with what
 * the device found where it found anything. `stale`: the runtime remembered an error of its
 * caller's meanwhile. `later`: as above, or 0. */
bool queued_went_well(struct verdict *verdict, const struct answer *answer, int later, bool stale,
                      const char *doing, const char *hint);

/* True when all work of the phase is in the first stream that the drive made, and nothing is waited
 * for in it; otherwise the verdict fails. `why` says what is lost in another stream, `hint` who
 * waits instead. */
bool queued_in_given_stream(struct verdict *verdict, const struct evidence *evidence,
                            const struct phase *phase, const char *function, const char *why,
                            const char *hint);

/* What wrote the result last, for all that is known; NULL: no kernel ran. And its seconds, or 0. */
const struct trace_record *queued_last_kernel(const struct evidence *evidence,
                                              const struct phase *phase);
double queued_last_kernel_seconds(const struct evidence *evidence, const struct phase *phase);

#endif
