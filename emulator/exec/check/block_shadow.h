/* exec_block_shadow: which thread of a block touched each word of global memory last, and whether
 * anything orders a new touch behind those. Private to emulator/exec.
 *
 * The rules are those of shared memory, by the same cells (check/shadow.h), but for two: an atomic
 * against a load is no race, and a load whose address a store further on in the function has too is
 * a look before the act, as between blocks (check/grid_shadow.h). The heap of malloc in kernels is
 * not looked at.
 *
 * Global memory is large, and what a block touches between two barriers mostly is not. So a block
 * has cells for so many lines of memory, and a line has them from its first touch until the block's
 * next barrier. A line that finds none free, and a load from an allocation that nothing has been
 * stored to yet in this launch, are not remembered: a race may be missed, no order is.
 *
 * Source: as check/shadow.h.
 */
#ifndef OVERLAP_EXEC_CHECK_BLOCK_SHADOW_H
#define OVERLAP_EXEC_CHECK_BLOCK_SHADOW_H

#include "emulator/exec/check/grid_shadow.h"
#include "emulator/exec/check/shadow.h"

enum {
    EXEC_NEAR_LINE_BITS = 7, /* bytes of a line: 128 */
    EXEC_NEAR_LINE = 1 << EXEC_NEAR_LINE_BITS,
    EXEC_NEAR_LEAST = 128, /* lines; a block of many threads has more */
    EXEC_NEAR_WIDEST = 16, /* bytes of a lane's access, of those that come as rows */
};

/* A line of memory. Most are touched once, by a warp's row: that has no cells until somebody else
 * comes. */
struct exec_block_shadow_line {
    uint64_t line;     /* address >> EXEC_NEAR_LINE_BITS */
    int32_t touched;   /* when last, as cells have it */
    int32_t row;       /* the cell of the row's first thread here; 0: the line has cells */
    uint32_t site;     /* of the row */
    uint8_t begin;     /* where it begins in the line; bytes */
    uint8_t bytes;     /* of it here */
    uint8_t lane_bits; /* a lane's bytes are 1 << lane_bits */
    uint8_t kept;      /* enum exec_kept: WRITE or READ */
};

struct exec_block_shadow {
    struct exec_shadow
        *shadow; /* line k's cells stand where those of bytes k * EXEC_NEAR_LINE do */
    struct exec_block_shadow_line *lines;
    uint32_t mask;      /* their number - 1 */
    uint32_t crowded;   /* how many touches by single lanes found no line free ... */
    int32_t crowded_at; /* ... since this floor */
};

/* The block's shadows, of shared and of this memory, have their moments in common: one of them.
 * NULL: it has none yet. */
static inline const struct exec_shadow *exec_block_shadow_any(const struct exec_block *block)
{
    if (block->shadow != NULL) return block->shadow;
    return block->near != NULL ? block->near->shadow : NULL;
}

/* The present moment: a cell of no thread. */
static inline int32_t exec_block_shadow_moment(const struct exec_block *block)
{
    const struct exec_shadow *shadow = exec_block_shadow_any(block);
    return (shadow != NULL ? shadow->time : 1) << EXEC_SHADOW_TIME;
}

/* The shadow's time begins anew: nothing is known. */
void exec_block_shadow_forget(struct exec_block_shadow *near);
/* The address of what stands at `offset` of the shadow. */
uint64_t exec_block_shadow_address(const struct exec_block_shadow *near, uint64_t offset);

/* ---- a full warp's row of neighbouring words, all at once ------------------------------------ */

/* The block's, made when it is first needed; NULL: no memory. */
struct exec_block_shadow *exec_block_shadow_make(struct exec_block *block);
static inline struct exec_block_shadow *exec_block_shadow_of(const struct exec_warp *warp)
{
    struct exec_block_shadow *near = warp->block->near;
    return near != NULL ? near : exec_block_shadow_make(warp->block);
}

/* What is known of a line of memory; NULL: nothing, and there is no place for it. `fresh`: nobody
 * has touched it since the block's last order. */
static inline struct exec_block_shadow_line *exec_block_shadow_find(struct exec_block_shadow *near,
                                                                    uint64_t line, bool *fresh)
{
    const struct exec_shadow *shadow = near->shadow;
    const int32_t now = shadow->time << EXEC_SHADOW_TIME;
    const uint32_t k = (uint32_t)(line ^ line >> 9 ^ line >> 18) & near->mask;
    struct exec_block_shadow_line *found = &near->lines[k];
    *fresh = found->touched < shadow->floor || found->touched > now;
    if (!*fresh && found->line != line) return NULL;
    if (*fresh) {
        found->line = line;
        found->row = 0;
    }
    found->touched = now;
    return found;
}

/* Gives the line cells, in which units of `unit` bytes can be told apart; false: no memory. */
bool exec_block_shadow_open(struct exec_block_shadow *near, struct exec_block_shadow_line *line,
                            uint32_t unit);

static inline size_t exec_block_shadow_offset(const struct exec_block_shadow *near,
                                              const struct exec_block_shadow_line *line)
{
    return (size_t)(line - near->lines) << EXEC_NEAR_LINE_BITS;
}

/* Part of a row in one line: `count` cells from `index` on, the first of which is that of the row's
 * unit `first`. A lane has 1 << shift units of the row. */
struct exec_block_shadow_part {
    size_t index;
    uint32_t first, count, shift;
    uint32_t thread; /* of lane 0 */
};

static inline int32_t exec_block_shadow_thread(const struct exec_block_shadow_part *part,
                                               uint32_t k)
{
    return (int32_t)(part->thread + ((part->first + k) >> part->shift));
}

/* Whether a cell means a touch by another thread that nothing orders. A part of a warp's order is
 * left to the slow way. */
static inline bool exec_block_shadow_strange(const struct exec_shadow *shadow, enum exec_kept kept,
                                             const struct exec_block_shadow_part *part,
                                             const uint32_t *wanted)
{
    const int32_t *cells = shadow->cells[kept] + part->index;
    const int32_t floor = shadow->floor;
    uint32_t strange = 0;
    for (uint32_t k = 0; k < part->count; k++) {
        const bool own = (cells[k] & (EXEC_SHADOW_THREAD | EXEC_SHADOW_MANY)) ==
                         exec_block_shadow_thread(part, k);
        strange |= (uint32_t)(cells[k] >= floor) & !own & wanted[k];
    }
    return strange != 0;
}

/* Where a store changes nothing, what another has stored is nobody's now. */
static inline void exec_block_shadow_leave(struct exec_shadow *shadow, enum exec_kept kept,
                                           const struct exec_block_shadow_part *part,
                                           const uint32_t *wanted, uint32_t site)
{
    int32_t *cells = shadow->cells[kept] + part->index;
    uint32_t *sites = shadow->sites[kept] + part->index;
    const int32_t now = shadow->time << EXEC_SHADOW_TIME;
    for (uint32_t k = 0; k < part->count; k++) {
        const int32_t thread = exec_block_shadow_thread(part, k);
        const bool own = (cells[k] & (EXEC_SHADOW_THREAD | EXEC_SHADOW_MANY)) == thread;
        cells[k] = wanted[k] ? now | thread : own ? cells[k] : 0;
        sites[k] = wanted[k] ? site : sites[k];
    }
}

/* The row's part as the line's only touch, or the same threads' once more; false: it takes cells.
 */
static inline bool exec_block_shadow_alone(struct exec_block_shadow_line *line, bool fresh,
                                           uint8_t begin, uint8_t bytes, uint8_t lane_bits,
                                           enum exec_kept kept, int32_t cell, uint32_t site)
{
    const bool again = line->row && line->begin == begin && line->bytes == bytes &&
                       line->lane_bits == lane_bits && line->kept == kept &&
                       ((line->row ^ cell) & EXEC_SHADOW_THREAD) == 0;
    if (!fresh && !again) return false;
    line->row = cell;
    line->site = site;
    line->begin = begin;
    line->bytes = bytes;
    line->lane_bits = lane_bits;
    line->kept = (uint8_t)kept;
    return true;
}

/* A row of `units` units of `unit` bytes at `address`, of which `wanted` says 1 for those that
 * matter: a store's, if it changes them; `all`: they all do. False: lane by lane it has to be. */
static inline bool exec_block_shadow_row(struct exec_warp *warp, const struct exec_inst *inst,
                                         uint64_t address, uint32_t units, uint32_t unit,
                                         bool store, const uint32_t *wanted, bool all)
{
    struct exec_block_shadow *near = exec_block_shadow_of(warp);
    const enum exec_kept kept = store ? EXEC_KEPT_WRITE : EXEC_KEPT_READ;
    struct exec_block_shadow_part part = {.shift = (uint32_t)__builtin_ctz(units / EXEC_LANES),
                                          .thread = warp->index * EXEC_LANES};
    if (near == NULL) return true;
    struct exec_shadow *shadow = near->shadow;
    const int32_t now = shadow->time << EXEC_SHADOW_TIME;
    const uint8_t lane_bits = (uint8_t)(part.shift + (uint32_t)__builtin_ctz(unit));
    shadow->touched |= 1u << warp->index;
    for (; part.first < units; part.first += part.count) {
        const uint64_t at = address + unit * (uint64_t)part.first;
        const uint32_t inside = (uint32_t)(at % EXEC_NEAR_LINE);
        bool fresh;
        part.count = (EXEC_NEAR_LINE - inside) / unit;
        if (part.count > units - part.first) part.count = units - part.first;
        struct exec_block_shadow_line *line =
            exec_block_shadow_find(near, at >> EXEC_NEAR_LINE_BITS, &fresh);
        if (line == NULL) continue;
        if (all && exec_block_shadow_alone(
                       line, fresh, (uint8_t)inside, (uint8_t)(part.count * unit), lane_bits, kept,
                       now | exec_block_shadow_thread(&part, 0), inst->position))
            continue;
        if (!exec_block_shadow_open(near, line, unit)) continue;
        if (1u << shadow->shift != unit || shadow->atomics || shadow->converses) return false;
        part.index = (exec_block_shadow_offset(near, line) + inside) / unit;
        const uint32_t *here = wanted + part.first;
        if (exec_block_shadow_strange(shadow, EXEC_KEPT_WRITE, &part, here)) return false;
        if (store) {
            if (exec_block_shadow_strange(shadow, EXEC_KEPT_READ, &part, here) ||
                exec_block_shadow_strange(shadow, EXEC_KEPT_READ_OTHER, &part, here))
                return false;
            exec_block_shadow_leave(shadow, EXEC_KEPT_WRITE, &part, here, inst->position);
            continue;
        }
        /* With two readers of different warps no write is unseen. */
        const int32_t *others = shadow->cells[EXEC_KEPT_READ_OTHER] + part.index;
        uint32_t alone = 0;
        for (uint32_t k = 0; k < part.count; k++) alone |= (uint32_t)(others[k] < shadow->floor);
        if (!alone) continue;
        if (exec_block_shadow_strange(shadow, EXEC_KEPT_READ, &part, here)) return false;
        exec_block_shadow_leave(shadow, EXEC_KEPT_READ, &part, here, inst->position);
    }
    return true;
}

/* Whether a touch through `cache` is worth looking at: what nobody has stored to, anybody reads and
 * changes atomically. */
static inline bool exec_block_shadow_wanted(const struct exec_region_cache *cache)
{
    return cache->between_threads &&
           (cache->access == EXEC_STORE || exec_owners_seen(cache->owners, EXEC_STORE));
}

#endif
