/* in_flight: notices that the host changes pageable memory, or gives it back, while an
 * asynchronous copy from it or into it is in flight. Nothing traps there, so that the bytes are
 * compared by their checksum: as they were when the copy was asked for, when it ran, and when the
 * host came to know that it is done. Until then a right program leaves them alone.
 *
 * What makes a change right, and is not accused:
 *   - a copy of the device that writes the same bytes meanwhile, and is ordered by its stream;
 *   - the host telling the device that they are ready, behind the copy's back: by a host function
 *     in front of it, a stream that waits for a value, a kernel that converses with memory;
 *   - the device telling the host that they are free: by a host function, a value that a stream
 *     writes, a kernel that converses with memory.
 *
 * It never touches memory that may be gone without a guard. A change back to what was there before,
 * and one between two other accesses of the device, it does not see.
 *
 * Source: Driver API, "API synchronization behavior": an asynchronous copy of pageable memory
 * "might be synchronous with respect to host", so that nobody may rely on either.
 */
#ifndef OVERLAP_DRIVER_FINDINGS_IN_FLIGHT_H
#define OVERLAP_DRIVER_FINDINGS_IN_FLIGHT_H

#include "emulator/driver/findings/races.h"

/* `operation`, a copy that the host will not wait for, is about to be submitted; it will read or
 * write (`is_written`) these bytes of pageable memory. `is_advice`: a GPU has done so when the call
 * returns, though nobody promises it. Gives it its number in operation->flight. */
void in_flight_begins(struct operation *operation, const struct races_rows *rows, bool is_written,
                      bool is_advice);
/* The copy of that number has been submitted as `op`; NULL: it could not be. */
void in_flight_submitted(uint64_t flight, const struct timeline_op *op);
/* For `run`: before it touches its bytes, and when it has. */
void in_flight_lands(const struct operation *operation);
void in_flight_landed(const struct operation *operation);

/* An operation writes these bytes of pageable memory: before, and after it has. */
void in_flight_overwrite(const struct races_rows *rows, bool done);

/* The host has waited for something. */
void in_flight_sweep(void);
/* `op` may have been told something by the host while it ran, and may have told it that what
 * happens before it is done. */
void in_flight_conversed(const struct timeline_op *op);
/* Nothing of this context will run any more. */
void in_flight_forget(const struct context *context);

#endif
