/* array: arrays that grow by doubling. The owner of an array keeps a pointer from malloc, the
 * number of elements in use and the number that have room. This module never shrinks or frees an
 * array.
 */
#ifndef OVERLAP_EMULATOR_BASE_ARRAY_H
#define OVERLAP_EMULATOR_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Makes room for one element more than `count`. `array` is the address of the owner's pointer,
 * which is NULL at first; `*room` counts elements, `size` is the bytes of one element. New elements
 * are not initialised. Returns false when the host has no memory; the array is then unchanged. */
bool array_grow(void *array, size_t count, size_t *room, size_t size);
/* As array_grow, but makes room for `count` elements in all, and zeroes the new ones. */
bool array_reserve(void *array, size_t count, size_t *room, size_t size);

#endif
