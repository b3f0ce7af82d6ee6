/* exec_block_shadow's quick way: a full warp's row of neighbouring words, all at once, in loops
 * that the compiler makes vector instructions of. What it cannot settle, it leaves to
 * exec_block_shadow_lanes. Private to emulator/exec; for the handlers of loads and stores.
 */
#ifndef OVERLAP_EXEC_CHECK_BLOCK_SHADOW_ROW_H
#define OVERLAP_EXEC_CHECK_BLOCK_SHADOW_ROW_H

#include "emulator/exec/check/block_shadow.h"

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

/* Lanes of a warp, neighbours, whose elements are. */
struct exec_block_shadow_run {
    uint64_t address;
    uint32_t lane, lanes; /* from this one on, so many */
    uint32_t unit;        /* bytes of a unit, of which ... */
    uint32_t each;        /* ... so many make an element: a power of two */
};

/* `wanted` says 1 for the units that matter: a store's, if it changes them; `all`: they all do.
 * False: lane by lane it has to be. */
static inline bool exec_block_shadow_row(struct exec_warp *warp, const struct exec_inst *inst,
                                         const struct exec_block_shadow_run *run, bool store,
                                         const uint32_t *wanted, bool all)
{
    struct exec_block_shadow *near = exec_block_shadow_of(warp);
    const enum exec_kept kept = store ? EXEC_KEPT_WRITE : EXEC_KEPT_READ;
    const uint32_t unit = run->unit, units = run->lanes * run->each;
    struct exec_block_shadow_part part = {.shift = (uint32_t)__builtin_ctz(run->each),
                                          .thread = warp->index * EXEC_LANES + run->lane};
    if (near == NULL) return true;
    struct exec_shadow *shadow = near->shadow;
    const int32_t now = shadow->time << EXEC_SHADOW_TIME;
    const uint8_t lane_bits = (uint8_t)(part.shift + (uint32_t)__builtin_ctz(unit));
    shadow->touched |= 1u << warp->index;
    for (; part.first < units; part.first += part.count) {
        const uint64_t at = run->address + unit * (uint64_t)part.first;
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
        exec_shadow_read_row(shadow, part.index, part.count, exec_block_shadow_thread(&part, 0),
                             part.shift, inst->position);
    }
    return true;
}

#endif
