/* page_guard: makes host code trap when it touches page-locked or managed memory that the device
 * still uses, so that a callback receives the access and, where it is a mistake, can name its line.
 *
 * A guard covers all pages of the bytes in use; registered memory's first and last one only where
 * they are in use completely, since they are shared with others. So are all pages where nobody
 * tells of system calls, which would fail on bytes beside those in use. A trapped access to a byte
 * in use is reported, once for its page; each then continues as if nothing had happened, and its
 * page is open from then on, until another guard there is raised or dropped. This module does not
 * know what is ordered: the callback decides.
 *
 * It takes no lock of its own: the caller holds the lock that guards the device, and when the host
 * touches memory, the handler acquires that lock through the owner's callback. A system call that
 * is given guarded memory fails with EFAULT instead of trapping, unless page_guard_open was called
 * before.
 */
#ifndef OVERLAP_MEMORY_PAGE_GUARD_H
#define OVERLAP_MEMORY_PAGE_GUARD_H

#include <stdbool.h>
#include <stdint.h>

#include "emulator/memory/memory.h"

enum page_guard_lock {
    PAGE_GUARD_LOCKED,
    PAGE_GUARD_OWN,   /* this thread holds it already: the device itself touches */
    PAGE_GUARD_TAKEN, /* it cannot be acquired: the page is opened without a report */
};

/* The owner's callbacks. They run in the signal handler, in the thread of the access. */
struct page_guard_owner {
    /* Acquires the lock that guards the device, so that no other thread drops a guard. */
    enum page_guard_lock (*lock)(void);
    void (*unlock)(void);
    /* Reports an access; called with the lock, before the page is opened. `pc` is the address of
     * the instruction. */
    void (*touch)(uint64_t address, uint64_t size, bool is_store, uint64_t pc);
    /* page_guard_open is called before a system call is given memory. */
    bool knows_buffers;
};
void page_guard_install(const struct page_guard_owner *owner);

/* Guards the bytes from `address` on, which lie in `region`, against the host's stores and, unless
 * `reads_allowed`, its loads. Returns the guard's number, or 0 when no page can be guarded or
 * too many guards exist. */
uint64_t page_guard_raise(const struct memory_region *region, uint64_t address, uint64_t size,
                          bool reads_allowed);
void page_guard_drop(uint64_t guard); /* 0 is ignored */

/* For the device's own access: open the guarded pages of these bytes, and close them again. */
void page_guard_lift(uint64_t address, uint64_t size);
void page_guard_restore(uint64_t address, uint64_t size);

/* For memory's signal handler: returns true when the access to `size` bytes can be repeated:
 * `address` was under a guard, has been reported and its page is open, or another thread dropped
 * the guard first. */
bool page_guard_handle(uint64_t address, uint64_t size, bool is_store, uint64_t pc);
/* The host is about to pass these bytes to a system call, at `pc`: reports guarded bytes among them
 * as touched, and opens their pages. */
void page_guard_open(uint64_t address, uint64_t size, bool is_store, uint64_t pc);
/* In a forked child: removes all guards. */
void page_guard_forget(void);

#endif
