/* waits: where a submission makes the host wait for the device. A wait is a call that does not
 * return before the device has reached some point (a synchronisation, a blocking copy), or a series
 * of queries that polls until the device has.
 *
 * This module looks at the calls that were made, never at the text of the submission.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_WAITS_H
#define OVERLAP_GRADER_EVIDENCE_WAITS_H

#include "grader/evidence/judge.h"

#include <stdbool.h>
#include <stddef.h>

/* Returns true for a call that waits, by its API name. */
bool waits_call(const struct trace_record *call);
/* Returns true for a query, which waits only when it is repeated. */
bool waits_query(const struct trace_record *call);

/* The waits on the submission's own lines in one phase, relative to the operations (kernels,
 * copies, memsets) asked for in it. */
struct waits {
    /* The CALL that asked for the last operation, or NULL. */
    const struct trace_record *last_request;
    const struct trace_record *early; /* the first wait before that CALL, or NULL */
    /* The first wait after (or in) that CALL for what an earlier one had waited for, or NULL: of
     * several events, each behind a part of the work, none is. */
    const struct trace_record *surplus;
    size_t early_count, late_count;
};
struct waits waits_in(const struct evidence *evidence, const struct phase *phase);

/* Returns the first wait on the submission's own lines in the phase between two requests of its
 * thread for operations of these kinds, or NULL: the later ones were held up by it. Other threads
 * may wait for their own work in the meantime. */
const struct trace_record *waits_between(const struct evidence *evidence, const struct phase *phase,
                                         const uint32_t *kinds, size_t count);

/* Returns the first call in the phase by which a stream waits for an event and then receives a
 * kernel, or NULL. */
const struct trace_record *waits_before_kernel(const struct evidence *evidence,
                                               const struct phase *phase);

/* Returns true when a copy to ordinary host memory, and with it all earlier work of its stream, was
 * over when the call was made that the device made to fail in this run. The contents of that memory
 * are then the kernel's.
 */
bool waits_copied_before_failure(const struct evidence *evidence);

/* Fails where such work is still pending: "<before><function> returned while the copy ...". Returns
 * true when the verdict failed. */
bool waits_say_left(struct verdict *verdict, const struct evidence *evidence,
                    const struct phase *phase, const char *function, const char *before);

/* Fails at the first wait on the submission's own lines in the phase of an asynchronous `function`.
 * Returns true when the verdict failed. */
bool waits_say_any(struct verdict *verdict, const struct evidence *evidence,
                   const struct phase *phase, const char *function);

/* Adds the hint for a failure in a run whose work takes seconds, if the phase asks whether it is
 * done: a wait that gives up is not a wait. */
void waits_hint_patience(struct verdict *verdict, const struct evidence *evidence,
                         const struct phase *phase);

/* Fails where work asked for in the phase was waited for only by cudaFree or a similar call, and
 * nothing in the phase waits after that: "<before>cudaFree is all that waits for the host function
 * ...". Where the work touches memory the device reports it as advice (verdict_advice); the
 * accesses of a host function are not visible to the device. Returns true when the verdict failed;
 * on a GPU never. */
bool waits_say_unpromised(struct verdict *verdict, const struct evidence *evidence,
                          const struct phase *phase, const char *function, const char *before);
/* As waits_say_unpromised, for all phases of that name. */
void waits_say_unpromised_in(struct verdict *verdict, const struct evidence *evidence,
                             const char *phases, const char *function);

#endif
