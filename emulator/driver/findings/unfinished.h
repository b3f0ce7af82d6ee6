/* unfinished: reports what a program leaves undone, once it can no longer be done: work that no
 * call waited for before its context or the process ends, and events that were waited for but never
 * recorded.
 *
 * Work counts as waited for when a host call promises that it, or something ordered after it, has
 * ended. Only kernels and copies to the host are checked, because their results are meant to be
 * read. A kernel that communicates through memory, or a value that a stream writes, may have
 * informed the host, so it and everything before it are left out; so is work that stays inside the
 * device, such as a needless copy in, a memset or a free.
 *
 * Waiting for an event without a record is no error and may be intended: a loop may wait for an
 * event that it records later. Only an event that was never recorded during its whole life is
 * reported, and only if other streams had work under way when the program waited for it.
 *
 * Nothing is reported if a later call failed, or if the exit status is not 0: on an error path a
 * program may leave work behind.
 */
#ifndef OVERLAP_DRIVER_FINDINGS_UNFINISHED_H
#define OVERLAP_DRIVER_FINDINGS_UNFINISHED_H

#include "emulator/driver/core/core.h"

/* Called before the first call. */
void unfinished_begin(void);
/* The thread's current call has failed. Called without the lock. */
void unfinished_call_failed(void);

/* Work whose end the program should wait for (operation->awaited) is about to be submitted: keeps
 * room for it, so that none is lost. Returns false if the host has no memory; else
 * unfinished_expects or, if the submission fails, unfinished_unreserve gives the room back. */
bool unfinished_reserve(void);
void unfinished_unreserve(void);
/* `operation` was submitted as `op`. */
void unfinished_expects(const struct operation *operation, const struct timeline_op *op);
/* `op` may have informed the host through memory that what happens before it is done. */
void unfinished_conversed(const struct timeline_op *op);
/* The context is about to end, by the current call. */
void unfinished_of_context(const struct context *context);

/* The host, or `stream`, waits for an event that has no record. */
void unfinished_waits_for_nothing(struct event *event, const struct stream *stream);
/* The event ends. */
void unfinished_of_event(const struct event *event);

/* The process ends. */
void unfinished_of_process(void);

#endif
