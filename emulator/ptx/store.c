/* Where a module's bytes live: an arena that is freed as one, and name tables in it. */
#include "emulator/ptx/internal.h"

#include <stdlib.h>
#include <string.h>

struct ptx_chunk {
    struct ptx_chunk *next;
    size_t size;
    size_t used;
    _Alignas(max_align_t) unsigned char bytes[];
};

#define CHUNK_SIZE ((size_t)64 * 1024)
#define MAP_START 16u

void *ptx_arena_get(struct ptx_arena *arena, size_t size)
{
    const size_t alignment = _Alignof(max_align_t);
    if (size > SIZE_MAX / 2) return NULL;
    size = (size + alignment - 1) / alignment * alignment;

    struct ptx_chunk *chunk = arena->chunks;
    if (!chunk || chunk->size - chunk->used < size) {
        size_t room = size > CHUNK_SIZE / 4 ? size : CHUNK_SIZE;
        struct ptx_chunk *fresh = calloc(1, sizeof *fresh + room);
        if (!fresh) return NULL;
        fresh->size = room;
        if (chunk && room == size) { /* a large one of its own: the open chunk stays in front */
            fresh->used = size;
            fresh->next = chunk->next;
            chunk->next = fresh;
            return fresh->bytes;
        }
        fresh->next = chunk;
        arena->chunks = chunk = fresh;
    }
    void *place = chunk->bytes + chunk->used;
    chunk->used += size;
    return place;
}

void ptx_arena_free(struct ptx_arena *arena)
{
    while (arena->chunks) {
        struct ptx_chunk *next = arena->chunks->next;
        free(arena->chunks);
        arena->chunks = next;
    }
}

uint32_t ptx_hash(const char *text, size_t length)
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

static struct ptx_map_entry *map_slot(struct ptx_map_entry *entries, uint32_t capacity,
                                      const char *name, size_t length, uint32_t hash)
{
    uint32_t i = hash & (capacity - 1);
    while (entries[i].name && !(entries[i].hash == hash && entries[i].length == length &&
                                memcmp(entries[i].name, name, length) == 0))
        i = (i + 1) & (capacity - 1);
    return &entries[i];
}

const void *ptx_map_get(const struct ptx_map *map, const char *name, size_t length)
{
    if (map->capacity == 0) return NULL;
    return map_slot(map->entries, map->capacity, name, length, ptx_hash(name, length))->value;
}

bool ptx_map_put(struct ptx_map *map, struct ptx_arena *arena, const char *name, size_t length,
                 const void *value)
{
    if (map->count >= map->capacity / 2) {
        uint32_t capacity = map->capacity ? map->capacity * 2 : MAP_START;
        struct ptx_map_entry *entries = ptx_arena_get(arena, (size_t)capacity * sizeof *entries);
        if (!entries) return false;
        for (uint32_t i = 0; i < map->capacity; i++) {
            const struct ptx_map_entry *old = &map->entries[i];
            if (old->name) *map_slot(entries, capacity, old->name, old->length, old->hash) = *old;
        }
        map->entries = entries;
        map->capacity = capacity;
    }
    uint32_t hash = ptx_hash(name, length);
    struct ptx_map_entry *slot = map_slot(map->entries, map->capacity, name, length, hash);
    if (!slot->name) map->count++;
    *slot = (struct ptx_map_entry){name, (uint32_t)length, hash, value};
    return true;
}
