/* pages: zeroed memory for tables that are large and of which mostly little is used: what nobody
 * touches costs nothing. calloc's may, whenever it hands out memory that it has had before.
 */
#ifndef OVERLAP_EMULATOR_BASE_PAGES_H
#define OVERLAP_EMULATOR_BASE_PAGES_H

#include <stddef.h>

/* `bytes` zeros, aligned as malloc's memory is; NULL: no memory. */
void *pages_take(size_t bytes);
/* `bytes`: as it was taken; NULL is fine. */
void pages_give(void *pages, size_t bytes);
/* The same for pages that are all zeros again: whoever takes as many next may get these, without
 * the faults of fresh ones. */
void pages_give_zeroed(void *pages, size_t bytes);

#endif
