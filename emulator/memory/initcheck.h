/* memory_initcheck: records which bytes of an allocation have been written since it was made, to
 * find reads of memory that was never written.
 *
 * Only followed regions are recorded, from their allocation on, and only writes of the device: a
 * caller that lets another process or a second address write to a region must stop following it,
 * and the host too, but for managed memory, whose pages are looked at (memory_initcheck_shared).
 * This module does not decide what may be read.
 *
 * Takes no lock: the caller holds the lock that guards the regions.
 */
#ifndef OVERLAP_MEMORY_INITCHECK_H
#define OVERLAP_MEMORY_INITCHECK_H

#include "emulator/memory/memory.h"

/* Follows `region`, nothing of which is written yet. When the host has no memory, it is not
 * followed. */
void memory_initcheck_follow(const struct memory_region *region);
/* Follows managed memory, which the host writes without an API call, so that all of it counts as
 * written. memory_initcheck_is_hosts returns true until memory_initcheck_shared: only the host has
 * touched the region so far. */
void memory_initcheck_follow_host(const struct memory_region *region);
bool memory_initcheck_is_hosts(const struct memory_region *region);
/* The device touches the region as well, or the host may have since: of managed memory all pages
 * are written now that somebody has written to, by the system's page table. Where that cannot be
 * read, the region is not followed any more. */
void memory_initcheck_shared(const struct memory_region *region);
/* Returns true when the host has read memory of memory_allocate and has written nothing of it. Only
 * for a region that no device has touched. Uses the system's page table: a page that was only read
 * is still the file of poison. Returns false where the page table cannot be read. */
bool memory_initcheck_only_read(const struct memory_region *region);
/* Stops following the region; it need not be followed. */
void memory_initcheck_forget(const struct memory_region *region);

bool memory_initcheck_follows(const struct memory_region *region);

/* The `bytes` bytes from `offset` on are written now. */
void memory_initcheck_set(const struct memory_region *region, uint64_t offset, uint64_t bytes);
/* Every byte from `first` to before `end`, both multiples of 64, is written now if its bit is set
 * in `bits`. */
void memory_initcheck_set_bits(const struct memory_region *region, const uint64_t *bits,
                               uint64_t first, uint64_t end);
/* A kernel received the region's address: it may have been meant to write there. */
void memory_initcheck_give(const struct memory_region *region);

/* Returns true when the region is followed, nothing of it was ever written, and no kernel received
 * its address. */
bool memory_initcheck_never(const struct memory_region *region);

/* Bytes that were touched and never written. */
struct memory_unwritten {
    uint64_t first; /* offset of the first */
    uint64_t bytes; /* their number */
    uint64_t end;   /* offset behind the last */
};
/* Checks the bytes whose bits are set in `touched`, in aligned units of `unit` bytes (a power of
 * two, 64 at most), from `first` to before `end`, both multiples of 64. A unit counts when all of
 * it was touched and nothing of it was written. Adds such units to `found`, which holds those
 * before `first`. */
void memory_initcheck_find(const struct memory_region *region, const uint64_t *touched,
                           unsigned unit, uint64_t first, uint64_t end,
                           struct memory_unwritten *found);
/* Returns whether any byte of the region is written; true for a region that is not followed. */
bool memory_initcheck_some(const struct memory_region *region);

#endif
