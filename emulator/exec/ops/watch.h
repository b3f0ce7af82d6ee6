/* exec_watch: the simplest race checks of row "watch", which checks accesses to shared memory:
 * shared by ops/racecheck.c and the machine code of ops/quick.c and native/. Private to
 * emulator/exec.
 */
#ifndef OVERLAP_EXEC_OPS_WATCH_H
#define OVERLAP_EXEC_OPS_WATCH_H

#include "emulator/exec/check/shadow.h"
#include "emulator/exec/ops/lanes.h"

/* exec_inst.cache of a "watch" before an access of 4 bytes. */
enum {
    EXEC_WATCH_ORDINARY = 4 | 1 << EXEC_WATCH_COUNT_SHIFT,
    EXEC_WATCH_LOAD = EXEC_WATCH_ORDINARY | EXEC_LOAD << EXEC_WATCH_ACCESS_SHIFT,
    EXEC_WATCH_STORE =
        EXEC_WATCH_ORDINARY | EXEC_STORE << EXEC_WATCH_ACCESS_SHIFT | EXEC_WATCH_VALUES,
    EXEC_WATCH_ATOMIC = EXEC_WATCH_ORDINARY | EXEC_ATOMIC << EXEC_WATCH_ACCESS_SHIFT,
};

/* Returns true for that kind (EXEC_WATCH_LOAD, ...). Full warps need no more than this: the flags
 * COUNTS and EXCHANGES are ignored. */
static inline bool exec_watch_is(const struct exec_inst *inst, uint32_t kind)
{
    return (inst->cache & ~(uint32_t)(EXEC_WATCH_COUNTS | EXEC_WATCH_EXCHANGES)) == kind;
}

/* exec_watch_tells: the block's cells, which must exist, stand for 4 bytes each and hold everything
 * that matters. exec_watch_is_plain: and there has been no atomic. Each compiles to one branch,
 * since machine code asks at every load. */
static inline bool exec_watch_tells(const struct exec_block *block)
{
    const struct exec_shadow *shadow = block->shadow;
    return !((shadow->shift ^ 2) | shadow->converses | shadow->visited);
}

static inline bool exec_watch_is_plain(const struct exec_block *block)
{
    return exec_watch_tells(block) & !block->shadow->atomics;
}

/* Does the same as check/shadow.c for a cell that threads `first` to `last` of a warp load, with no
 * write in their way: recording the first and the last of them is enough. */
static inline void exec_watch_same(struct exec_shadow *shadow, uint32_t at, int32_t first,
                                   int32_t last, uint32_t site)
{
    int32_t *cell = shadow->cells[EXEC_KEPT_READ] + at,
            *other = shadow->cells[EXEC_KEPT_READ_OTHER];
    uint32_t *sites = shadow->sites[EXEC_KEPT_READ];
    const int32_t now = shadow->time << EXEC_SHADOW_TIME;
    if (other[at] >= shadow->floor) return;
    if (*cell >= shadow->floor && (*cell & EXEC_SHADOW_THREAD) / EXEC_LANES != first / EXEC_LANES) {
        other[at] = *cell;
        shadow->sites[EXEC_KEPT_READ_OTHER][at] = sites[at];
        *cell = now | first;
    } else {
        *cell = now | last | EXEC_SHADOW_MANY;
    }
    sites[at] = site;
}

/* Each half of a warp loads one cell. Returns false when the slow path must do it. */
static inline bool exec_watch_sames(struct exec_warp *warp, const struct exec_inst *inst,
                                    const uint32_t *at)
{
    struct exec_shadow *shadow = warp->block->shadow;
    const int32_t *writes = shadow->cells[EXEC_KEPT_WRITE];
    const int32_t first = (s32)(warp->index * EXEC_LANES), last = first + EXEC_LANES - 1;
    const uint32_t site = inst->position;
    if (writes[at[0]] >= shadow->floor || writes[at[1]] >= shadow->floor) return false;
    if (at[0] == at[1]) {
        exec_watch_same(shadow, at[0], first, last, site);
    } else {
        exec_watch_same(shadow, at[0], first, first + EXEC_HALF - 1, site);
        exec_watch_same(shadow, at[1], first + EXEC_HALF, last, site);
    }
    return true;
}

#endif
