/* page_guard: protects page-locked and managed memory against the host while work of the device
 * uses it and the host has not waited for that work. An early access of the host is thereby
 * detected and passed to races.
 *
 * The guard only observes: after the report the access proceeds with the memory's current contents.
 */
#ifndef OVERLAP_DRIVER_FINDINGS_PAGE_GUARD_H
#define OVERLAP_DRIVER_FINDINGS_PAGE_GUARD_H

#include "emulator/driver/findings/races.h"

/* Called by cuInit. */
void page_guards_begin(void);

/* `op`, submitted or run, reads or writes these bytes at a moment unknown to the host. */
void page_guards_raise(const struct timeline_op *op, enum races_mode mode,
                       const struct races_rows *rows);
/* A pending kernel, `op`, was given this address and may access memory from there to the end of the
 * region: guards all of it. page_guards_know drops such guesses once the kernel's real accesses are
 * known. */
void page_guards_guess(const struct timeline_op *op, uint64_t address);
void page_guards_know(const struct timeline_op *op);
/* The host has waited for something: drops the guards of work that it now knows to be done. */
void page_guards_sweep(void);
/* `op` exchanges values with the host through memory, so that the host may know what happens before
 * `op`. Called before its first exchange and at its end; drops the guards of that work. */
void page_guards_conversed(const struct timeline_op *op);
/* The region is about to end. */
void page_guards_forget(const struct memory_region *region);

#endif
