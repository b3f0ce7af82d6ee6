/* early: kernels whose programmatic events have been waited for. A kernel behind such a wait may
 * begin before they end, and what it does once it has waited for them (griddepcontrol.wait) is
 * behind their end; anything else behind the wait is not. Stands in streams and events, on its way
 * to the next kernel.
 */
#ifndef OVERLAP_DRIVER_CORE_EARLY_H
#define OVERLAP_DRIVER_CORE_EARLY_H

#include <stdbool.h>
#include <stddef.h>

#include "emulator/timeline/timeline.h"

/* Initially zero; a set without duplicates. */
struct early_kernels {
    struct timeline_op **list; /* references */
    size_t count, room;
};

/* Adds a kernel, with a reference of its own. Returns false, with nothing added, if memory runs
 * out. */
bool early_add(struct early_kernels *to, struct timeline_op *kernel);
/* Adds those that the host has not waited for, and removes those that it has. Returns false if
 * memory runs out. */
bool early_add_all(struct early_kernels *to, const struct early_kernels *from);
/* Removes those that happen before `op`, which is running, by other ways as well. */
void early_remove_before(struct early_kernels *kernels, const struct timeline_op *op);
/* Removes all and frees the list. */
void early_clear(struct early_kernels *kernels);

#endif
