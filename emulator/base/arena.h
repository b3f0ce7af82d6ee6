/* arena: memory that is taken in pieces and freed as one. A piece is never freed or moved before
 * that. Not for use by several threads at once.
 */
#ifndef OVERLAP_EMULATOR_BASE_ARENA_H
#define OVERLAP_EMULATOR_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena_chunk;

/* Zeros are an empty arena. */
struct arena {
    struct arena_chunk *chunks; /* newest first; only the first has room left */
    bool failed;                /* the host had no memory once: nothing more is given */
};

/* `count` elements of `size` bytes, zeroed, aligned for any type; never NULL for `count` 0. NULL
 * without memory, and from then on, so that one look at `failed` at the end is enough. */
void *arena_take(struct arena *arena, size_t count, size_t size);
/* A copy of `text`; NULL as above. */
char *arena_text(struct arena *arena, const char *text);
/* Frees every piece; the arena is empty then. */
void arena_free(struct arena *arena);

#endif
