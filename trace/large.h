/* large: memory that is shared with forks. A process that keeps much and forks often pays for all
 * of its own each time: the page tables are copied, and so is each page that is written to later.
 * What a fork writes there is written for all, until it is sealed.
 */
#ifndef OVERLAP_TRACE_LARGE_H
#define OVERLAP_TRACE_LARGE_H

#include <stddef.h>

/* Zeroed, at a multiple of 64; NULL: there is none. */
void *large_take(size_t size);
/* Nobody writes there any more, no fork either: who does is ended by it (what is small, a fork has
 * to itself). What large_take gave; NULL is fine. */
void large_seal(const void *bytes);
/* The same. */
void large_give_back(void *bytes);

#endif
