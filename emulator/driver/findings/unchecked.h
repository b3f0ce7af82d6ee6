/* unchecked: a failed call whose error was not checked, told at the call that fails because of it.
 *
 * What a program does with a returned value cannot be seen. What can be: a call that was to make
 * something failed; since then its thread has made nothing of that kind; and now another call of
 * the thread is refused, or a kernel that it launched faults, because it is given none: a handle
 * that is NULL or was never made, a pointer that is NULL or to nothing. A program that checks
 * errors makes no such call: it tries something else, does without, gives up, or cleans up. A
 * program that makes it has a mistake in any case; that it is this one follows from the first
 * call's failure. Calls that give something back are left out: to clean up what may not be there is
 * sloppy, no more.
 *
 * An error of work that is under way (a kernel's fault) is not looked at here: it is a finding of
 * its own, on the line where it happened, and what fails after it is not told again.
 *
 * Both are named: the call that failed, where the check is missing, and the one that fails because
 * of it.
 */
#ifndef OVERLAP_DRIVER_FINDINGS_UNCHECKED_H
#define OVERLAP_DRIVER_FINDINGS_UNCHECKED_H

#include "emulator/driver/core/core.h"

/* The thread's current call is over. Without the lock. */
void unchecked_call_ended(int code);

/* The current call is given no object of that kind (or MISSING_MEMORY), and fails for it. */
void unchecked_lacks(unsigned kind);
/* The same for an address. */
void unchecked_lacks_memory(uint64_t address);

/* What `operation` may lack, as its thread knows it now; and that it did: it faults at `address`.
 */
void unchecked_take_along(struct operation *operation);
void unchecked_operation_faults(const struct operation *operation, uint64_t address);

#endif
