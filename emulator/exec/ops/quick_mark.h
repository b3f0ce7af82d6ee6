/* How machine code marks a full warp's access to global memory in the launch's footprint
 * (ops/quick.c). Each function returns true when the access is marked and needs no race check; if
 * not, nothing has changed.
 */
#ifndef OVERLAP_EXEC_OPS_QUICK_MARK_H
#define OVERLAP_EXEC_OPS_QUICK_MARK_H

#include "emulator/exec/ops/quick_judge.h"

/* The access is `span` bytes at `low` and as many at `high`. Not inlined, because these two are
 * long. */
static __attribute__((noinline)) bool mark(struct exec_region_cache *cache, u64 low, u64 high,
                                           u64 span)
{
    if (is_judged(cache)) return false;
    exec_mark(cache, low, high == low + span ? 2 * span : span);
    if (high != low + span) exec_mark(cache, high, span);
    return true;
}

/* The same for a load that is race-checked; false: the check would record something. */
static __attribute__((noinline)) bool mark_known(const struct exec_warp *warp,
                                                 struct exec_region_cache *cache, u64 low, u64 high,
                                                 u64 bytes)
{
    const struct exec_span span = {low < high ? low : high, (low < high ? high : low) + bytes};
    if (!is_known(warp, cache, &span)) return false;
    exec_mark(cache, low, bytes);
    exec_mark(cache, high, bytes);
    return true;
}

/* Returns true when the access, or its whole group's, is marked: mostly by other warps. False: it
 * may be. */
INLINE bool is_marked(const struct exec_region_cache *cache, u64 at, u64 bytes)
{
    const u64 first = at - cache->low - cache->group.before;
    const u64 last = at - cache->low + bytes - 1 + cache->group.after;
    if (first > last || last >= cache->size || last / 64 - first / 64 > 1) return false;
    const u64 *word = &cache->marks[first / 64];
    const u64 begin = ~0ull << first % 64, end = ~0ull >> (63 - last % 64);
    const u64 one = __atomic_load_n(word, __ATOMIC_RELAXED);
    if (first / 64 == last / 64) return (~one & begin & end) == 0;
    return ((~one & begin) | (~__atomic_load_n(word + 1, __ATOMIC_RELAXED) & end)) == 0;
}

/* mark() inlined, for most such accesses: whole words of marks, what is marked already, and what
 * the group's first access has marked. Returns false, without effect, for others. */
INLINE bool mark_words(struct exec_region_cache *cache, u64 low, u64 high, u64 span)
{
    const u64 offset = low - cache->low;
    if (is_judged(cache)) return false;
    if (((offset | span) & 63) == 0 && high == low + span && !cache->grouped) {
        for (u64 k = 0; k < 2 * span / 64; k++)
            __atomic_store_n(&cache->marks[offset / 64 + k], UINT64_MAX, __ATOMIC_RELAXED);
        exec_mark_again(cache, low, 2 * span);
        return true;
    }
    if (!cache->group.follows && (!is_marked(cache, low, span) || !is_marked(cache, high, span)))
        return false;
    exec_mark_again(cache, low, span);
    exec_mark_again(cache, high, span);
    return true;
}

#endif
