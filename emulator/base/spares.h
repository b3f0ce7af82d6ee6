/* spares: a free list of memory pieces of one size, for objects that are created and destroyed all
 * the time. malloc would merge and split such pieces, and would return memory at the end of its
 * heap to the system, whose fresh pages are expensive. Not thread-safe.
 */
#ifndef OVERLAP_EMULATOR_BASE_SPARES_H
#define OVERLAP_EMULATOR_BASE_SPARES_H

#include <stddef.h>

/* A list of zeros is empty and ready for use. */
struct spares {
    void *first; /* each free piece begins with a pointer to the next */
    size_t count;
};

/* Returns `bytes` of uninitialised memory, aligned as malloc's memory is; `bytes` is the same in
 * every call. NULL: the host has no memory. */
void *spares_take(struct spares *spares, size_t bytes);
/* Puts `piece`, which spares_take returned, back on the list. */
void spares_give(struct spares *spares, void *piece);

#endif
