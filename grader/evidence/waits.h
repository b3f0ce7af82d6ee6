/* waits: where a submission let the host stand still for the device. A wait is a call that does not
 * return before the device has come somewhere (a synchronisation, a copy that blocks), or a row of
 * queries that asks until it has.
 *
 * It looks at the calls that were made, never at the text of the submission.
 */
#ifndef OVERLAP_GRADER_EVIDENCE_WAITS_H
#define OVERLAP_GRADER_EVIDENCE_WAITS_H

#include "grader/evidence/judge.h"

#include <stdbool.h>
#include <stddef.h>

/* True for a call that waits, by its API name. */
bool waits_call(const struct trace_record *call);
/* True for one that only asks, and waits when it is repeated. */
bool waits_query(const struct trace_record *call);

/* The waits of the submission's own lines in one phase, against the operations (kernels, copies,
 * sets) asked for in it. */
struct waits {
    const struct trace_record *last_request; /* the CALL that asked for the last one, or NULL */
    const struct trace_record *early;        /* the first wait before that CALL, or NULL */
    const struct trace_record *surplus;      /* the second wait after it (or in it), or NULL */
    size_t early_count, late_count;
};
struct waits waits_in(const struct evidence *evidence, const struct phase *phase);

/* The first call in the phase by which a stream waits for an event and is then given a kernel, or
 * NULL. */
const struct trace_record *waits_before_kernel(const struct evidence *evidence,
                                               const struct phase *phase);

/* A copy to ordinary host memory was over, and with it all before it in its stream, when the call
 * was made that the device made to fail in this run. What is in that memory then is the kernel's.
 */
bool waits_copied_before_failure(const struct evidence *evidence);

/* Fails where there is such work: "<before><function> returned while the copy ...". Returns whether
 * it did. */
bool waits_say_left(struct verdict *verdict, const struct evidence *evidence,
                    const struct phase *phase, const char *function, const char *before);

/* Fails at the first wait of the submission's own lines in the phase of an asynchronous `function`.
 * Returns whether it did. */
bool waits_say_any(struct verdict *verdict, const struct evidence *evidence,
                   const struct phase *phase, const char *function);

/* The hint of a failure in a run whose work takes seconds: a wait that gives up is none. */
void waits_hint_patience(struct verdict *verdict);

/* Fails where work that was asked for in the phase was done only when cudaFree or one of its kin
 * waited for it, and nothing of the phase waits after that: "<before>cudaFree is all that waits for
 * the host function ...". Where the work touches memory the device knows it (verdict_advice); what
 * a host function touches nobody sees. Returns whether it did. On a GPU never. */
bool waits_say_unpromised(struct verdict *verdict, const struct evidence *evidence,
                          const struct phase *phase, const char *function, const char *before);
/* The same of all phases of that name. */
void waits_say_unpromised_in(struct verdict *verdict, const struct evidence *evidence,
                             const char *phases, const char *function);

#endif
