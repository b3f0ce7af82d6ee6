/* memory_written: which bytes of an allocation anything has written since it was made: what tells a
 * read of memory that was never written.
 *
 * Only regions that are followed from their allocation on count, and of those only what the device
 * itself writes is known: whoever lets a host, another process or a second address at a region's
 * contents does not follow it. It decides nothing about what may be read.
 *
 * Takes no lock: its caller holds the one that guards the regions.
 */
#ifndef OVERLAP_MEMORY_INITCHECK_H
#define OVERLAP_MEMORY_INITCHECK_H

#include "emulator/memory/memory.h"

/* Nothing of `region` is written yet. Without memory of the host it is not followed. */
void memory_initcheck_follow(const struct memory_region *region);
/* Managed memory, which the host writes without a call: it counts as written. Only whether nobody
 * but the host has touched it so far is known, until memory_initcheck_shared. */
void memory_initcheck_follow_host(const struct memory_region *region);
bool memory_initcheck_is_hosts(const struct memory_region *region);
/* The device touches it, too. */
void memory_initcheck_shared(const struct memory_region *region);
/* Has it been read, and nothing of it been written? By what the system's page table says of its
 * pages (the file of poison is under those that were read alone); false where that is not to be
 * had. For memory of memory_allocate that only the host has touched. */
bool memory_initcheck_only_read(const struct memory_region *region);
/* It is not followed any longer; nor if it never was. */
void memory_initcheck_forget(const struct memory_region *region);

bool memory_initcheck_follows(const struct memory_region *region);

/* Bytes from `offset` on are written now. */
void memory_initcheck_set(const struct memory_region *region, uint64_t offset, uint64_t bytes);
/* The same of every byte whose bit is set. */
void memory_initcheck_set_bits(const struct memory_region *region, const uint64_t *bits);
/* A kernel was told where the region is: it may have meant to write there. */
void memory_initcheck_give(const struct memory_region *region);

/* Is the region followed, and was nothing of it ever written, nor given to a kernel? */
bool memory_initcheck_never(const struct memory_region *region);

/* Bytes that were touched and never written. */
struct memory_unwritten {
    uint64_t first; /* offset */
    uint64_t bytes; /* how many in all */
    uint64_t end;   /* behind the last */
};
/* Of the bytes whose bits are set in `touched`: those in whole units of `unit` bytes (a power of
 * two, 64 at most) that were touched and of which nothing was written. false: there are none. */
bool memory_initcheck_find(const struct memory_region *region, const uint64_t *touched,
                           unsigned unit, struct memory_unwritten *found);
/* Is anything of it written? True of what is not followed. */
bool memory_initcheck_some(const struct memory_region *region);

#endif
