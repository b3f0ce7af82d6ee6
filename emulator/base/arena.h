/* arena: memory that is allocated piece by piece and freed all at once. A piece is never freed or
 * moved before the whole arena is freed. Not thread-safe.
 */
#ifndef OVERLAP_EMULATOR_BASE_ARENA_H
#define OVERLAP_EMULATOR_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena_chunk;

/* An arena of zeros is empty and ready for use. */
struct arena {
    struct arena_chunk *chunks; /* newest first; only the first has room left */
    bool failed;                /* an allocation has failed: every later one fails as well */
};

/* Returns `count` elements of `size` bytes, zeroed and aligned for any type; a `count` of 0 gives a
 * valid pointer, too. Returns NULL when the host has no memory, and from then on always, so that
 * one check of `failed` at the end is enough. */
void *arena_take(struct arena *arena, size_t count, size_t size);
/* Returns a copy of `text` in the arena; NULL as for arena_take. */
char *arena_text(struct arena *arena, const char *text);
/* Frees every piece; the arena is then empty and may be used again. */
void arena_free(struct arena *arena);

#endif
