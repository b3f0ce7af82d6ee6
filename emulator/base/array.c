#include "emulator/base/array.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST = 16 }; /* elements */

/* `array` points to a pointer of an unknown type. Reading it as a `void *` would violate strict
 * aliasing, so its bytes are copied. */
static bool set_room(void *array, size_t *room, size_t wanted, size_t size)
{
    void *elements;
    memcpy(&elements, array, sizeof elements);
    elements = reallocarray(elements, wanted, size);
    if (elements == NULL) return false;
    memcpy(array, &elements, sizeof elements);
    *room = wanted;
    return true;
}

bool array_grow(void *array, size_t count, size_t *room, size_t size)
{
    assert(count <= *room);
    if (count < *room) return true;
    return set_room(array, room, *room == 0 ? LEAST : *room * 2, size);
}

bool array_reserve(void *array, size_t count, size_t *room, size_t size)
{
    const size_t before = *room;
    size_t wanted = before == 0 ? LEAST : before;
    if (count <= before) return true;
    while (wanted < count) wanted *= 2;
    if (!set_room(array, room, wanted, size)) return false;
    unsigned char *elements;
    memcpy(&elements, array, sizeof elements);
    memset(elements + before * size, 0, (wanted - before) * size);
    return true;
}
