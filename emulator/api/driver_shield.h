/* driver_shield: keeps the host away from page-locked and managed memory that work of the device
 * has in use until the host has waited for that work, so that an early touch is told to races.
 *
 * It only watches: a touch goes on with whatever is in memory then.
 */
#ifndef OVERLAP_DRIVER_SHIELD_H
#define OVERLAP_DRIVER_SHIELD_H

#include "emulator/api/driver_races.h"

/* Called by cuInit. */
void shields_begin(void);

/* `op`, submitted or run, reads or writes these bytes at a moment that the host does not know. */
void shields_raise(const struct timeline_op *op, enum races_mode mode,
                   const struct races_rows *rows);
/* The host has waited for something: what it now knows to be done needs no shield. */
void shields_sweep(void);
/* `op` exchanges values with the host by memory, as it runs: the host may know from now on, by
 * those, of all that happens before it. Called before its first exchange, and when it has ended. */
void shields_conversed(const struct timeline_op *op);
/* The region is about to go. */
void shields_forget(const struct memory_region *region);

#endif
