#include "emulator/exec/check/objects.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 64 }; /* initialisations between two barriers; those beyond are not checked */

struct initialised {
    uint64_t offset;
    uint32_t thread, site;
};

struct exec_objects {
    uint32_t count; /* since the last barrier */
    struct initialised latest[MOST];
    uint32_t heard[EXEC_MAX_WARPS]; /* per warp: the count when it last saw a phase complete */
};

void exec_objects_destroy(struct exec_objects *objects)
{
    free(objects);
}

void exec_objects_met(struct exec_objects *objects)
{
    if (objects == NULL || objects->count == 0) return;
    objects->count = 0;
    memset(objects->heard, 0, sizeof objects->heard);
}

void exec_objects_made(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                       uint64_t offset)
{
    struct exec_block *block = warp->block;
    if (block->shadow == NULL) return;
    if (block->objects == NULL) block->objects = calloc(1, sizeof *block->objects);
    struct exec_objects *objects = block->objects;
    if (objects == NULL || objects->count == MOST) return;
    objects->latest[objects->count++] =
        (struct initialised){offset, warp->index * EXEC_LANES + lane, inst->position};
}

void exec_objects_used(const struct exec_warp *warp, const struct exec_inst *inst, unsigned lane,
                       uint64_t offset)
{
    const struct exec_objects *objects = warp->block->objects;
    if (objects == NULL || warp->block->shadow == NULL || warp->block->shadow->converses) return;
    for (uint32_t k = objects->heard[warp->index]; k < objects->count; k++) {
        const struct initialised *made = &objects->latest[k];
        if (made->offset != offset || made->thread / EXEC_LANES == warp->index) continue;
        const struct exec_reported first = {made->thread, made->site, EXEC_STORE, true};
        const struct exec_reported second = {warp->index * EXEC_LANES + lane, inst->position,
                                             EXEC_ATOMIC, true};
        exec_report(warp, EXEC_WRONG_SHARED, &first, &second, NULL, offset, sizeof(uint64_t));
        return;
    }
}

void exec_objects_heard(const struct exec_warp *warp)
{
    struct exec_objects *objects = warp->block->objects;
    if (objects != NULL) objects->heard[warp->index] = objects->count;
}
