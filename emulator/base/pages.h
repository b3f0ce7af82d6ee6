/* pages: zeroed memory for large, sparsely used tables: a page that nobody touches costs nothing.
 * calloc does not promise that: it clears memory that it hands out a second time.
 */
#ifndef OVERLAP_EMULATOR_BASE_PAGES_H
#define OVERLAP_EMULATOR_BASE_PAGES_H

#include <stddef.h>

/* Returns `bytes` zeros, aligned as malloc's memory is; NULL when the host has no memory. */
void *pages_take(size_t bytes);
/* Frees pages. `bytes` is the size that was passed to pages_take; `pages` may be NULL. A later
 * pages_take of the same size may return them without page faults: what was touched is cleared. */
void pages_give(void *pages, size_t bytes);
/* As pages_give, for pieces few pages of which were touched: they are not kept, since finding those
 * pages takes longer. */
void pages_give_few(void *pages, size_t bytes);
/* As pages_give, for pages that the caller has zeroed again. */
void pages_give_zeroed(void *pages, size_t bytes);

#endif
