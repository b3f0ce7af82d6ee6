#include "emulator/base/arena.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct arena_chunk {
    struct arena_chunk *next;
    size_t size, used; /* bytes */
    _Alignas(max_align_t) unsigned char bytes[];
};

enum { CHUNK = 64 * 1024, ALIGNMENT = _Alignof(max_align_t) };

static struct arena_chunk *chunk_create(struct arena *arena, size_t room)
{
    struct arena_chunk *chunk = malloc(sizeof *chunk + room);
    if (chunk == NULL)
        arena->failed = true;
    else
        *chunk = (struct arena_chunk){.size = room};
    return chunk;
}

void *arena_take(struct arena *arena, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / 4 / size) arena->failed = true;
    if (arena->failed) return NULL;
    const size_t wanted = count * size + (count * size == 0);
    const size_t bytes = (wanted + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct arena_chunk *open = arena->chunks;
    assert(open == NULL || open->used <= open->size);

    if (open == NULL || open->size - open->used < bytes) {
        const bool large = bytes > CHUNK / 4;
        struct arena_chunk *chunk = chunk_create(arena, large ? bytes : CHUNK);
        if (chunk == NULL) return NULL;
        if (large && open != NULL) { /* the open chunk has room left and stays first */
            chunk->used = bytes;
            chunk->next = open->next;
            open->next = chunk;
            return memset(chunk->bytes, 0, bytes);
        }
        chunk->next = open;
        arena->chunks = open = chunk;
    }
    /* Only the piece is zeroed, not the whole chunk: pages of the chunk that are never used stay
     * unmapped. */
    void *piece = memset(open->bytes + open->used, 0, bytes);
    open->used += bytes;
    assert(open->used <= open->size && (uintptr_t)piece % ALIGNMENT == 0);
    return piece;
}

char *arena_text(struct arena *arena, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = arena_take(arena, size, 1);
    if (copy != NULL) memcpy(copy, text, size);
    return copy;
}

void arena_free(struct arena *arena)
{
    while (arena->chunks != NULL) {
        struct arena_chunk *next = arena->chunks->next;
        free(arena->chunks);
        arena->chunks = next;
    }
    arena->failed = false;
}
