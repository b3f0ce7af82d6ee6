/* unchecked: reports a failed call whose error the program did not check, at the later call that
 * fails because of it.
 *
 * The device cannot see what a program does with a returned value. It can see that a call which
 * should have created something failed, that its thread has created nothing of that kind since, and
 * that another call of the thread is refused, or a kernel of the thread faults, because it was
 * given none: a handle that is NULL or was never created, a pointer that is NULL or points nowhere.
 * A program that checks errors makes no such call: it tries something else, goes on without, gives
 * up or cleans up. A program that makes it has a mistake in any case; the first call's failure
 * shows which. Calls that release something are left out: releasing what may not exist is sloppy,
 * no more.
 *
 * An error of running work (a kernel's fault) is not handled here: it is a finding of its own, on
 * the line where it happened, and later failures caused by it are not reported again.
 *
 * The finding names both calls: the one that failed unchecked, and the one that fails because of
 * it.
 */
#ifndef OVERLAP_DRIVER_FINDINGS_UNCHECKED_H
#define OVERLAP_DRIVER_FINDINGS_UNCHECKED_H

#include "emulator/driver/core/core.h"

/* The thread's current call has ended with `code`. Called without the lock. */
void unchecked_call_ended(int code);

/* The current call fails because it was given no object of that kind (or MISSING_MEMORY). */
void unchecked_lacks(unsigned kind);
/* The current call fails because it was given this address. */
void unchecked_lacks_memory(uint64_t address);

/* Copies the thread's failed allocation, if any, into `operation`; and: the operation faults at
 * `address`.
 */
void unchecked_take_along(struct operation *operation);
void unchecked_operation_faults(const struct operation *operation, uint64_t address);

#endif
