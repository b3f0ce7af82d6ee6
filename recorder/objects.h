/* objects: which handles are alive, and the number that each was given: a handle's value is used
 * again after its object has ended, a number never is.
 */
#ifndef OVERLAP_RECORDER_OBJECTS_H
#define OVERLAP_RECORDER_OBJECTS_H

#include <stdint.h>

struct object {
    uint32_t what; /* enum trace_what */
    uint64_t handle;
    uint64_t id;
    uint64_t context; /* the number of the context that it is of */
    uint64_t bytes;
};

/* Adds one. `id` 0: gives it the next number. Returns its number, 0 when there is no memory. Safe
 * from several threads, as all of these. */
uint64_t objects_add(const struct object *object);

/* The number of a living object, 0 when there is none. `what` 0: of any kind. */
uint64_t objects_find(uint32_t what, uint64_t handle);

/* Takes one away; returns 1 and what it was, or 0. `what` TRACE_NONE: of any kind. */
int objects_take(uint32_t what, uint64_t handle, struct object *taken);

/* Takes any one of that context away, for as long as there is one. */
int objects_take_of_context(uint64_t context, struct object *taken);

#endif
