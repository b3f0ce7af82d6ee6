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
    int32_t settled;   /* at this floor no load leaves anything; check/block_shadow_row.h */
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

/* The block's, made when it is first needed; NULL: no memory. */
struct exec_block_shadow *exec_block_shadow_make(struct exec_block *block);
static inline struct exec_block_shadow *exec_block_shadow_of(const struct exec_warp *warp)
{
    struct exec_block_shadow *near = warp->block->near;
    return near != NULL ? near : exec_block_shadow_make(warp->block);
}

/* Where a line of memory has its place. */
static inline struct exec_block_shadow_line *
exec_block_shadow_place(const struct exec_block_shadow *near, uint64_t line)
{
    return &near->lines[(uint32_t)(line ^ line >> 9 ^ line >> 18) & near->mask];
}

/* What is known of a line of memory that is about to be touched; NULL: nothing, and there is no
 * place for it. `fresh`: nobody has touched it since the block's last order. */
static inline struct exec_block_shadow_line *
exec_block_shadow_find(struct exec_block_shadow *near, uint64_t line, bool loads, bool *fresh)
{
    const struct exec_shadow *shadow = near->shadow;
    const int32_t now = shadow->time << EXEC_SHADOW_TIME;
    struct exec_block_shadow_line *found = exec_block_shadow_place(near, line);
    *fresh = found->touched < shadow->floor || found->touched > now;
    if (!*fresh && found->line != line) return NULL;
    if (*fresh) {
        found->line = line;
        found->row = 0;
    }
    if (*fresh || !loads) found->settled = 0;
    found->touched = now;
    return found;
}

/* Whether loads by the warp of anything in the span leave nothing that is not there already. */
static inline bool exec_block_shadow_is_known(const struct exec_warp *warp,
                                              const struct exec_span *span)
{
    const struct exec_block_shadow *near = warp->block->near;
    if (near == NULL || near->shadow->converses || !exec_span_is_few(span)) return false;
    struct exec_shadow *shadow = near->shadow;
    const uint64_t last = (span->end - 1) >> EXEC_NEAR_LINE_BITS;
    for (uint64_t line = span->first >> EXEC_NEAR_LINE_BITS; line <= last; line++) {
        const struct exec_block_shadow_line *found = exec_block_shadow_place(near, line);
        if (found->line != line || found->settled != shadow->floor) return false;
    }
    shadow->touched |= 1u << warp->index;
    return true;
}

/* Gives the line cells, in which units of `unit` bytes can be told apart; false: no memory. */
bool exec_block_shadow_open(struct exec_block_shadow *near, struct exec_block_shadow_line *line,
                            uint32_t unit);

static inline size_t exec_block_shadow_offset(const struct exec_block_shadow *near,
                                              const struct exec_block_shadow_line *line)
{
    return (size_t)(line - near->lines) << EXEC_NEAR_LINE_BITS;
}

/* The cells of a line that has none yet, of a row of units of 1 << shadow->shift bytes or more. */
static inline void exec_block_shadow_fill(const struct exec_block_shadow *near,
                                          struct exec_block_shadow_line *line)
{
    const struct exec_shadow *shadow = near->shadow;
    const size_t first = (exec_block_shadow_offset(near, line) + line->begin) >> shadow->shift;
    int32_t *cells = shadow->cells[line->kept] + first;
    uint32_t *sites = shadow->sites[line->kept] + first;
    const uint32_t count = (uint32_t)line->bytes >> shadow->shift;
    const uint32_t of_lane = line->lane_bits - shadow->shift;
    for (uint32_t k = 0; k < count; k++) {
        cells[k] = line->row + (int32_t)(k >> of_lane);
        sites[k] = line->site;
    }
    line->row = 0;
}

/* Whether the warp has touched anything, of either memory, since its last order. Most shuffles
 * stand behind one another, with nothing touched between. */
static inline bool exec_block_shadow_warp_touched(const struct exec_warp *warp)
{
    const struct exec_block *block = warp->block;
    const uint32_t bit = 1u << warp->index;
    return block->visits || exec_shadow_is_touched(block->shadow, bit) ||
           (block->near != NULL && exec_shadow_is_touched(block->near->shadow, bit));
}

/* Whether a touch through `cache` is worth looking at: what nobody has stored to, anybody reads and
 * changes atomically. */
static inline bool exec_block_shadow_wanted(const struct exec_region_cache *cache)
{
    return cache->between_threads &&
           (cache->access == EXEC_STORE || exec_owners_seen(cache->owners, EXEC_STORE));
}

#endif
