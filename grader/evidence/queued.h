/* queued: what judges ask of a function that queues work and returns: was the function called at
 * all, did its work run to its end, is all of it in the given stream, which kernel came last. Reads
 * the record and the return values that the drive reports; checks no values.
 *
 * `why` and `hint` are texts marked with N_: this module translates them.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_QUEUED_H
#define OVERLAP_GRADER_EVIDENCE_QUEUED_H

#include "grader/evidence/answer.h"
#include "grader/evidence/judge.h"

/* Fails: the drive did not call `function`, because an earlier call had broken the context. */
void queued_say_lost(struct verdict *verdict, const struct evidence *evidence,
                     const char *function);

/* Fails: the call returned success, and the error `later` (never 0) appeared when the drive waited
 * for its work. `doing`: "an array of 100 floats". */
void queued_say_failed_later(struct verdict *verdict, const struct answer *answer, int later,
                             const char *doing, const char *hint);

/* Returns true when the call succeeded and its work ran to its end; otherwise the verdict fails,
 * with the device's findings where there are any. `later`: as above, or 0. `remembered`: what call
 * `index` returned when it was made again, in a phase DRIVE_REMEMBERS; 0 also where it was not. */
bool queued_went_well(struct verdict *verdict, const struct answer *answer, int later,
                      int remembered, uint32_t index, const char *doing, const char *hint);

/* Returns true when all work of the phase is in the first stream that the drive made, and nothing
 * in the phase waits; otherwise the verdict fails. `why` says what is lost in another stream,
 * `hint` who waits instead. */
bool queued_in_given_stream(struct verdict *verdict, const struct evidence *evidence,
                            const struct phase *phase, const char *function, const char *why,
                            const char *hint);

/* Returns the last kernel of the phase, taken to be the one that wrote the result; NULL: no kernel
 * ran. The second function returns its duration in seconds, or 0. */
const struct trace_record *queued_last_kernel(const struct evidence *evidence,
                                              const struct phase *phase);
double queued_last_kernel_seconds(const struct evidence *evidence, const struct phase *phase);

#endif
