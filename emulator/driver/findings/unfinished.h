/* unfinished: what a program leaves undone, told when it can no longer be done: work whose end
 * no call has waited for when its context or the process ends, and events that were waited for but
 * never recorded.
 *
 * Work counts as waited for when a call of the host promises its end, or that of something behind
 * it. Looked at are kernels and copies to the host: their results are meant to be read. A kernel
 * that converses with memory, or a value that a stream writes, may have told the host, and is left
 * out with what is before it; so is work that goes into the device or ends there, such as a copy in
 * that was not needed, a memset or a free.
 *
 * Waiting for an event that was never recorded is no error, and may be meant: an event that is
 * recorded later, by itself, is one that a loop waits for the first time round. Told is one that
 * never was, as long as it lived, though work of other streams was under way when it was waited
 * for.
 *
 * Nobody is accused whose calls have failed since, or who ends with an exit status that is not 0:
 * on the way out of an error work may be left.
 */
#ifndef OVERLAP_DRIVER_FINDINGS_UNFINISHED_H
#define OVERLAP_DRIVER_FINDINGS_UNFINISHED_H

#include "emulator/driver/core/core.h"

/* Before the first call. */
void unfinished_begin(void);
/* The thread's current call has failed. Without the lock. */
void unfinished_call_failed(void);

/* `operation`, which is to be waited for (operation->awaited), has been submitted as `op`. */
void unfinished_expects(const struct operation *operation, const struct timeline_op *op);
/* `op` may have told the host, by memory, that what happens before it is done. */
void unfinished_conversed(const struct timeline_op *op);
/* The context is about to end, by the current call. */
void unfinished_of_context(const struct context *context);

/* The host, or `stream`, is made to wait for an event that has no record. */
void unfinished_waits_for_nothing(struct event *event, const struct stream *stream);
/* The event ends. */
void unfinished_of_event(const struct event *event);

/* The process ends. */
void unfinished_of_process(void);

#endif
