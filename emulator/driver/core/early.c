#include "emulator/driver/core/early.h"

#include "emulator/base/array.h"
#include "emulator/driver/core/core.h"

#include <stdlib.h>

bool early_add(struct early_kernels *to, struct timeline_op *kernel)
{
    for (size_t i = 0; i < to->count; i++)
        if (to->list[i] == kernel) return true;
    if (!array_grow(&to->list, to->count, &to->room, sizeof(struct timeline_op *))) return false;
    to->list[to->count++] = timeline_op_retain(kernel);
    return true;
}

static bool host_knows(const struct timeline_op *kernel, const void *unused)
{
    (void)unused;
    return timeline_host_knows_op(driver.timeline, kernel);
}

static bool is_before(const struct timeline_op *kernel, const void *op)
{
    return timeline_happens_before(timeline_op_when(kernel), op, TIMELINE_PROMISED);
}

static void remove_where(struct early_kernels *kernels,
                         bool (*is_over)(const struct timeline_op *kernel, const void *why),
                         const void *why)
{
    size_t kept = 0;
    for (size_t i = 0; i < kernels->count; i++) {
        struct timeline_op *kernel = kernels->list[i];
        if (is_over(kernel, why))
            timeline_op_release(kernel);
        else
            kernels->list[kept++] = kernel;
    }
    kernels->count = kept;
}

bool early_add_all(struct early_kernels *to, const struct early_kernels *from)
{
    if (from->count == 0) return true;
    remove_where(to, host_knows, NULL); /* a stream without kernels takes none of them away */
    for (size_t i = 0; i < from->count; i++)
        if (!host_knows(from->list[i], NULL) && !early_add(to, from->list[i])) return false;
    return true;
}

void early_remove_before(struct early_kernels *kernels, const struct timeline_op *op)
{
    remove_where(kernels, is_before, op);
}

void early_clear(struct early_kernels *kernels)
{
    for (size_t i = 0; i < kernels->count; i++) timeline_op_release(kernels->list[i]);
    free(kernels->list);
    *kernels = (struct early_kernels){.list = NULL};
}
