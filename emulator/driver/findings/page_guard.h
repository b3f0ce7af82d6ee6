/* page_guard: keeps the host away from page-locked and managed memory that work of the device
 * has in use until the host has waited for that work, so that an early touch is told to races.
 *
 * It only watches: a touch goes on with whatever is in memory then.
 */
#ifndef OVERLAP_DRIVER_FINDINGS_PAGE_GUARD_H
#define OVERLAP_DRIVER_FINDINGS_PAGE_GUARD_H

#include "emulator/driver/findings/races.h"

/* Called by cuInit. */
void page_guards_begin(void);

/* `op`, submitted or run, reads or writes these bytes at a moment that the host does not know. */
void page_guards_raise(const struct timeline_op *op, enum races_mode mode,
                       const struct races_rows *rows);
/* A kernel that is pending as `op` has been given this address, and may touch what is from there on
 * when it runs. What it did touch then takes the place of that. */
void page_guards_guess(const struct timeline_op *op, uint64_t address);
void page_guards_know(const struct timeline_op *op);
/* The host has waited for something: what it now knows to be done needs no guard. */
void page_guards_sweep(void);
/* `op` exchanges values with the host by memory, as it runs: the host may know from now on, by
 * those, of all that happens before it. Called before its first exchange, and when it has ended. */
void page_guards_conversed(const struct timeline_op *op);
/* The region is about to go. */
void page_guards_forget(const struct memory_region *region);

#endif
