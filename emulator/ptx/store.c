/* Name tables in the module's arena. */
#include "emulator/ptx/internal.h"

#include <string.h>

#define MAP_START 16u

static struct ptx_map_entry *map_slot(struct ptx_map_entry *entries, uint32_t capacity,
                                      const char *name, size_t length, uint32_t hash)
{
    uint32_t i = hash & (capacity - 1);
    while (entries[i].name != NULL && !(entries[i].hash == hash && entries[i].length == length &&
                                        memcmp(entries[i].name, name, length) == 0))
        i = (i + 1) & (capacity - 1);
    return &entries[i];
}

const void *ptx_map_get(const struct ptx_map *map, const char *name, size_t length)
{
    if (map->capacity == 0) return NULL;
    return map_slot(map->entries, map->capacity, name, length, (uint32_t)hash_bytes(name, length))
        ->value;
}

bool ptx_map_put(struct ptx_map *map, struct arena *arena, const char *name, size_t length,
                 const void *value)
{
    if (map->count >= map->capacity / 2) {
        uint32_t capacity = map->capacity ? map->capacity * 2 : MAP_START;
        struct ptx_map_entry *entries = arena_take(arena, capacity, sizeof *entries);
        if (entries == NULL) return false;
        for (uint32_t i = 0; i < map->capacity; i++) {
            const struct ptx_map_entry *old = &map->entries[i];
            if (old->name != NULL)
                *map_slot(entries, capacity, old->name, old->length, old->hash) = *old;
        }
        map->entries = entries;
        map->capacity = capacity;
    }
    uint32_t hash = (uint32_t)hash_bytes(name, length);
    struct ptx_map_entry *slot = map_slot(map->entries, map->capacity, name, length, hash);
    if (slot->name == NULL) map->count++;
    *slot = (struct ptx_map_entry){name, (uint32_t)length, hash, value};
    return true;
}
