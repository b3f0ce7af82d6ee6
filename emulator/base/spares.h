/* spares: memory of what is made and ended all the time, in pieces of one size. What is given back
 * is kept for whoever comes next: malloc would join and split it, and give what lies at the end of
 * its memory back to the system, whose fresh pages are dear. Not for use by several threads at
 * once.
 */
#ifndef OVERLAP_EMULATOR_BASE_SPARES_H
#define OVERLAP_EMULATOR_BASE_SPARES_H

#include <stddef.h>

/* Zeros are none. */
struct spares {
    void *first; /* each begins with the next */
    size_t count;
};

/* `bytes`, which is the same each time, aligned as malloc's memory is, of any contents; NULL: no
 * memory. */
void *spares_take(struct spares *spares, size_t bytes);
/* `piece`: as it was taken. */
void spares_give(struct spares *spares, void *piece);

#endif
