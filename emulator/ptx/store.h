/* ptx's store: name tables and lists in the module's arena. */
#ifndef OVERLAP_PTX_STORE_H
#define OVERLAP_PTX_STORE_H

#include "emulator/base/arena.h"
#include "emulator/base/hash.h"

#include <stdint.h>

/* A hash table from names to values, with open addressing. A name may be put once only. */
struct ptx_map_entry {
    const char *name; /* not copied */
    uint32_t length;
    uint32_t hash;
    const void *value;
};
struct ptx_map {
    struct ptx_map_entry *entries;
    uint32_t count;
    uint32_t capacity;
};
const void *ptx_map_get(const struct ptx_map *map, const char *name, size_t length);
bool ptx_map_put(struct ptx_map *map, struct arena *arena, const char *name, size_t length,
                 const void *value); /* false: out of memory */

/* Grows by ptx_push (parser.h). */
struct ptx_list {
    void *items;
    uint32_t count;
    uint32_t capacity;
};

#endif
