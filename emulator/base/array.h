/* array: arrays that grow by doubling, each kept by its owner as a pointer from malloc, a count and
 * a room. It never shrinks one and never frees one.
 */
#ifndef OVERLAP_EMULATOR_BASE_ARRAY_H
#define OVERLAP_EMULATOR_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Makes room for one element more than `count`: `array` is the address of the pointer, NULL at
 * first; `*room` and `size` count elements and the bytes of one. What is new is not initialised.
 * False without memory: the array is as it was. */
bool array_grow(void *array, size_t count, size_t *room, size_t size);
/* The same for `count` elements in all, of which those that are new are zeros. */
bool array_reserve(void *array, size_t count, size_t *room, size_t size);

#endif
