/* in_flight: detects that the host changes or frees pageable memory while an asynchronous copy from
 * or into it is in flight. Such memory cannot be page-protected, so the bytes' checksums are
 * compared: at the submission, when the copy runs, and when the host learns that it is done. A
 * correct program leaves the bytes alone in between.
 *
 * Changes that are legal and not reported:
 *   - another operation of the device writes the same bytes, in stream order;
 *   - the host tells the device through another channel that the bytes are ready: a host function
 *     before the copy, a stream that waits for a value, a kernel that communicates through memory;
 *   - the device tells the host that the bytes are free: a host function, a value that a stream
 *     writes, a kernel that communicates through memory.
 *
 * Memory that may have been unmapped is read with a guard only. A change that restores the old
 * contents, or that lies between two other accesses of the device, is not detected.
 *
 * Source: Driver API, "API synchronization behavior": an asynchronous copy of pageable memory
 * "might be synchronous with respect to host", so a program may rely on neither.
 */
#ifndef OVERLAP_DRIVER_FINDINGS_IN_FLIGHT_H
#define OVERLAP_DRIVER_FINDINGS_IN_FLIGHT_H

#include "emulator/driver/findings/races.h"

/* `operation`, a copy that the host will not wait for, is about to be submitted and will read or
 * write (`is_written`) these bytes of pageable memory. `is_advice`: on a GPU the access is over
 * when the call returns, but the documentation does not promise that. Assigns operation->flight. */
void in_flight_begins(struct operation *operation, const struct races_rows *rows, bool is_written,
                      bool is_advice);
/* The copy with that flight number was submitted as `op`; NULL: the submission failed. */
void in_flight_submitted(uint64_t flight, const struct timeline_op *op);
/* The copy runs: before and after it accesses its bytes. */
void in_flight_lands(const struct operation *operation);
void in_flight_landed(const struct operation *operation);

/* Another operation writes these bytes of pageable memory: called before, and after (`done`). */
void in_flight_overwrite(const struct races_rows *rows, bool done);

/* The host has waited for something: checks the copies that it now knows to be done. */
void in_flight_sweep(void);
/* `op` may exchange values with the host while it runs: the host may have ordered a change before a
 * pending copy, and may know that copies that happen before `op` are done. */
void in_flight_conversed(const struct timeline_op *op);
/* No work of this context will run any more. */
void in_flight_forget(const struct context *context);

#endif
