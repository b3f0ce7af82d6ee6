/* large: memory shared with forked processes. A process that keeps much private memory and forks
 * often pays for it at each fork: page tables are copied, and so is every page that is written
 * later. Until it is sealed, a write of any process to this memory is visible in all of them.
 */
#ifndef OVERLAP_TRACE_LARGE_H
#define OVERLAP_TRACE_LARGE_H

#include <stddef.h>

/* Returns zeroed memory aligned to 64 bytes; NULL: no memory. */
void *large_take(size_t size);
/* Makes the memory read-only in this process and in processes forked later: a write crashes the
 * writer. Does nothing for small blocks, which are private to each process. `bytes`: from
 * large_take; NULL is fine. */
void large_seal(const void *bytes);
/* Frees the memory; `bytes` as above. */
void large_give_back(void *bytes);

#endif
