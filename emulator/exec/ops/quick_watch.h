/* The work of row "watch" (race checks of shared memory) in machine code, by check/shadow_line.h:
 * loads and stores, of which mostly everything loaded was stored before a barrier. Only ops/quick.c
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
VECTORS(s64)
VECTORS(u64)

typedef warp_u32 lanes_u8, lanes_s8, lanes_u16, lanes_s16, lanes_u32;
typedef warp_u64 lanes_u64;

#define LOW_LANES 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#define HIGH_LANES 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
#define LOW_BITS                                                                                   \
    1u << 0, 1u << 1, 1u << 2, 1u << 3, 1u << 4, 1u << 5, 1u << 6, 1u << 7, 1u << 8, 1u << 9,      \
        1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15
#define HIGH_BITS                                                                                  \
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23, 1u << 24,      \
        1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31

/* Always inlined: only then do constant arguments fold. */
#define INLINE static inline __attribute__((always_inline))

/* ---- rows in shared memory ------------------------------------------------------------------- */

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

/* Touches of some of the warp's lanes: of word `word` + k by lane first + k where bit k of `words`
 * is set. */
INLINE bool touch_run(const struct exec_warp *warp, const struct exec_inst *inst, unsigned flags,
                      u32 first, u32 word, u32 words, u32 quiet)
{
    return exec_lines_touch(warp->block->shadow, word,
                            exec_watch_touch(warp, inst, flags, first, words), quiet);
}

/* Returns true when nobody has stored to the words of a half's row since the last order, and two
 * warps have loaded them: nothing needs recording. */
INLINE bool is_known_row(const struct exec_shadow *shadow, u32 word)
{
    const u32 inside = word % EXEC_LINE_WORDS, all = ((1u << EXEC_HALF) - 1) << inside;
    const struct exec_line *line = &shadow->lines[word / EXEC_LINE_WORDS];
    return inside <= EXEC_HALF && line->floor == shadow->floor &&
           ((line->stored | ~line->known) & all) == 0;
}

/* Adds a word that all lanes of a half load to one of the line's first touches, if it is by the
 * same half at the same place and time: a product of tiles makes most of its loads so. */
INLINE bool joins(const struct exec_shadow *shadow, u32 word, u32 who, u64 when)
{
    struct exec_line *line = &shadow->lines[word / EXEC_LINE_WORDS];
    const u32 bit = 1u << word % EXEC_LINE_WORDS;
    if (line->floor != shadow->floor || (line->stored & bit) != 0) return false;
    for (u32 k = 0; k < 2 && k < line->count; k++) {
        struct exec_line_touch *touch = &line->touches[k];
        if ((touch->who != who) | (touch->when != when)) continue;
        touch->words |= bit;
        line->touched |= bit;
        return true;
    }
    return false;
}

enum { LOADS_ONE = EXEC_LINE_MANY | EXEC_LINE_ONE };

/* Each half of a full warp loads a word that joins others. */
INLINE bool join_loads(const struct exec_warp *warp, const struct exec_inst *inst, u32 low,
                       u32 high)
{
    const struct exec_shadow *shadow = warp->block->shadow;
    const struct exec_line_touch first = exec_watch_touch(warp, inst, LOADS_ONE, EXEC_HALF - 1, 1);
    return low != high && joins(shadow, low, first.who, first.when) &&
           joins(shadow, high, first.who + exec_line_who(EXEC_HALF, 0, 0), first.when);
}

/* Each half of a full warp loads a row, or with `same` one word. Not inlined: it is long, and few
 * registers are worth keeping across the call. */
static __attribute__((noinline)) bool
touch_loads(struct exec_warp *warp, const struct exec_inst *inst, u32 low, u32 high, bool same)
{
    enum { LAST = EXEC_HALF - 1 };
    const u32 half = (1u << EXEC_HALF) - 1;
    if (!exec_lines_hold(warp->block->shadow)) return false;
    warp->block->shadow->touched |= 1u << warp->index;
    if (same)
        return (low == high || touch_run(warp, inst, LOADS_ONE, LAST, low, 1, 0)) &&
               touch_run(warp, inst, LOADS_ONE, EXEC_HALF + LAST, high, 1, 0);
    if (high == low + EXEC_HALF) return touch_run(warp, inst, 0, 0, low, EXEC_ALL, 0);
    if (low == high) return touch_run(warp, inst, EXEC_LINE_MANY, EXEC_HALF, low, half, 0);
    return touch_run(warp, inst, 0, 0, low, half, 0) &&
           touch_run(warp, inst, 0, EXEC_HALF, high, half, 0);
}

/* Each half stores a row. */
static __attribute__((noinline)) bool touch_stores(struct exec_warp *warp,
                                                   const struct exec_inst *inst, u32 low, u32 high,
                                                   const u32 *values)
{
    const u32 *memory = (const u32 *)(const void *)warp->block->shared;
    const u32 at[2] = {low, high};
    u32 changed = 0;
    if (!exec_lines_hold(warp->block->shadow)) return false;
    warp->block->shadow->touched |= 1u << warp->index;
    for (u32 k = 0; k < 2; k++) {
        const half_u32 before = *(const half_u32 *)(const void *)(memory + at[k]);
        const half_u32 after = *(const half_u32 *)(const void *)(values + k * EXEC_HALF);
        const half_u32 bits = {LOW_BITS};
        changed |= __builtin_reduce_or((half_u32)(before != after) & bits) << k * EXEC_HALF;
    }
    if (high == low + EXEC_HALF)
        return touch_run(warp, inst, EXEC_LINE_STORE, 0, low, changed, ~changed);
    for (u32 k = 0; k < 2; k++) {
        const u32 half = changed >> k * EXEC_HALF & ((1u << EXEC_HALF) - 1);
        if (!touch_run(warp, inst, EXEC_LINE_STORE, k * EXEC_HALF, at[k], half,
                       half ^ ((1u << EXEC_HALF) - 1)))
            return false;
    }
    return true;
}

/* ---- lanes apart ----------------------------------------------------------------------------- */

/* A lone lane loads the word at `at`, or stores `value` there. */
static __attribute__((noinline)) bool touch_lone(struct exec_warp *warp,
                                                 const struct exec_inst *inst, u32 lane, u32 at,
                                                 bool store, u32 value)
{
    const struct exec_block *block = warp->block;
    const u32 *memory = (const u32 *)(const void *)block->shared;
    const u32 size = warp->worker->shared_bytes;
    if (!exec_lines_hold(block->shadow) || size < 4 || at > size - 4 || (at & 3) != 0 ||
        (!store && block->unwritten && memory[at / 4] == block->unwritten_word))
        return false;
    const u32 quiet = store && memory[at / 4] == value;
    block->shadow->touched |= 1u << warp->index;
    return touch_run(warp, inst, store ? EXEC_LINE_STORE : 0, lane, at / 4, !quiet, quiet);
}

/* Returns true if the active lanes' words are neighbours. `*word` would be lane 0's, which is in
 * bounds; there is room to read as many words as a warp has lanes (machine/block.c). */
INLINE bool is_one_run(const struct exec_warp *warp, u32 mask, const warp_u32 *at, u32 *word)
{
    const u32 size = warp->worker->shared_bytes, first = (u32)__builtin_ctz(mask);
    const warp_u32 lane = {LOW_LANES, HIGH_LANES}, bits = {LOW_BITS, HIGH_BITS};
    const u32 begin = ((const u32 *)(const void *)at)[first] - 4 * first;
    const warp_u32 off = (*at - lane * 4) ^ begin;
    *word = begin / 4;
    const u32 bytes = 4 * (EXEC_LANES - (u32)__builtin_clz(mask));
    return size >= bytes && begin <= size - bytes && begin % 4 == 0 &&
           __builtin_reduce_max(off & (warp_u32)((bits & mask) != 0)) == 0;
}

/* Any active lanes, each of which accesses a word. `values`: what is stored; NULL: they load. */
static __attribute__((noinline)) bool touch_some(struct exec_warp *warp,
                                                 const struct exec_inst *inst, u32 mask,
                                                 const u32 *base, const u32 *values)
{
    const struct exec_block *block = warp->block;
    const u32 *memory = (const u32 *)(const void *)block->shared;
    const u32 size = warp->worker->shared_bytes;
    const warp_u32 bits = {LOW_BITS, HIGH_BITS};
    const warp_u32 at = *(const warp_u32 *)(const void *)base + (u32)inst->imm;
    const u32 *const address = (const u32 *)(const void *)&at;
    u32 word, first = (u32)__builtin_ctz(mask);
    if (!exec_lines_hold(block->shadow) || size < 4) return false;
    if (is_one_run(warp, mask, &at, &word)) {
        const warp_u32 before = *(const warp_u32 *)(const void *)(memory + word);
        const warp_u32 active = (warp_u32)((bits & mask) != 0);
        u32 changed = mask;
        if (values != NULL) {
            const warp_u32 after = *(const warp_u32 *)(const void *)values;
            changed = __builtin_reduce_or((warp_u32)(before != after) & active & bits);
        } else if (block->unwritten &&
                   __builtin_reduce_max((warp_u32)(before == block->unwritten_word) & active) !=
                       0) {
            return false;
        }
        block->shadow->touched |= 1u << warp->index;
        return touch_run(warp, inst, values != NULL ? EXEC_LINE_STORE : 0, first, word + first,
                         changed >> first, (mask & ~changed) >> first);
    }
    if (values != NULL) return false;
    for (u32 rest = block->unwritten ? mask : 0; rest; rest &= rest - 1) {
        const u32 here = address[__builtin_ctz(rest)];
        if (here > size - 4 || memory[here / 4] == block->unwritten_word) return false;
    }
    return exec_watch_lines(warp, inst, mask, address, 0, false);
}

/* ---- atomics of a full warp, at any addresses -------------------------------------------------
 */

/* The same condition as in op_watch of ops/racecheck.c, except that no asynchronous copy at all may
 * have been issued. */
static inline bool tells(const struct exec_block *block)
{
    return exec_watch_tells(block) & (block->async == NULL) & (block->outgoing == NULL);
}

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
    if (!tells(warp->block) || exec_lines_hold(shadow) || shadow->seen != NULL) return false;
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
