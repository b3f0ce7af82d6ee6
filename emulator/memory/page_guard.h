/* page_guard: makes the host trap where it touches page-locked or managed memory that the device
 * still uses, so that the touch can be told and, where it is a mistake, named with its line.
 *
 * A guard covers the pages whose every byte of the region is in use: a neighbour's bytes are never
 * guarded along. A trapped touch is told once for its page and then goes on as if nothing had
 * happened. It does not know what is ordered: whoever is told decides.
 *
 * It takes no lock of its own: its caller holds the one that guards the device, and where the host
 * touches, it asks for that one. System calls that are handed guarded memory fail with EFAULT
 * instead of trapping, unless page_guard_open was told.
 */
#ifndef OVERLAP_MEMORY_PAGE_GUARD_H
#define OVERLAP_MEMORY_PAGE_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "emulator/memory/memory.h"

enum page_guard_lock {
    PAGE_GUARD_LOCKED,
    PAGE_GUARD_OWN,   /* this thread has it already: it is the device that touches */
    PAGE_GUARD_TAKEN, /* it cannot be had here: what was touched is opened without a word */
};

/* Called in the handler of the touch's thread. */
struct page_guard_owner {
    /* Takes the lock that guards the device: nobody else drops a guard then. */
    enum page_guard_lock (*lock)(void);
    void (*unlock)(void);
    /* Under the lock, before the page is opened. `pc` is the instruction's address. */
    void (*touch)(uint64_t address, uint64_t size, bool is_store, uint64_t pc);
};
void page_guard_install(const struct page_guard_owner *owner);

/* Guards the bytes from `address` on, which lie in `region`, from the host's stores, and unless
 * `reads_allowed` from its loads. Returns the guard, or 0 when there is nothing to guard. */
uint64_t page_guard_raise(const struct memory_region *region, uint64_t address, uint64_t size,
                          bool reads_allowed);
void page_guard_drop(uint64_t guard); /* 0 is fine */

/* For the device's own access: opens the pages of these bytes, and closes them again. */
void page_guard_lift(uint64_t address, uint64_t size);
void page_guard_restore(uint64_t address, uint64_t size);

/* For memory's signal handler: was `address` under a guard? Then it has been told and is open, or
 * another thread dropped the guard first. */
bool page_guard_handle(uint64_t address, bool is_store, uint64_t pc);
/* The host is about to hand these bytes to the system, at `pc`: what of them is under a guard has
 * been touched then, and is open. */
void page_guard_open(uint64_t address, uint64_t size, bool is_store, uint64_t pc);
/* In a forked child: nothing is guarded any more. */
void page_guard_forget(void);

#endif
