/* Race checks between blocks and between threads for the stores of full warps in machine code
 * (ops/quick.c), and the question whether an access is race-checked at all (ops/lone.c too). They
 * handle the common case that nobody else has touched the memory, and then do the same as near_row
 * and own_row of ops/memory.c and exec_grid_shadow_settle. Each function returns true when
 * everything is done; if not, memory is as it was.
 */
#ifndef OVERLAP_EXEC_OPS_QUICK_JUDGE_H
#define OVERLAP_EXEC_OPS_QUICK_JUDGE_H

#include "emulator/exec/check/block_shadow_row.h"
#include "emulator/exec/ops/quick.h"
#include "emulator/exec/ops/quick_watch.h"

#include <string.h>

/* Returns the sectors of two stretches of `span` bytes each, the second behind the first. `whole`:
 * it follows immediately, or they are the same. Counts as access_count of ops/memory.c does. */
INLINE u64 sectors_of(bool whole, u64 low, u64 high, u64 span)
{
    const u64 low_last = (low + span - 1) >> 5, high_last = (high + span - 1) >> 5;
    if (whole) return high_last - (low >> 5) + 1;
    return low_last - (low >> 5) + 1 + high_last - (high >> 5) + 1 - (low_last == high >> 5);
}

/* Counts an access of a full warp. */
INLINE void count(const struct exec_quick *quick, const struct exec_inst *inst, u64 sectors,
                  u32 bytes, bool store)
{
    struct exec_quick_counts *counts = quick->counts;
    counts->transactions += sectors;
    if (store) {
        counts->stored += EXEC_LANES * bytes;
    } else {
        counts->loaded += EXEC_LANES * bytes;
        counts->chain += inst->extra != NULL;
    }
}

static inline bool is_judged(const struct exec_region_cache *cache)
{
    return cache->marks != NULL && (cache->causal != NULL || exec_grid_shadow_wanted(cache) ||
                                    exec_block_shadow_wanted(cache));
}

/* Returns true when checking this load between blocks would change nothing: every sector already
 * has this block as its reader, and no other block has stored to it. */
INLINE bool is_known_to_blocks(const struct exec_warp *warp, const struct exec_region_cache *cache,
                               const struct exec_span *span)
{
    const u8 me = exec_owner_of(warp->block->index);
    return cache->causal == NULL &&
           (!exec_grid_shadow_wanted(cache) || exec_grid_shadow_is_known(cache, span, me));
}

INLINE bool is_known_to_threads(const struct exec_warp *warp, const struct exec_region_cache *cache,
                                const struct exec_span *span)
{
    return !exec_block_shadow_wanted(cache) || exec_block_shadow_is_known(warp, span);
}

/* Returns true when both hold. Not inlined, because it is seldom called. */
static __attribute__((noinline)) bool is_known(const struct exec_warp *warp,
                                               const struct exec_region_cache *cache,
                                               const struct exec_span *span)
{
    return is_known_to_blocks(warp, cache, span) && is_known_to_threads(warp, cache, span);
}

/* Checks the loads of the lanes of `mask` for races. Returns false when this is left to the slow
 * path. */
static __attribute__((noinline)) bool judge_load(struct exec_warp *warp,
                                                 const struct exec_inst *inst,
                                                 const struct exec_region_cache *cache,
                                                 const u64 *at, u32 mask, u32 bytes,
                                                 const struct exec_span *span)
{
    if (!is_known_to_blocks(warp, cache, span)) return false;
    return is_known_to_threads(warp, cache, span) ||
           exec_block_shadow_read(warp, inst, at, mask, bytes);
}

/* ---- runs ---------------------------------------------------------------------------------- */

/* Neighbouring elements that a warp's lanes store, and how many of them the store changes. */
struct run {
    u64 at;
    u32 bytes, lane_bits; /* bytes of the whole run; a lane has 1 << lane_bits of them */
    u32 thread;           /* of the first element */
    enum exec_changed changed;
};

/* The part of a run in one line of check/block_shadow.h. */
struct line_part {
    u64 at;
    u32 inside, bytes, thread;
};

static inline bool next_part(struct line_part *part, const struct run *run)
{
    part->at = part->bytes ? part->at + part->bytes : run->at;
    const u64 done = part->at - run->at;
    if (done >= run->bytes) return false;
    part->inside = (u32)(part->at % EXEC_NEAR_LINE);
    part->bytes = EXEC_NEAR_LINE - part->inside;
    if (part->bytes > run->bytes - done) part->bytes = (u32)(run->bytes - done);
    part->thread = run->thread + (u32)(done >> run->lane_bits);
    return true;
}

/* Records the run as the only access to each of its lines. Returns false when a line has others. A
 * run that changes nothing records nothing. */
static bool is_alone(struct exec_warp *warp, const struct exec_inst *inst, const struct run *run)
{
    struct exec_block_shadow *near = warp->block->near;
    struct line_part part = {.bytes = 0};
    if (near == NULL || run->changed == EXEC_CHANGED_SOME) return false;
    struct exec_shadow *shadow = near->shadow;
    const s32 now = shadow->time << EXEC_SHADOW_TIME;
    while (next_part(&part, run)) {
        bool fresh;
        struct exec_block_shadow_line *line =
            exec_block_shadow_find(near, part.at >> EXEC_NEAR_LINE_BITS, false, &fresh);
        if (line == NULL) continue;
        if (run->changed == EXEC_CHANGED_NONE
                ? !exec_block_shadow_is_own(line, fresh, (u8)part.inside, (u8)part.bytes,
                                            (u8)run->lane_bits, (s32)part.thread)
                : !exec_block_shadow_alone(line, fresh, (u8)part.inside, (u8)part.bytes,
                                           (u8)run->lane_bits, EXEC_KEPT_WRITE,
                                           now | (s32)part.thread, inst->position))
            return false;
    }
    shadow->touched |= 1u << warp->index;
    return true;
}

/* `bytes`: the run's length, a constant where this is inlined. */
INLINE bool judge_run(struct exec_warp *warp, const struct exec_inst *inst,
                      struct exec_region_cache *cache, const struct run *run, u32 bytes)
{
    const u8 me = exec_owner_of(warp->block->index);
    const bool between = exec_grid_shadow_wanted(cache), within = exec_block_shadow_wanted(cache);
    if ((between && !exec_grid_shadow_is_own(cache, run->at - cache->low, bytes, me)) ||
        (within && !is_alone(warp, inst, run)))
        return false;
    if (between | within) exec_owners_see(cache->owners, EXEC_STORE);
    return true;
}

/* Records this block as the owner of the stored bytes, after the values are in memory: see
 * exec_grid_shadow_settle. */
INLINE void own_run(const struct exec_warp *warp, const struct exec_region_cache *cache,
                    const struct run *run, u32 bytes)
{
    exec_owners_own(cache->owners, EXEC_STORE, run->at - cache->low, bytes,
                    exec_owner_of(warp->block->index));
}

/* Stores a row, or one for each half of the warp, as for the tile of a block that is 16 wide. Not
 * inlined, because it is long. It does not get `quick`, through which all slots would escape and so
 * leave their registers. */
#define DEFINE_JUDGED(T)                                                                           \
    static __attribute__((noinline)) bool store_judged_##T(                                        \
        struct exec_warp *warp, const struct exec_inst *inst, u64 low, u64 high, const T *values)  \
    {                                                                                              \
        enum { BYTES = EXEC_HALF * sizeof(T) };                                                    \
        struct exec_region_cache *cache = exec_cache_of(warp->worker, inst);                       \
        struct exec_counts *counts = &warp->worker->counts;                                        \
        const u64 last = cache->size - BYTES, at[2] = {low, high};                                 \
        const bool is_row = high == low + BYTES;                                                   \
        struct run runs[2];                                                                        \
        half_##T *to[2];                                                                           \
        if (cache->marks == NULL || cache->causal != NULL || cache->read_only ||                   \
            cache->size < BYTES || low - cache->low > last || high - cache->low > last ||          \
            ((low | high) & (sizeof(T) - 1)) != 0 || high - low < BYTES || low - high < BYTES ||   \
            exec_grid_shadow_unsettled(warp->worker))                                              \
            return false;                                                                          \
        for (u32 h = 0; h < 2; h++) {                                                              \
            to[h] = (half_##T *)(uintptr_t)(at[h] + cache->delta);                                 \
            const half_##T half = *(const half_##T *)(const void *)(values + h * EXEC_HALF);       \
            const half_##T same = (half_##T)(*to[h] == half);                                      \
            runs[h] =                                                                              \
                (struct run){.at = at[h],                                                          \
                             .bytes = BYTES,                                                       \
                             .lane_bits = (u32)__builtin_ctz((u32)sizeof(T)),                      \
                             .thread = warp->index * EXEC_LANES + h * EXEC_HALF,                   \
                             .changed = !__builtin_reduce_max(same)       ? EXEC_CHANGED_ALL       \
                                        : __builtin_reduce_min(same) != 0 ? EXEC_CHANGED_NONE      \
                                                                          : EXEC_CHANGED_SOME};    \
        }                                                                                          \
        if (is_row) {                                                                              \
            runs[0].bytes *= 2;                                                                    \
            if (runs[1].changed != runs[0].changed) runs[0].changed = EXEC_CHANGED_SOME;           \
        }                                                                                          \
        if (is_row ? !judge_run(warp, inst, cache, &runs[0], 2 * BYTES)                            \
                   : !judge_run(warp, inst, cache, &runs[0], BYTES) ||                             \
                         !judge_run(warp, inst, cache, &runs[1], BYTES))                           \
            return false;                                                                          \
        exec_mark(cache, low, runs[0].bytes);                                                      \
        if (!is_row) exec_mark(cache, high, BYTES);                                                \
        counts->transactions += sectors_of(is_row, low, high, BYTES);                              \
        counts->bytes_stored += EXEC_LANES * sizeof(T);                                            \
        memcpy(to[0], values, BYTES);                                                              \
        memcpy(to[1], values + EXEC_HALF, BYTES);                                                  \
        if (!exec_grid_shadow_wanted(cache)) return true;                                          \
        __atomic_thread_fence(__ATOMIC_RELEASE);                                                   \
        if (is_row) {                                                                              \
            own_run(warp, cache, &runs[0], 2 * BYTES);                                             \
        } else {                                                                                   \
            own_run(warp, cache, &runs[0], BYTES);                                                 \
            own_run(warp, cache, &runs[1], BYTES);                                                 \
        }                                                                                          \
        return true;                                                                               \
    }
DEFINE_JUDGED(u8)
DEFINE_JUDGED(u16)
DEFINE_JUDGED(u32)
DEFINE_JUDGED(u64)

#endif
