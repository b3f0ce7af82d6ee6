/* exec_block_shadow: race check between the threads of a block on global memory. Keeps which thread
 * touched each word last, and decides whether anything orders a new touch after those. Private to
 * emulator/exec.
 *
 * The rules and cells are those of shared memory (check/shadow.h), with two exceptions: an atomic
 * against a load is no race, and a load from an address that a store further on in the function
 * uses too is a look before the act, as between blocks (check/grid_shadow.h). The heap of malloc in
 * kernels is not checked.
 *
 * Global memory is large, but what a block touches between two barriers usually is not. So a block
 * has cells for a limited number of lines of memory; a line keeps its cells from its first touch to
 * the block's next barrier. A line that finds its place taken is not recorded, nor is a load from
 * an allocation that nothing has been stored to in this launch: some races are missed, no correct
 * program is reported.
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
    EXEC_NEAR_LEAST = 128, /* lines, at least; more for a block of many threads */
    EXEC_NEAR_WIDEST = 16, /* most bytes of a lane's access that is handled as a row */
};

/* A line of memory. Most lines are touched once, by a warp's row, or read and then written by one.
 * Such a line stores that row itself and gets cells only when another touch comes. */
struct exec_block_shadow_line {
    uint64_t line;   /* address >> EXEC_NEAR_LINE_BITS */
    int32_t touched; /* moment of the last touch, as in a cell */
    int32_t settled; /* while the floor is this, loads add nothing; check/block_shadow_row.h */
    int32_t row;     /* cell value of the row's first thread in this line; 0: the line has cells */
    uint32_t sites[2]; /* source positions of the row's WRITE and READ: enum exec_kept */
    uint8_t begin;     /* first byte of the row in the line */
    uint8_t bytes;     /* bytes of the row in the line */
    uint8_t lane_bits; /* a lane's bytes are 1 << lane_bits */
    uint8_t kept;      /* bitmap: which of WRITE and READ the row is */
};

struct exec_block_shadow {
    struct exec_shadow *shadow; /* line k: the cells from byte k * EXEC_NEAR_LINE on */
    struct exec_block_shadow_line *lines;
    uint32_t mask;      /* number of lines - 1 */
    uint32_t crowded;   /* touches by single lanes that found their place taken ... */
    int32_t crowded_at; /* ... since this floor */
};

/* Returns one of the block's shadows, of shared or of global memory: all have the same moments.
 * NULL: it has none yet. */
static inline const struct exec_shadow *exec_block_shadow_any(const struct exec_block *block)
{
    if (block->shadow != NULL) return block->shadow;
    return block->near != NULL ? block->near->shadow : NULL;
}

/* Returns the present moment, as a cell value without a thread. */
static inline int32_t exec_block_shadow_moment(const struct exec_block *block)
{
    const struct exec_shadow *shadow = exec_block_shadow_any(block);
    return (shadow != NULL ? shadow->time : 1) << EXEC_SHADOW_TIME;
}

/* The shadow's time starts again: forgets all lines. */
void exec_block_shadow_forget(struct exec_block_shadow *near);
/* Returns the address whose cell is at `offset` of the shadow. */
uint64_t exec_block_shadow_address(const struct exec_block_shadow *near, uint64_t offset);

/* The block's shadow, made on first use. NULL: no memory. */
struct exec_block_shadow *exec_block_shadow_make(struct exec_block *block);
static inline struct exec_block_shadow *exec_block_shadow_of(const struct exec_warp *warp)
{
    struct exec_block_shadow *near = warp->block->near;
    return near != NULL ? near : exec_block_shadow_make(warp->block);
}

/* Returns the only place that a line of memory can have. */
static inline struct exec_block_shadow_line *
exec_block_shadow_place(const struct exec_block_shadow *near, uint64_t line)
{
    return &near->lines[(uint32_t)(line ^ line >> 9 ^ line >> 18) & near->mask];
}

/* Returns the state of a line of memory that is about to be touched, or NULL if its place is taken
 * by another line. `fresh`: nobody has touched the line since the block's last order. */
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

/* Returns true when recording loads by the warp anywhere in the span would change nothing. */
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

/* Gives the line cells for units of `unit` bytes. Returns false without memory. */
bool exec_block_shadow_open(struct exec_block_shadow *near, struct exec_block_shadow_line *line,
                            uint32_t unit);

/* The same, for the usual line, which needs nothing. */
static inline bool exec_block_shadow_ready(struct exec_block_shadow *near,
                                           struct exec_block_shadow_line *line, uint32_t unit)
{
    const struct exec_shadow *shadow = near->shadow;
    return (!line->row && shadow->cells[0] != NULL && unit >> shadow->shift != 0) ||
           exec_block_shadow_open(near, line, unit);
}

static inline size_t exec_block_shadow_offset(const struct exec_block_shadow *near,
                                              const struct exec_block_shadow_line *line)
{
    return (size_t)(line - near->lines) << EXEC_NEAR_LINE_BITS;
}

/* Writes the row that a line stores into its cells. The row's units are 1 << shadow->shift bytes or
 * more. */
static inline void exec_block_shadow_fill(const struct exec_block_shadow *near,
                                          struct exec_block_shadow_line *line)
{
    const struct exec_shadow *shadow = near->shadow;
    const size_t first = (exec_block_shadow_offset(near, line) + line->begin) >> shadow->shift;
    const uint32_t count = (uint32_t)line->bytes >> shadow->shift;
    const uint32_t of_lane = line->lane_bits - shadow->shift;
    for (unsigned kept = EXEC_KEPT_WRITE; kept <= EXEC_KEPT_READ; kept++) {
        int32_t *cells = shadow->cells[kept] + first;
        uint32_t *sites = shadow->sites[kept] + first;
        if (!(line->kept >> kept & 1)) continue;
        for (uint32_t k = 0; k < count; k++) {
            cells[k] = line->row + (int32_t)(k >> of_lane);
            sites[k] = line->sites[kept];
        }
    }
    line->row = 0;
}

/* Returns true if the warp has touched shared or global memory since its last order. Most shuffles
 * follow one another with no touch between. */
static inline bool exec_block_shadow_warp_touched(const struct exec_warp *warp)
{
    const struct exec_block *block = warp->block;
    const uint32_t bit = 1u << warp->index;
    return block->visits || exec_shadow_is_touched(block->shadow, bit) ||
           (block->near != NULL && exec_shadow_is_touched(block->near->shadow, bit));
}

/* Returns true when a touch through `cache` can find or change anything: loads and atomics on
 * memory that nobody has stored to are no race. */
static inline bool exec_block_shadow_wanted(const struct exec_region_cache *cache)
{
    return cache->between_threads &&
           (cache->access == EXEC_STORE || exec_owners_seen(cache->owners, EXEC_STORE));
}

#endif
