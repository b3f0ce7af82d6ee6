/* Fast paths of full warps' loads and stores of one element per lane whose addresses are a known
 * step apart (ops/quick.c), as those of a structure's members are: the access is checked and
 * counted as a whole, and its elements are taken one by one. Each function returns true when
 * everything is done; if not, nothing has changed: the step is not known or not forward, or the
 * access is race-checked.
 */
#ifndef OVERLAP_EXEC_OPS_QUICK_STEPS_H
#define OVERLAP_EXEC_OPS_QUICK_STEPS_H

#include "emulator/exec/ops/quick_judge.h"

/* The first element of each half of the warp. */
struct steps {
    unsigned char *low, *high;
};

/* Marks `lanes` lanes' elements, or groups, in the footprint. Not inlined, because it is long. */
static __attribute__((noinline)) void mark_steps(struct exec_region_cache *cache, u64 low, u64 step,
                                                 u32 bytes, u32 lanes)
{
    const u32 before = cache->group.before, each = before + bytes + cache->group.after;
    const u64 reach = (lanes - 1) * step, first = low - cache->low - before;
    exec_mark_again(cache, low, reach + bytes);
    exec_early_spend(cache, (u64)lanes * bytes);
    if (cache->group.follows) return;
    if (each >= step) {
        exec_mark_group(cache, low, reach + bytes);
    } else if (step <= 64 && low - cache->low >= before && first + reach + each <= cache->size) {
        exec_pending_mark_comb(cache->pending, cache->marks, first, first + reach + each, (u32)step,
                               each);
    } else {
        for (u32 l = 0; l < lanes; l++) exec_mark_group(cache, low + l * step, bytes);
    }
}

/* Returns the sectors that the lanes access, as access_count_lanes of ops/memory.c counts them. */
INLINE u64 sectors_of_steps(const struct exec_quick *quick, u64 low, u64 high, u64 step, u32 bytes)
{
    const u64 span = (EXEC_HALF - 1) * step + bytes;
    if (step < 32) return sectors_of(quick->whole, low, high, span);
    return EXEC_LANES - (!quick->whole && (low + span - 1) >> 5 == high >> 5);
}

INLINE bool find_steps(const struct exec_quick *quick, const struct exec_inst *inst, u32 bytes,
                       bool store, struct steps *steps)
{
    if (!quick->stepped || quick->step <= (s64)bytes || quick->step % bytes != 0) return false;
    struct exec_region_cache *cache = exec_quick_cache_of(quick, inst);
    const u64 step = (u64)quick->step;
    const u64 low = quick->low + inst->imm, high = quick->high + inst->imm;
    const u64 half = (EXEC_HALF - 1) * step + bytes, whole = (EXEC_LANES - 1) * step + bytes;
    const u64 reach = quick->whole ? whole : half, last = cache->size - reach;
    if ((quick->mask != EXEC_ALL) | (((low | (quick->whole ? 0 : high)) & (bytes - 1)) != 0) |
        (store & cache->read_only) | (cache->size < reach) | (low - cache->low > last) |
        (!quick->whole && high - cache->low > last) | is_judged(cache))
        return false;
    if (cache->marks != NULL) {
        mark_steps(cache, low, step, bytes, quick->whole ? EXEC_LANES : EXEC_HALF);
        if (!quick->whole) mark_steps(cache, high, step, bytes, EXEC_HALF);
    }
    count(quick, inst, sectors_of_steps(quick, low, high, step, bytes), bytes, store);
    *steps = (struct steps){(unsigned char *)(uintptr_t)(low + cache->delta),
                            (unsigned char *)(uintptr_t)(high + cache->delta)};
    return true;
}

#define EACH_OF_HALF _Pragma("clang loop unroll(full)") for (unsigned l = 0; l < EXEC_HALF; l++)

#define DEFINE_LOAD_STEPS(T)                                                                       \
    INLINE bool load_steps_##T(const struct exec_quick *quick, const struct exec_inst *inst)       \
    {                                                                                              \
        struct steps steps;                                                                        \
        warp_##T to;                                                                               \
        if (!find_steps(quick, inst, sizeof(T), false, &steps)) return false;                      \
        EACH_OF_HALF                                                                               \
        {                                                                                          \
            to[l] = *(const T *)(const void *)(steps.low + l * (u64)quick->step);                  \
            to[EXEC_HALF + l] = *(const T *)(const void *)(steps.high + l * (u64)quick->step);     \
        }                                                                                          \
        *(lanes_##T *)(void *)(quick->slots + inst->d) = __builtin_convertvector(to, lanes_##T);   \
        return true;                                                                               \
    }
#define DEFINE_STORE_STEPS(T)                                                                      \
    INLINE bool store_steps_##T(const struct exec_quick *quick, const struct exec_inst *inst)      \
    {                                                                                              \
        struct steps steps;                                                                        \
        if (!find_steps(quick, inst, sizeof(T), true, &steps)) return false;                       \
        const lanes_##T from = *(const lanes_##T *)(const void *)(quick->slots + inst->d);         \
        EACH_OF_HALF *(T *)(void *)(steps.low + l * (u64)quick->step) = (T)from[l];                \
        EACH_OF_HALF *(T *)(void *)(steps.high + l * (u64)quick->step) = (T)from[EXEC_HALF + l];   \
        return true;                                                                               \
    }
DEFINE_LOAD_STEPS(u8)
DEFINE_LOAD_STEPS(s8)
DEFINE_LOAD_STEPS(u16)
DEFINE_LOAD_STEPS(s16)
DEFINE_LOAD_STEPS(u32)
DEFINE_LOAD_STEPS(u64)
DEFINE_STORE_STEPS(u8)
DEFINE_STORE_STEPS(u16)
DEFINE_STORE_STEPS(u32)
DEFINE_STORE_STEPS(u64)

#endif
