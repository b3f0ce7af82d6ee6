/* The work of row "watch" (race checks of shared memory) for full warps in machine code: loads and
 * stores of rows of which, mostly, everything loaded was stored before a barrier. Only ops/quick.c
 * and ops/lone.c include this file. Each function returns true when everything is done; if not,
 * nothing is. Also defines the vector types of ops/quick.c.
 */
#ifndef OVERLAP_EXEC_OPS_QUICK_WATCH_H
#define OVERLAP_EXEC_OPS_QUICK_WATCH_H

#include "emulator/exec/ops/lanes.h"
#include "emulator/exec/ops/watch.h"

/* ---- vectors ------------------------------------------------------------------------------ */

/* Vectors of a half warp's and a full warp's elements, without alignment. */
#define VECTORS(T)                                                                                 \
    typedef T half_##T __attribute__((vector_size(EXEC_HALF * sizeof(T)), aligned(sizeof(T))));    \
    typedef T warp_##T __attribute__((vector_size(EXEC_LANES * sizeof(T)), aligned(sizeof(T))));
VECTORS(u8)
VECTORS(s8)
VECTORS(u16)
VECTORS(s16)
VECTORS(s32)
VECTORS(u32)
VECTORS(u64)

typedef warp_u32 lanes_u8, lanes_s8, lanes_u16, lanes_s16, lanes_u32;
typedef warp_u64 lanes_u64;

#define LOW_LANES 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#define HIGH_LANES 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31

/* Always inlined: only then do constant arguments fold. */
#define INLINE static inline __attribute__((always_inline))

/* ---- rows in shared memory ------------------------------------------------------------------- */

/* Return true when any, or every one, of 16 cells holds an access that is not ordered before this
 * one (at or above the shadow's floor). */
static inline bool any_recent(const s32 *cells, s32 floor)
{
    const half_s32 here = *(const half_s32 *)(const void *)cells;
    return __builtin_reduce_max((half_u32)(here >= floor)) != 0;
}

static inline bool all_recent(const s32 *cells, s32 floor)
{
    const half_s32 here = *(const half_s32 *)(const void *)cells;
    return __builtin_reduce_max((half_u32)(here < floor)) == 0;
}

/* Records that the warp reads both rows, if it is the first reader of all their cells, or the
 * second, after another warp: then all cells get what check/shadow.c would record in each. Returns
 * false, without effect, in mixed cases. */
static bool read_rows(struct exec_shadow *shadow, u32 low, u32 high, u32 warp, u32 site)
{
    const u32 at[2] = {low, high};
    const half_s32 lane = {LOW_LANES};
    s32 *reads = shadow->cells[EXEC_KEPT_READ], *others = shadow->cells[EXEC_KEPT_READ_OTHER];
    u32 *sites = shadow->sites[EXEC_KEPT_READ], *before = shadow->sites[EXEC_KEPT_READ_OTHER];
    const s32 floor = shadow->floor, now = shadow->time << EXEC_SHADOW_TIME;
    const bool first = !any_recent(reads + low, floor) & !any_recent(reads + high, floor);
    const bool second = all_recent(reads + low, floor) & all_recent(reads + high, floor);
    const bool twice = low == high;
    if ((!twice && high < low + EXEC_HALF) || any_recent(others + low, floor) ||
        any_recent(others + high, floor) || !(first | second) || now < shadow->warp_floor[warp])
        return false;
    for (u32 k = 0; k < 2 && second; k++) {
        const half_s32 cells = *(const half_s32 *)(const void *)(reads + at[k]);
        const half_s32 reader = (cells & EXEC_SHADOW_THREAD) / EXEC_LANES;
        if (__builtin_reduce_max((half_u32)(reader == (s32)warp)) != 0) return false;
    }
    for (u32 k = 0; k < (second && twice ? 1 : 2); k++) {
        half_s32 *cells = (half_s32 *)(void *)(reads + at[k]);
        half_u32 *places = (half_u32 *)(void *)(sites + at[k]);
        if (second) {
            *(half_s32 *)(void *)(others + at[k]) = *cells;
            *(half_u32 *)(void *)(before + at[k]) = *places;
        }
        *cells = lane + (now | (s32)(warp * EXEC_LANES + k * EXEC_HALF)) +
                 (twice && k == 1 ? EXEC_SHADOW_MANY : 0);
        *places = (half_u32){0} + site;
    }
    return true;
}

static inline bool watch_rows(struct exec_shadow *shadow, u32 low, u32 high, u32 warp, u32 site)
{
    const s32 *writes = shadow->cells[EXEC_KEPT_WRITE], floor = shadow->floor;
    const s32 *others = shadow->cells[EXEC_KEPT_READ_OTHER];
    if (any_recent(writes + low, floor) | any_recent(writes + high, floor)) return false;
    /* Two readers of different warps are recorded: any later store conflicts with one of them. */
    if (all_recent(others + low, floor) & all_recent(others + high, floor)) return true;
    if (read_rows(shadow, low, high, warp, site)) return true;
    const warp_s32 threads = (warp_s32){LOW_LANES, HIGH_LANES} + (s32)(warp * EXEC_LANES);
    const s32 *const thread = (const s32 *)(const void *)&threads;
    exec_shadow_read_turned(shadow, low, EXEC_HALF, thread, site);
    exec_shadow_read_turned(shadow, high, EXEC_HALF, thread + EXEC_HALF, site);
    return true;
}

#define LIKELY(condition) __builtin_expect(condition, 1)

/* Returns true when a word of either half's row, or cell, still has the initial fill value:
 * check/unwritten.h. */
INLINE bool is_unwritten(const struct exec_block *block, u32 low, u32 high, bool same)
{
    const u32 *memory = (const u32 *)(const void *)block->shared, word = block->unwritten_word;
    if (LIKELY(!block->unwritten)) return false;
    if (same) return (memory[low] == word) | (memory[high] == word);
    const half_u32 lower = *(const half_u32 *)(const void *)(memory + low);
    const half_u32 upper = *(const half_u32 *)(const void *)(memory + high);
    return __builtin_reduce_max((half_u32)((lower == word) | (upper == word))) != 0;
}

/* Returns true when no asynchronous copy has ever filled or read the block's shared memory. */
static inline bool no_copies(const struct exec_block *block)
{
    return (block->async == NULL) & (block->outgoing == NULL);
}

/* The same condition as in op_watch of ops/racecheck.c, except that no asynchronous copy at all may
 * have been issued. */
static inline bool is_plain(const struct exec_block *block)
{
    return exec_watch_is_plain(block) & no_copies(block);
}

/* Each half loads one cell, not the same, that nobody has touched since the last ordering point:
 * records the warp as the reader. */
INLINE bool watch_fresh(struct exec_shadow *shadow, u32 low, u32 high, u32 warp, u32 site)
{
    const s32 *writes = shadow->cells[EXEC_KEPT_WRITE], floor = shadow->floor;
    const s32 *others = shadow->cells[EXEC_KEPT_READ_OTHER];
    s32 *reads = shadow->cells[EXEC_KEPT_READ];
    u32 *sites = shadow->sites[EXEC_KEPT_READ];
    const s32 last = (s32)(warp * EXEC_LANES + EXEC_LANES - 1);
    const s32 now = shadow->time << EXEC_SHADOW_TIME | EXEC_SHADOW_MANY;
    if ((low == high) | (writes[low] >= floor) | (writes[high] >= floor) | (others[low] >= floor) |
        (others[high] >= floor) | (reads[low] >= floor) | (reads[high] >= floor))
        return false;
    reads[low] = now | (last - EXEC_HALF);
    reads[high] = now | last;
    sites[low] = sites[high] = site;
    return true;
}

/* Both halves load the same row, which two warps have read already and nobody has stored to since
 * the last ordering point: nothing needs recording. */
INLINE bool watch_again(const struct exec_shadow *shadow, u32 low, u32 high)
{
    const s32 floor = shadow->floor;
    const half_s32 write = *(const half_s32 *)(const void *)(shadow->cells[EXEC_KEPT_WRITE] + low);
    const half_s32 other =
        *(const half_s32 *)(const void *)(shadow->cells[EXEC_KEPT_READ_OTHER] + low);
    return low == high && __builtin_reduce_max((half_u32)((write >= floor) | (other < floor))) == 0;
}

/* Not inlined: it is long, and few registers are worth keeping across the call. */
static __attribute__((noinline, cold)) bool settle(struct exec_warp *warp, u32 low, u32 high,
                                                   bool same, const struct exec_inst *inst)
{
    struct exec_shadow *shadow = warp->block->shadow;
    const u32 at[2] = {low, high};
    if (!is_plain(warp->block) ||
        !(same ? exec_watch_sames(warp, inst, at)
               : watch_rows(shadow, low, high, warp->index, inst->position)))
        return false;
    shadow->touched |= 1u << warp->index;
    return true;
}

/* Loads of 32 neighbouring words in any order, such as a row that wraps round a torus. */
static __attribute__((noinline)) bool
settle_neighbours(struct exec_warp *warp, const struct exec_inst *inst, const u32 *base)
{
    struct exec_shadow *shadow = warp->block->shadow;
    const u32 size = warp->worker->shared_bytes, floor_bytes = EXEC_LANES * 4;
    const s32 first = (s32)(warp->index * EXEC_LANES);
    s32 threads[EXEC_LANES];
    warp_u32 at = *(const warp_u32 *)(const void *)base + (u32)inst->imm;
    const u32 low = __builtin_reduce_min(at), k = low / 4;
    at -= low;
    const warp_u32 words = ((warp_u32){0} + 1) << (at / 4 & (EXEC_LANES - 1));
    if (!is_plain(warp->block) || size < floor_bytes || low > size - floor_bytes ||
        ((low | __builtin_reduce_or(at)) & 3) != 0 || __builtin_reduce_max(at) >= floor_bytes ||
        __builtin_reduce_or(words) != EXEC_ALL ||
        is_unwritten(warp->block, k, k + EXEC_HALF, false) ||
        (any_recent(shadow->cells[EXEC_KEPT_WRITE] + k, shadow->floor) |
         any_recent(shadow->cells[EXEC_KEPT_WRITE] + k + EXEC_HALF, shadow->floor)))
        return false;
    shadow->touched |= 1u << warp->index;
    if (all_recent(shadow->cells[EXEC_KEPT_READ_OTHER] + k, shadow->floor) &
        all_recent(shadow->cells[EXEC_KEPT_READ_OTHER] + k + EXEC_HALF, shadow->floor))
        return true;
    for (s32 l = 0; l < EXEC_LANES; l++) threads[(base[l] + (u32)inst->imm - low) / 4] = first + l;
    exec_shadow_read_turned(shadow, k, EXEC_LANES, threads, inst->position);
    return true;
}

/* Stores to rows that nobody has touched since the last barrier. Only the cells whose values change
 * are updated. */
static __attribute__((noinline)) bool settle_store(struct exec_warp *warp, u32 low, u32 high,
                                                   const u32 *values, u32 site)
{
    struct exec_shadow *shadow = warp->block->shadow;
    const u32 at[2] = {low, high};
    const half_s32 lane = {LOW_LANES};
    if (!is_plain(warp->block) || high < low + EXEC_HALF) return false;
    /* Nor any second reader: the cells' last reader would be later still. */
    for (u32 kept = EXEC_KEPT_WRITE; kept <= EXEC_KEPT_READ; kept++)
        if (any_recent(shadow->cells[kept] + low, shadow->floor) |
            any_recent(shadow->cells[kept] + high, shadow->floor))
            return false;
    for (u32 k = 0; k < 2; k++) {
        const u32 *memory = (const u32 *)(const void *)warp->block->shared + at[k];
        const half_u32 before = *(const half_u32 *)(const void *)memory;
        const half_u32 after = *(const half_u32 *)(const void *)(values + k * EXEC_HALF);
        half_s32 *cells = (half_s32 *)(void *)(shadow->cells[EXEC_KEPT_WRITE] + at[k]);
        half_u32 *sites = (half_u32 *)(void *)(shadow->sites[EXEC_KEPT_WRITE] + at[k]);
        const half_s32 changed = (half_s32)(before != after);
        const half_s32 now = lane + (shadow->time << EXEC_SHADOW_TIME |
                                     (s32)(warp->index * EXEC_LANES + k * EXEC_HALF));
        *cells = (now & changed) | (*cells & ~changed);
        *sites = (((half_u32){0} + site) & (half_u32)changed) | (*sites & ~(half_u32)changed);
    }
    shadow->touched |= 1u << warp->index;
    return true;
}

/* ---- some lanes, one by one -------------------------------------------------------------------
 */

static inline bool is_unordered(const struct exec_shadow *shadow, enum exec_kept kept, u32 at,
                                s32 thread)
{
    enum { WHO = EXEC_SHADOW_THREAD | EXEC_SHADOW_MANY };
    const s32 cell = shadow->cells[kept][at], warp = thread / EXEC_LANES;
    if (LIKELY(cell < shadow->floor)) return false;
    return (cell & EXEC_SHADOW_THREAD) / EXEC_LANES != warp ||
           (cell >= shadow->warp_floor[warp] && (cell & WHO) != thread);
}

/* Returns true when a lane may access the word at `at` and nothing has to be reported. `value`:
 * what the lane stores; NULL: it loads. */
static inline bool may_touch(const struct exec_warp *warp, u32 lane, u32 at, const u32 *value)
{
    const struct exec_block *block = warp->block;
    const u32 *memory = (const u32 *)(const void *)block->shared;
    const u32 size = warp->worker->shared_bytes, k = at / 4;
    const s32 thread = (s32)(warp->index * EXEC_LANES + lane);
    if (size < 4 || at > size - 4 || (at & 3) != 0 ||
        is_unordered(block->shadow, EXEC_KEPT_WRITE, k, thread))
        return false;
    if (value == NULL) return memory[k] != block->unwritten_word || !block->unwritten;
    return memory[k] == *value || !(is_unordered(block->shadow, EXEC_KEPT_READ, k, thread) ||
                                    is_unordered(block->shadow, EXEC_KEPT_READ_OTHER, k, thread));
}

/* Records that access. A store that changes nothing is not recorded. */
static inline void touch(const struct exec_warp *warp, const struct exec_inst *inst, u32 lane,
                         u32 at, const u32 *value)
{
    struct exec_shadow *shadow = warp->block->shadow;
    const u32 *memory = (const u32 *)(const void *)warp->block->shared, k = at / 4;
    const s32 thread = (s32)(warp->index * EXEC_LANES + lane);
    if (value == NULL && shadow->cells[EXEC_KEPT_READ][k] < shadow->floor) { /* the first reader */
        shadow->cells[EXEC_KEPT_READ][k] = shadow->time << EXEC_SHADOW_TIME | thread;
        shadow->sites[EXEC_KEPT_READ][k] = inst->position;
    } else if (value == NULL) {
        exec_shadow_read_row(shadow, k, 1, thread, 0, inst->position);
    } else if (memory[k] != *value) {
        shadow->cells[EXEC_KEPT_WRITE][k] = shadow->time << EXEC_SHADOW_TIME | thread;
        shadow->sites[EXEC_KEPT_WRITE][k] = inst->position;
    }
}

static __attribute__((noinline)) bool settle_lone(struct exec_warp *warp,
                                                  const struct exec_inst *inst, u32 lane, u32 at,
                                                  const u32 *value)
{
    if (!is_plain(warp->block) || !may_touch(warp, lane, at, value)) return false;
    touch(warp, inst, lane, at, value);
    warp->block->shadow->touched |= 1u << warp->index;
    return true;
}

/* Each lane accesses its own word, at addresses that ascend with the lanes. `values`: what is
 * stored; NULL: the lanes load. */
static __attribute__((noinline)) bool settle_some(struct exec_warp *warp,
                                                  const struct exec_inst *inst, u32 mask,
                                                  const u32 *base, const u32 *values)
{
    const u32 imm = (u32)inst->imm;
    u32 behind = 0;
    if (!is_plain(warp->block)) return false;
    for (u32 rest = mask; rest; rest &= rest - 1) {
        const u32 l = (u32)__builtin_ctz(rest), at = base[l] + imm;
        if (at / 4 < behind || !may_touch(warp, l, at, values != NULL ? &values[l] : NULL))
            return false;
        behind = at / 4 + 1;
    }
    for (u32 rest = mask; rest; rest &= rest - 1) {
        const u32 l = (u32)__builtin_ctz(rest);
        touch(warp, inst, l, base[l] + imm, values != NULL ? &values[l] : NULL);
    }
    warp->block->shadow->touched |= 1u << warp->index;
    return true;
}

/* ---- atomics of a full warp, at any addresses -------------------------------------------------
 */

static __attribute__((noinline)) bool settle_atomics(struct exec_warp *warp,
                                                     const struct exec_inst *inst, const u32 *base)
{
    struct exec_shadow *shadow = warp->block->shadow;
    const s32 *writes = shadow->cells[EXEC_KEPT_WRITE], *reads = shadow->cells[EXEC_KEPT_READ];
    const s32 floor = shadow->floor;
    const u32 size = warp->worker->shared_bytes;
    const u32 *memory = (const u32 *)(const void *)warp->block->shared;
    s32 cell[EXEC_LANES];
    u32 wrong = size < 4, recent = 0;
    if (!exec_watch_tells(warp->block) || !no_copies(warp->block)) return false;
    for (u32 l = 0; l < EXEC_LANES; l++) {
        const u32 at = base[l] + (u32)inst->imm;
        wrong |= (u32)(at > size - 4) | (at & 3);
        cell[l] = (s32)(at / 4);
    }
    if (wrong) return false;
    for (u32 l = 0; l < EXEC_LANES && warp->block->unwritten; l++)
        recent |= (u32)(memory[cell[l]] == warp->block->unwritten_word);
    for (u32 l = 0; l < EXEC_LANES; l++)
        recent |= (u32)(writes[cell[l]] >= floor) | (u32)(reads[cell[l]] >= floor);
    if (recent) return false;
    exec_shadow_atomics(shadow, cell, (s32)(warp->index * EXEC_LANES), inst->position);
    return true;
}

#endif
