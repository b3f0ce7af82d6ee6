/* objects: the live handles and the number of each. The value of a handle is reused after its
 * object has ended; a number never is.
 */
#ifndef OVERLAP_RECORDER_OBJECTS_H
#define OVERLAP_RECORDER_OBJECTS_H

#include <stdbool.h>
#include <stdint.h>

struct object {
    uint32_t what; /* enum trace_what */
    uint64_t handle;
    uint64_t id;
    uint64_t context; /* number of the context that it belongs to */
    uint64_t bytes;
    bool pooled; /* memory from a pool, or a pool: cuCtxDestroy leaves it */
};

/* Adds an object. `id` 0: assigns the next number. Returns its number; 0: no memory. All functions
 * here are thread-safe. */
uint64_t objects_add(const struct object *object);

/* The number of a live object; 0: none. `what` 0: of any kind. */
uint64_t objects_find(uint32_t what, uint64_t handle);

/* Removes an object. Returns 1 and a copy of it, or 0. `what` TRACE_NONE: of any kind. */
int objects_take(uint32_t what, uint64_t handle, struct object *taken);

/* Removes any one object of that context, with `all` a pooled one too. Returns 1 and a copy of
 * it, or 0 when none is left. */
int objects_take_of_context(uint64_t context, bool all, struct object *taken);

#endif
