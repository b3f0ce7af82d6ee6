/* Fast paths of full warps' loads, stores, atomics and exchanges, for machine code: ops/quick.h.
 *
 * The pattern of the addresses in a base register is tested without the instruction's offset, so
 * that LLVM tests it once for all accesses through that register.
 */
#include "emulator/exec/ops/quick.h"
#include "emulator/exec/check/block_shadow_row.h"
#include "emulator/exec/ops/float.h"
#include "emulator/exec/ops/lanes.h"
#include "emulator/exec/ops/quick_judge.h"
#include "emulator/exec/ops/quick_mark.h"
#include "emulator/exec/ops/quick_meet.h"
#include "emulator/exec/ops/quick_row.h"
#include "emulator/exec/ops/quick_steps.h"
#include "emulator/exec/ops/quick_watch.h"

#include <string.h>

/* Everything that such a function calls is inlined. */
#define QUICK __attribute__((flatten)) bool

#define FIRSTS                                                                                     \
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16,    \
        16, 16, 16, 16, 16

/* Returns true when in each half of the warp the addresses are `step` bytes apart. */
#define DEFINE_APART(B)                                                                            \
    static inline bool apart_##B(const B *base, B step)                                            \
    {                                                                                              \
        const warp_##B here = *(const warp_##B *)(const void *)base;                               \
        const warp_##B first = __builtin_shufflevector(here, here, FIRSTS);                        \
        const warp_##B lane = {LOW_LANES, LOW_LANES};                                              \
        return !__builtin_reduce_max((warp_##B)(here != first + lane * step));                     \
    }
DEFINE_APART(u32)
DEFINE_APART(u64)

/* The addresses of each half's first lane; and whether the other lanes' are the same, or those of
 * the consecutive elements. */
struct rows {
    u64 low, high;
    bool same, row;
};

#define DEFINE_ROWS(B)                                                                             \
    INLINE struct rows rows_##B(const struct exec_quick *quick, const struct exec_inst *inst,      \
                                u32 bytes, bool store) {                                           \
        const B *base = (const B *)(const void *)(quick->slots + inst->a);                         \
        if (quick->stepped)                                                                        \
            return (struct rows){(B)(quick->low + inst->imm), (B)(quick->high + inst->imm),        \
                                 !store && quick->step == 0, quick->step == (s64)bytes};           \
        return (struct rows){(B)(base[0] + inst->imm), (B)(base[EXEC_HALF] + inst->imm),           \
                             !store && apart_##B(base, 0), apart_##B(base, bytes)};                \
    }
DEFINE_ROWS(u32)
DEFINE_ROWS(u64)

/* Host addresses of the two halves' elements: consecutive from there on; with `same`, one each. */
struct parts {
    unsigned char *low, *high;
    bool same;
};

INLINE bool find_shared(const struct exec_quick *quick, const struct exec_inst *inst, u32 bytes,
                        bool store, struct parts *parts)
{
    const struct rows at = rows_u32(quick, inst, bytes, store);
    const u32 low = (u32)at.low, high = (u32)at.high;
    const u32 last = quick->shared_bytes - (at.same ? 1 : EXEC_HALF) * bytes;
    if ((quick->mask != EXEC_ALL) | (quick->shared_bytes < EXEC_HALF * bytes) |
        (((low | high) & (bytes - 1)) != 0) | (low > last) | (high > last) | !(at.same | at.row))
        return false;
    *parts = (struct parts){quick->shared + low, quick->shared + high, at.same};
    return true;
}

/* ---- row "watch" ----------------------------------------------------------------------------- */

static QUICK some_watch(const struct exec_quick *quick, const struct exec_inst *inst)
{
    const bool store = exec_watch_is(inst, EXEC_WATCH_STORE);
    u32 base[EXEC_LANES], values[EXEC_LANES];
    if (!exec_watch_is(inst, EXEC_WATCH_LOAD) && !store) return false;
    if (quick->warp->block->shadow == NULL || !quick->mask) return true;
    if ((quick->mask & (quick->mask - 1)) == 0) {
        const u32 lane = (u32)__builtin_ctz(quick->mask);
        const warp_u32 at = *(const warp_u32 *)(const void *)(quick->slots + inst->a);
        const u32 value =
            store ? (*(const warp_u32 *)(const void *)(quick->slots + inst->d))[lane] : 0;
        return touch_lone(quick->warp, inst, lane, at[lane] + (u32)inst->imm, store, value);
    }
    memcpy(base, quick->slots + inst->a, sizeof base);
    if (store) memcpy(values, quick->slots + inst->d, sizeof values);
    return touch_some(quick->warp, inst, quick->mask, base, store ? values : NULL);
}

/* The most frequent case of a tile is inlined: a call would spill and reload all vectors. */
static QUICK watch(const struct exec_quick *quick, const struct exec_inst *inst)
{
    const struct exec_block *block = quick->warp->block;
    struct exec_shadow *shadow = block->shadow;
    const bool store = exec_watch_is(inst, EXEC_WATCH_STORE);
    struct parts parts;
    if (!LIKELY(quick->mask == EXEC_ALL)) return some_watch(quick, inst);
    if (exec_watch_is(inst, EXEC_WATCH_ATOMIC) && shadow != NULL) {
        u32 base[EXEC_LANES];
        memcpy(base, quick->slots + inst->a, sizeof base);
        return settle_atomics(quick->warp, inst, base);
    }
    if (!exec_watch_is(inst, EXEC_WATCH_LOAD) && !store) return false;
    if (shadow == NULL) return true;
    if (!find_shared(quick, inst, 4, store, &parts)) return some_watch(quick, inst);
    const u32 low = (u32)(parts.low - quick->shared) / 4;
    const u32 high = (u32)(parts.high - quick->shared) / 4;
    if (store) {
        u32 values[EXEC_LANES];
        memcpy(values, quick->slots + inst->d, sizeof values);
        return touch_stores(quick->warp, inst, low, high, values);
    }
    if (is_unwritten(block, low, high, parts.same)) return false;
    if (LIKELY(exec_lines_are_used(shadow) && (shadow->touched >> quick->warp->index & 1) != 0 &&
               (parts.same
                    ? join_loads(quick->warp, inst, low, high)
                    : is_known_row(shadow, low) && (low == high || is_known_row(shadow, high)))))
        return true;
    return touch_loads(quick->warp, inst, low, high, parts.same);
}

/* ---- global memory --------------------------------------------------------------------------- */

/* Bytes per lane for which ops/memory.c (HALF_SECTOR) counts scattered accesses differently; only
 * contiguous rows are taken here. */
enum { HALF_SECTOR = 16 };

INLINE bool find_global(const struct exec_quick *quick, const struct exec_inst *inst, u32 bytes,
                        bool store, struct parts *parts)
{
    struct exec_region_cache *cache = exec_quick_cache_of(quick, inst);
    const struct rows at = rows_u64(quick, inst, bytes, store);
    const u64 low = at.low, high = at.high;
    const bool same = at.same, row = at.row;
    const u64 span = same ? bytes : EXEC_HALF * bytes;
    const u64 reach = quick->whole ? high + span - low : span, last = cache->size - reach;
    if ((quick->mask != EXEC_ALL) | (((low | (quick->whole ? 0 : high)) & (bytes - 1)) != 0) |
        !(same | row) | (store & cache->read_only) | (cache->size < reach) |
        (low - cache->low > last) | (!quick->whole && high - cache->low > last))
        return false;
    if (bytes == HALF_SECTOR && (same || high != low + span)) return false;
    if (cache->marks != NULL && !mark_words(cache, low, high, span) &&
        !mark(cache, low, high, span) &&
        (store || !mark_known(quick->warp, cache, low, high, span)))
        return false;
    count(quick, inst, sectors_of(quick->whole, low, high, span), bytes, store);
    *parts = (struct parts){(unsigned char *)(uintptr_t)(low + cache->delta),
                            (unsigned char *)(uintptr_t)(high + cache->delta), same};
    if (!store && !same) exec_fetch_next(parts->low, EXEC_LANES * bytes);
    return true;
}

/* ---- some lanes of a warp, one by one ---------------------------------------------------------
 *
 * Not inlined, and through arrays, so that the values that the region keeps in registers stay
 * there. */

#define APART static __attribute__((noinline)) bool

#define DEFINE_SHARED_APART(T)                                                                     \
    INLINE bool is_in_shared_##T(u32 *at, u32 imm, u32 size, u32 mask)                             \
    {                                                                                              \
        u32 bad = size < sizeof(T);                                                                \
        EXEC_FOR_LANES                                                                             \
        {                                                                                          \
            at[l] += imm;                                                                          \
            const u32 wrong = (u32)(at[l] > size - sizeof(T)) | (at[l] & (sizeof(T) - 1));         \
            bad |= EXEC_IN(mask) ? wrong : 0;                                                      \
        }                                                                                          \
        return !bad;                                                                               \
    }
#define DEFINE_SHARED_GATHER(T)                                                                    \
    APART gather_shared_##T(const unsigned char *shared, u32 size, u32 mask, u32 imm, u32 *at,     \
                            slot_##T *to)                                                          \
    {                                                                                              \
        if (!is_in_shared_##T(at, imm, size, mask)) return false;                                  \
        if (mask == EXEC_ALL) {                                                                    \
            EXEC_FOR_LANES to[l] = (slot_##T) * (const T *)(const void *)(shared + at[l]);         \
            return true;                                                                           \
        }                                                                                          \
        for (u32 rest = mask; rest; rest &= rest - 1) {                                            \
            const unsigned l = (unsigned)__builtin_ctz(rest);                                      \
            to[l] = (slot_##T) * (const T *)(const void *)(shared + at[l]);                        \
        }                                                                                          \
        return true;                                                                               \
    }
#define DEFINE_SHARED_SCATTER(T)                                                                   \
    APART scatter_shared_##T(unsigned char *shared, u32 size, u32 mask, u32 imm, u32 *at,          \
                             const slot_##T *from)                                                 \
    {                                                                                              \
        if (!is_in_shared_##T(at, imm, size, mask)) return false;                                  \
        for (u32 rest = mask; rest; rest &= rest - 1) {                                            \
            const unsigned l = (unsigned)__builtin_ctz(rest);                                      \
            *(T *)(void *)(shared + at[l]) = (T)from[l];                                           \
        }                                                                                          \
        return true;                                                                               \
    }

/* The state of a load or store whose lanes are checked one by one. Counts sectors as
 * access_count_lanes of ops/memory.c does for less than HALF_SECTOR bytes per lane. */
struct reach {
    struct exec_region_cache *cache;
    u64 low, last, delta, imm, odd; /* bits that an aligned address does not have */
    u64 sectors, before;
};

/* Returns false when the region is not known, or a store must be race-checked or goes to read-only
 * memory. */
INLINE bool reach_begins(const struct exec_warp *warp, const struct exec_inst *inst, u32 bytes,
                         bool store, struct reach *reach)
{
    struct exec_region_cache *cache = exec_cache_of(warp->worker, inst);
    *reach = (struct reach){.cache = cache,
                            .low = cache->low,
                            .last = cache->size - bytes,
                            .delta = cache->delta,
                            .imm = inst->imm,
                            .odd = bytes - 1,
                            .before = UINT64_MAX};
    return !((cache->size < bytes) | (store & (is_judged(cache) | cache->read_only)));
}

/* Checks and counts one lane. Returns false when its access is not allowed. */
INLINE bool reach_lane(struct reach *reach, u64 *at)
{
    *at += reach->imm;
    if ((*at - reach->low > reach->last) | ((*at & reach->odd) != 0)) return false;
    reach->sectors += *at >> 5 != reach->before;
    reach->before = *at >> 5;
    return true;
}

INLINE bool reach_all(struct reach *reach, u64 *at)
{
    u64 bad = 0;
    EXEC_FOR_LANES
    {
        at[l] += reach->imm;
        bad |= (u64)(at[l] - reach->low > reach->last) | (at[l] & reach->odd);
    }
    for (unsigned l = 1; l < EXEC_LANES; l++) reach->sectors += at[l] >> 5 != at[l - 1] >> 5;
    reach->sectors++;
    return !bad;
}

/* Counts the access of `lanes` lanes. */
INLINE void reach_counts(struct exec_warp *warp, const struct exec_inst *inst, u32 lanes, u32 bytes,
                         bool store, const struct reach *reach)
{
    struct exec_counts *counts = &warp->worker->counts;
    counts->transactions += reach->sectors;
    *(store ? &counts->bytes_stored : &counts->bytes_loaded) += (u64)lanes * bytes;
    warp->chain += !store && inst->extra != NULL;
}

/* Marks and counts the access. Returns false when a race check would record something that only the
 * slow path can. */
INLINE bool reach_ends(struct exec_warp *warp, const struct exec_inst *inst, u32 mask,
                       const u64 *at, u32 bytes, bool store, const struct reach *reach)
{
    if (reach->cache->marks != NULL) {
        const struct exec_span span = exec_span_of(at, mask, bytes);
        if (is_judged(reach->cache) &&
            !judge_load(warp, inst, reach->cache, at, mask, bytes, &span))
            return false;
        exec_mark_lanes(reach->cache, at, mask, bytes, &span);
    }
    reach_counts(warp, inst, (u32)__builtin_popcount(mask), bytes, store, reach);
    return true;
}

#define DEFINE_GLOBAL_GATHER(T)                                                                    \
    APART gather_global_##T(struct exec_warp *warp, const struct exec_inst *inst, u32 mask,        \
                            u64 *at, slot_##T *to)                                                 \
    {                                                                                              \
        struct reach reach;                                                                        \
        if (!reach_begins(warp, inst, sizeof(T), false, &reach)) return false;                     \
        if (mask == EXEC_ALL) {                                                                    \
            if (!reach_all(&reach, at)) return false;                                              \
            EXEC_FOR_LANES to[l] = (slot_##T) * (const T *)(uintptr_t)(at[l] + reach.delta);       \
        }                                                                                          \
        for (u32 rest = mask == EXEC_ALL ? 0 : mask; rest; rest &= rest - 1) {                     \
            const unsigned l = (unsigned)__builtin_ctz(rest);                                      \
            if (!reach_lane(&reach, &at[l])) return false;                                         \
            to[l] = (slot_##T) * (const T *)(uintptr_t)(at[l] + reach.delta);                      \
        }                                                                                          \
        return reach_ends(warp, inst, mask, at, sizeof(T), false, &reach);                         \
    }
#define DEFINE_GLOBAL_SCATTER(T)                                                                   \
    APART scatter_global_##T(struct exec_warp *warp, const struct exec_inst *inst, u32 mask,       \
                             u64 *at, const slot_##T *from)                                        \
    {                                                                                              \
        struct reach reach;                                                                        \
        if (!reach_begins(warp, inst, sizeof(T), true, &reach)) return false;                      \
        if (mask == EXEC_ALL) {                                                                    \
            if (!reach_all(&reach, at)) return false;                                              \
            EXEC_FOR_LANES *(T *)(uintptr_t)(at[l] + reach.delta) = (T)from[l];                    \
            return reach_ends(warp, inst, mask, at, sizeof(T), true, &reach);                      \
        }                                                                                          \
        for (u32 rest = mask; rest; rest &= rest - 1)                                              \
            if (!reach_lane(&reach, &at[__builtin_ctz(rest)])) return false;                       \
        for (u32 rest = mask; rest; rest &= rest - 1) {                                            \
            const unsigned l = (unsigned)__builtin_ctz(rest);                                      \
            *(T *)(uintptr_t)(at[l] + reach.delta) = (T)from[l];                                   \
        }                                                                                          \
        return reach_ends(warp, inst, mask, at, sizeof(T), true, &reach);                          \
    }

#define GATHERS(X) X(u8) X(s8) X(u16) X(s16) X(u32) X(u64)
#define SCATTERS(X) X(u8) X(u16) X(u32) X(u64)
SCATTERS(DEFINE_SHARED_APART)
DEFINE_SHARED_APART(s8)
DEFINE_SHARED_APART(s16)
GATHERS(DEFINE_SHARED_GATHER)
GATHERS(DEFINE_GLOBAL_GATHER)
SCATTERS(DEFINE_SHARED_SCATTER)
SCATTERS(DEFINE_GLOBAL_SCATTER)

/* Returns the host address of a lone lane's element in global memory, after marking and counting
 * the access. NULL: the access is not allowed, needs the slow path, or the region is not known. */
static __attribute__((noinline)) unsigned char *
reach_alone(struct exec_warp *warp, const struct exec_inst *inst, u64 at, u32 bytes, bool store)
{
    struct reach reach;
    if (!reach_begins(warp, inst, bytes, store, &reach) || !reach_lane(&reach, &at)) return NULL;
    const struct exec_span span = {at, at + bytes};
    if (is_judged(reach.cache) && (store || !is_known(warp, reach.cache, &span))) return NULL;
    exec_mark(reach.cache, at, bytes);
    reach_counts(warp, inst, 1, bytes, store, &reach);
    return (unsigned char *)(uintptr_t)(at + reach.delta);
}

/* One element per lane, for any active lanes and any addresses: types and arguments per state
 * space. */
#define ADDRESS_shared u32
#define ADDRESS_global u64
#define OF_shared quick->shared, quick->shared_bytes, quick->mask, (u32)inst->imm
#define OF_global quick->warp, inst, quick->mask

/* A single active lane needs no arrays. The end of a reduction is made of such accesses, and so is
 * most of a loop whose lanes iterate unequally often. An array that was filled word by word is slow
 * to read as a vector. */
INLINE unsigned char *find_alone_shared(const struct exec_quick *quick,
                                        const struct exec_inst *inst, u32 lane, u32 bytes,
                                        bool store)
{
    const warp_u32 base = *(const warp_u32 *)(const void *)(quick->slots + inst->a);
    const u32 at = base[lane] + (u32)inst->imm;
    (void)store;
    if (quick->shared_bytes < bytes || at > quick->shared_bytes - bytes || (at & (bytes - 1)))
        return NULL;
    return quick->shared + at;
}
INLINE unsigned char *find_alone_global(const struct exec_quick *quick,
                                        const struct exec_inst *inst, u32 lane, u32 bytes,
                                        bool store)
{
    const warp_u64 base = *(const warp_u64 *)(const void *)(quick->slots + inst->a);
    return reach_alone(quick->warp, inst, base[lane], bytes, store);
}
#define DEFINE_ALONE_LOAD(where, T)                                                                \
    INLINE bool alone_load_##where##_##T(const struct exec_quick *quick,                           \
                                         const struct exec_inst *inst)                             \
    {                                                                                              \
        const u32 lane = (u32)__builtin_ctz(quick->mask);                                          \
        const unsigned char *place = find_alone_##where(quick, inst, lane, sizeof(T), false);      \
        if (place == NULL) return false;                                                           \
        lanes_##T *d = (lanes_##T *)(void *)(quick->slots + inst->d);                              \
        const lanes_##T here = (lanes_##T)(THE_LANES(T) == (slot_##T)lane);                        \
        *d = (*d & ~here) |                                                                        \
             (((lanes_##T){0} + (slot_##T) * (const T *)(const void *)place) & here);              \
        return true;                                                                               \
    }
#define DEFINE_ALONE_STORE(where, T)                                                               \
    INLINE bool alone_store_##where##_##T(const struct exec_quick *quick,                          \
                                          const struct exec_inst *inst)                            \
    {                                                                                              \
        const u32 lane = (u32)__builtin_ctz(quick->mask);                                          \
        unsigned char *place = find_alone_##where(quick, inst, lane, sizeof(T), true);             \
        if (place == NULL) return false;                                                           \
        *(T *)(void *)place =                                                                      \
            (T)(*(const lanes_##T *)(const void *)(quick->slots + inst->d))[lane];                 \
        return true;                                                                               \
    }
#define THE_LANES(T)                                                                               \
    (lanes_##T)                                                                                    \
    {                                                                                              \
        LOW_LANES, HIGH_LANES                                                                      \
    }
#define DEFINE_SOME_LOAD(where, T)                                                                 \
    static QUICK some_load_##where##_##T(const struct exec_quick *quick,                           \
                                         const struct exec_inst *inst)                             \
    {                                                                                              \
        ADDRESS_##where at[EXEC_LANES];                                                            \
        slot_##T to[EXEC_LANES];                                                                   \
        const bool alone = (quick->mask & (quick->mask - 1)) == 0;                                 \
        if (!quick->mask) return true;                                                             \
        if ((quick->stepped | !alone) && row_load_##where##_##T(quick, inst)) return true;         \
        if (alone) return alone_load_##where##_##T(quick, inst);                                   \
        memcpy(at, quick->slots + inst->a, sizeof at);                                             \
        memcpy(to, quick->slots + inst->d, sizeof to);                                             \
        if (!gather_##where##_##T(OF_##where, at, to)) return false;                               \
        memcpy(quick->slots + inst->d, to, sizeof to);                                             \
        return true;                                                                               \
    }
#define DEFINE_SOME_STORE(where, T)                                                                \
    static QUICK some_store_##where##_##T(const struct exec_quick *quick,                          \
                                          const struct exec_inst *inst)                            \
    {                                                                                              \
        ADDRESS_##where at[EXEC_LANES];                                                            \
        slot_##T from[EXEC_LANES];                                                                 \
        const bool alone = (quick->mask & (quick->mask - 1)) == 0;                                 \
        if (!quick->mask) return true;                                                             \
        if ((quick->stepped | !alone) && row_store_##where##_##T(quick, inst)) return true;        \
        if (alone) return alone_store_##where##_##T(quick, inst);                                  \
        memcpy(at, quick->slots + inst->a, sizeof at);                                             \
        memcpy(from, quick->slots + inst->d, sizeof from);                                         \
        return scatter_##where##_##T(OF_##where, at, from);                                        \
    }
#define SOME_LOADS(X, where)                                                                       \
    X(where, u8) X(where, s8) X(where, u16) X(where, s16) X(where, u32) X(where, u64)
#define SOME_STORES(X, where) X(where, u8) X(where, u16) X(where, u32) X(where, u64)
SOME_LOADS(DEFINE_ALONE_LOAD, shared)
SOME_LOADS(DEFINE_ALONE_LOAD, global)
SOME_STORES(DEFINE_ALONE_STORE, shared)
SOME_STORES(DEFINE_ALONE_STORE, global)
SOME_LOADS(DEFINE_SOME_LOAD, shared)
SOME_LOADS(DEFINE_SOME_LOAD, global)
SOME_STORES(DEFINE_SOME_STORE, shared)
SOME_STORES(DEFINE_SOME_STORE, global)

/* The even elements of two half warps, and the odd ones. */
#define EVEN(x, y)                                                                                 \
    __builtin_shufflevector(x, y, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
#define ODD(x, y)                                                                                  \
    __builtin_shufflevector(x, y, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31)

/* Splits a half warp's elements, N per lane: `to[k]` gets element k of each lane. */
#define DEFINE_DEAL(T)                                                                             \
    INLINE void deal_##T##_1(const half_##T *from, half_##T *to)                                   \
    {                                                                                              \
        to[0] = from[0];                                                                           \
    }                                                                                              \
    INLINE void deal_##T##_2(const half_##T *from, half_##T *to)                                   \
    {                                                                                              \
        to[0] = EVEN(from[0], from[1]);                                                            \
        to[1] = ODD(from[0], from[1]);                                                             \
    }                                                                                              \
    INLINE void deal_##T##_4(const half_##T *from, half_##T *to)                                   \
    {                                                                                              \
        const half_##T even[2] = {EVEN(from[0], from[1]), EVEN(from[2], from[3])};                 \
        const half_##T odd[2] = {ODD(from[0], from[1]), ODD(from[2], from[3])};                    \
        to[0] = EVEN(even[0], even[1]);                                                            \
        to[1] = EVEN(odd[0], odd[1]);                                                              \
        to[2] = ODD(even[0], even[1]);                                                             \
        to[3] = ODD(odd[0], odd[1]);                                                               \
    }
DEFINE_DEAL(u8)
DEFINE_DEAL(s8)
DEFINE_DEAL(u16)
DEFINE_DEAL(s16)
DEFINE_DEAL(u32)
DEFINE_DEAL(u64)

/* Stores element k of each lane to a slot. */
#define LOAD_ELEMENT(T, k, slot)                                                                   \
    *(lanes_##T *)(void *)(quick->slots + inst->slot) = __builtin_convertvector(                   \
        __builtin_shufflevector(low[k], high[k], LOW_LANES, HIGH_LANES), lanes_##T)
#define LOAD_1(T) LOAD_ELEMENT(T, 0, d)
#define LOAD_2(T)                                                                                  \
    LOAD_1(T);                                                                                     \
    LOAD_ELEMENT(T, 1, b)
#define LOAD_4(T)                                                                                  \
    LOAD_2(T);                                                                                     \
    LOAD_ELEMENT(T, 2, c);                                                                         \
    LOAD_ELEMENT(T, 3, e)

/* The addresses of lanes without a pattern. Where the step is known the slot is stale, so they are
 * computed. */
#define PLACES_shared memcpy(at, quick->slots + inst->a, sizeof at)
#define PLACES_global                                                                              \
    if (quick->stepped)                                                                            \
        for (unsigned l = 0; l < EXEC_HALF; l++) {                                                 \
            at[l] = quick->low + l * (u64)quick->step;                                             \
            at[EXEC_HALF + l] = quick->high + l * (u64)quick->step;                                \
        }                                                                                          \
    else                                                                                           \
        memcpy(at, quick->slots + inst->a, sizeof at)

#define LOADED_shared(T) false
#define LOADED_global(T) load_steps_##T(quick, inst)

/* Loads without a pattern are the rule at a tile's edges, on a torus and in columns. */
#define ANYHOW_1(where, T)                                                                         \
    {                                                                                              \
        ADDRESS_##where at[EXEC_LANES];                                                            \
        slot_##T to[EXEC_LANES];                                                                   \
        if (quick->mask != EXEC_ALL ||                                                             \
            (quick->stepped && (quick->step == 0 || quick->step == sizeof(T))))                    \
            return false;                                                                          \
        if (LOADED_##where(T)) return true;                                                        \
        PLACES_##where;                                                                            \
        if (!gather_##where##_##T(OF_##where, at, to)) return false;                               \
        memcpy(quick->slots + inst->d, to, sizeof to);                                             \
        return true;                                                                               \
    }
#define ANYHOW_2(where, T) return false
#define ANYHOW_4 ANYHOW_2

#define DEFINE_LOAD(where, T, N)                                                                   \
    static QUICK load_##where##_##T##_##N(const struct exec_quick *quick,                          \
                                          const struct exec_inst *inst)                            \
    {                                                                                              \
        struct parts parts;                                                                        \
        half_##T low[N], high[N];                                                                  \
        if (!find_##where(quick, inst, N * sizeof(T), false, &parts)) ANYHOW_##N(where, T);        \
        if (parts.same) {                                                                          \
            for (unsigned k = 0; k < N; k++) {                                                     \
                low[k] = (half_##T){0} + ((const T *)(const void *)parts.low)[k];                  \
                high[k] = (half_##T){0} + ((const T *)(const void *)parts.high)[k];                \
            }                                                                                      \
        } else {                                                                                   \
            deal_##T##_##N((const half_##T *)(const void *)parts.low, low);                        \
            deal_##T##_##N((const half_##T *)(const void *)parts.high, high);                      \
        }                                                                                          \
        LOAD_##N(T);                                                                               \
        return true;                                                                               \
    }

#define LANES_OF(T, slot)                                                                          \
    __builtin_convertvector(*(const lanes_##T *)(const void *)(quick->slots + inst->slot), warp_##T)

#define STORE_1(T)                                                                                 \
    const warp_##T all = LANES_OF(T, d);                                                           \
    *(half_##T *)(void *)parts.low = __builtin_shufflevector(all, all, LOW_LANES);                 \
    *(half_##T *)(void *)parts.high = __builtin_shufflevector(all, all, HIGH_LANES)
#define STORE_2(T)                                                                                 \
    typedef T half __attribute__((vector_size(EXEC_LANES * sizeof(T)), aligned(sizeof(T))));       \
    const warp_##T first = LANES_OF(T, d), second = LANES_OF(T, b);                                \
    *(half *)(void *)parts.low = PAIR_LOW(first, second);                                          \
    *(half *)(void *)parts.high = PAIR_HIGH(first, second)
#define PAIR_LOW(x, y)                                                                             \
    __builtin_shufflevector(x, y, 0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39, 8, 40,   \
                            9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47)
#define PAIR_HIGH(x, y)                                                                            \
    __builtin_shufflevector(x, y, 16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53, 22, 54, 23, 55,  \
                            24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62, 31, 63)
/* Interleaves elements 0 and 2, and 1 and 3, and then both results. */
#define STORE_4(T)                                                                                 \
    const warp_##T x = LANES_OF(T, d), y = LANES_OF(T, b), z = LANES_OF(T, c), w = LANES_OF(T, e); \
    warp_##T *low = (warp_##T *)(void *)parts.low, *high = (warp_##T *)(void *)parts.high;         \
    const warp_##T even_low = PAIR_LOW(x, z), odd_low = PAIR_LOW(y, w);                            \
    const warp_##T even_high = PAIR_HIGH(x, z), odd_high = PAIR_HIGH(y, w);                        \
    low[0] = PAIR_LOW(even_low, odd_low);                                                          \
    low[1] = PAIR_HIGH(even_low, odd_low);                                                         \
    high[0] = PAIR_LOW(even_high, odd_high);                                                       \
    high[1] = PAIR_HIGH(even_high, odd_high)

/* A store of one element per lane to a row may be race-checked and stored by store_judged_*; others
 * are stored lane by lane if they need no race check. */
#define JUDGED_shared_1(T) return false
#define JUDGED_shared_2 JUDGED_shared_1
#define JUDGED_shared_4 JUDGED_shared_1
#define JUDGED_global_2 JUDGED_shared_1
#define JUDGED_global_4 JUDGED_shared_1
#define JUDGED_global_1(T)                                                                         \
    {                                                                                              \
        T values[EXEC_LANES];                                                                      \
        slot_##T from[EXEC_LANES];                                                                 \
        u64 at[EXEC_LANES];                                                                        \
        const struct rows rows = rows_u64(quick, inst, sizeof(T), true);                           \
        const warp_##T all = LANES_OF(T, d);                                                       \
        if (quick->mask != EXEC_ALL) return false;                                                 \
        if (rows.row) {                                                                            \
            memcpy(values, &all, sizeof values);                                                   \
            return store_judged_##T(quick->warp, inst, rows.low, rows.high, values);               \
        }                                                                                          \
        if (store_steps_##T(quick, inst)) return true;                                             \
        PLACES_global;                                                                             \
        memcpy(from, quick->slots + inst->d, sizeof from);                                         \
        return scatter_global_##T(quick->warp, inst, EXEC_ALL, at, from);                          \
    }

#define DEFINE_STORE(where, T, N)                                                                  \
    static QUICK store_##where##_##T##_##N(const struct exec_quick *quick,                         \
                                           const struct exec_inst *inst)                           \
    {                                                                                              \
        struct parts parts;                                                                        \
        if (!find_##where(quick, inst, N * sizeof(T), true, &parts)) JUDGED_##where##_##N(T);      \
        STORE_##N(T);                                                                              \
        return true;                                                                               \
    }

#define STORES(X, where)                                                                           \
    X(where, u8, 1)                                                                                \
    X(where, u16, 1)                                                                               \
    X(where, u32, 1)                                                                               \
    X(where, u64, 1)                                                                               \
    X(where, u8, 2)                                                                                \
    X(where, u8, 4)                                                                                \
    X(where, u16, 2)                                                                               \
    X(where, u16, 4) X(where, u32, 2) X(where, u32, 4) X(where, u64, 2)
#define LOADS(X, where) STORES(X, where) X(where, s8, 1) X(where, s16, 1)
LOADS(DEFINE_LOAD, shared)
LOADS(DEFINE_LOAD, global)
STORES(DEFINE_STORE, shared)
STORES(DEFINE_STORE, global)

/* ---- atomics: lane by lane, once all addresses are known to be valid --------------------------
 *
 * EXEC_NO_SLOT as slot d: nobody reads the old values. */

#define THE_LANE_BEFORE                                                                            \
    0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,   \
        25, 26, 27, 28, 29, 30

/* Returns a mask of the lanes that are all ones; the others must be 0. */
INLINE u32 bits_of(warp_u32 lanes)
{
    const warp_u32 bits = {LOW_BITS, HIGH_BITS};
    return __builtin_reduce_or(lanes & bits);
}

INLINE u32 bits_of_wide(warp_u64 lanes)
{
    return bits_of(__builtin_convertvector(lanes, warp_u32));
}

INLINE bool places_shared(const struct exec_quick *quick, const struct exec_inst *inst, u32 bytes,
                          warp_u64 *places)
{
    const warp_u32 at = *(const warp_u32 *)(const void *)(quick->slots + inst->a) + (u32)inst->imm;
    const u32 bad =
        bits_of((warp_u32)(at > quick->shared_bytes - bytes) | (warp_u32)((at & (bytes - 1)) != 0));
    if ((quick->mask != EXEC_ALL) | (quick->shared_bytes < bytes) | (bad != 0)) return false;
    *places = __builtin_convertvector(at, warp_u64) + (u64)(uintptr_t)quick->shared;
    return true;
}

/* Returns true when the owner of some lane's word may be neither this block nor `many`. Only the
 * table of bytes is looked at. */
EXEC_OWNER_RACES static inline bool any_unowned(const u8 *owners, const u64 *at, u32 mine)
{
    const u32 many = UINT32_MAX;
    u32 unowned = 0;
    for (unsigned l = 0; l < EXEC_LANES; l++) {
        const u32 owner = *(const u32 *)(const void *)(owners + at[l]);
        unowned |= (u32)((owner != mine) & (owner != many));
    }
    return unowned != 0;
}

static inline bool any_unmarked(const u64 *marks, const u64 *at, u32 bytes)
{
    u64 unmarked = 0;
    for (unsigned l = 0; l < EXEC_LANES; l++)
        unmarked |= ~__atomic_load_n(&marks[at[l] / 64], __ATOMIC_RELAXED) >> at[l] % 64;
    return (unmarked & exec_footprint_mask(0, bytes)) != 0;
}

/* Race-checks atomics of 4 or 8 bytes between blocks, where nothing has been stored to the
 * allocation: does for each lane what exec_mark and exec_grid_shadow_touch do. Mostly other blocks
 * have been there before, and nothing is written. Returns false, without effect, in other cases.
 * Not inlined, because it is long. */
static __attribute__((noinline)) bool judge(struct exec_region_cache *cache, const u64 *address,
                                            u32 bytes, u64 block)
{
    const u8 me = exec_owner_of(block);
    u64 least = UINT64_MAX, most = 0, at[EXEC_LANES];
    if (cache->causal != NULL || cache->block_scope || exec_block_shadow_wanted(cache) ||
        (bytes != sizeof(u32) && bytes != sizeof(u64)) ||
        (cache->between_blocks && exec_owners_seen(cache->owners, EXEC_STORE)))
        return false;
    for (unsigned l = 0; l < EXEC_LANES; l++) {
        at[l] = address[l] - cache->low;
        least = at[l] < least ? at[l] : least;
        most = at[l] > most ? at[l] : most;
    }
    if (cache->between_blocks) {
        struct exec_owners *owners = cache->owners;
        exec_owners_see(owners, EXEC_ATOMIC);
        const u32 mine = me * 0x01010101u;
        const u8 *bytes_owned = owners->bytes[EXEC_ATOMIC];
        if (any_unowned(bytes_owned, at, mine) || any_unowned(bytes_owned + bytes - 4, at, mine))
            for (unsigned l = 0; l < EXEC_LANES; l++)
                exec_owners_add(owners, EXEC_ATOMIC, at[l], bytes, me);
    }
    exec_mark_again(cache, cache->low + least, most - least + bytes);
    if (any_unmarked(cache->marks, at, bytes))
        for (unsigned l = 0; l < EXEC_LANES; l++) exec_footprint_mark(cache->marks, at[l], bytes);
    return true;
}

/* Finds the lanes' places in global memory. Returns false, without effect, when an access is not
 * allowed or needs the slow path of a race check, or when the operation commutes and other workers
 * may execute it at the same time. */
INLINE bool places_global(const struct exec_quick *quick, const struct exec_inst *inst, u32 bytes,
                          bool commutes, warp_u64 *places)
{
    struct exec_region_cache *cache = exec_quick_cache_of(quick, inst);
    struct exec_quick_counts *counts = quick->counts;
    const warp_u64 at = *(const warp_u64 *)(const void *)(quick->slots + inst->a) + inst->imm;
    const u32 bad = bits_of_wide((warp_u64)(at - cache->low > cache->size - bytes) |
                                 (warp_u64)((at & (u64)(bytes - 1)) != 0));
    const warp_u64 sector = at >> 5;
    const warp_u64 before = __builtin_shufflevector(sector, sector, THE_LANE_BEFORE);
    if ((quick->mask != EXEC_ALL) | (cache->size < bytes) | cache->read_only |
        (commutes & !quick->worker->alone) | (bad != 0))
        return false;
    if (cache->marks != NULL) {
        u64 address[EXEC_LANES];
        memcpy(address, &at, sizeof address);
        if (!judge(cache, address, bytes, quick->warp->block->index)) return false;
    }
    counts->transactions += 1 + (u32)__builtin_popcount(bits_of_wide((warp_u64)(sector != before)));
    counts->loaded += EXEC_LANES * bytes;
    counts->stored += EXEC_LANES * bytes;
    if (commutes) quick->worker->commuted += EXEC_LANES;
    *places = at + cache->delta;
    return true;
}

INLINE bool brings_same(const unsigned char *slot, bool wide)
{
    const warp_u64 far = *(const warp_u64 *)(const void *)slot;
    const warp_u32 near = *(const warp_u32 *)(const void *)slot;
    return wide ? !__builtin_reduce_max((warp_u64)(far != far[0]))
                : !__builtin_reduce_max((warp_u32)(near != near[0]));
}

#define ATOMIC_LANES(T, brought, expression)                                                       \
    _Pragma("clang loop unroll_count(8)") for (unsigned l = 0; l < EXEC_LANES; l++)                \
    {                                                                                              \
        T *memory = (T *)(uintptr_t)pointers[l];                                                   \
        const T a = *memory, b = (T)(brought), c = (T)cc[l];                                       \
        (void)b, (void)c;                                                                          \
        *memory = (T)(expression);                                                                 \
        before[l] = (slot_##T)a;                                                                   \
    }
/* Adds all lanes' f32 to one place, as the row does that flushes subnormals, keeps them (`keeps`)
 * and makes NaN canonical at each step: mostly there are none, and the sums depend on nothing but
 * each other. Returns false, without effect, if there is one. */
static inline bool add_together(f32 *memory, const f32 *values, f32 *before, bool keeps)
{
    f32 summands[EXEC_LANES], sums[EXEC_LANES];
    u32 special = 0;
    for (unsigned l = 0; l < EXEC_LANES; l++)
        summands[l] = keeps ? values[l] : exec_flush(values[l]);
    f32 sum = keeps ? *memory : exec_flush(*memory);
    for (unsigned l = 0; l < EXEC_LANES; l++) sums[l] = sum += summands[l];
    for (unsigned l = 0; l < EXEC_LANES; l++) {
        const u32 size = exec_bits32(sums[l]) & 0x7fffffffu;
        special |= (u32)(size > 0x7f800000u) | (u32)(!keeps & (size - 1 < 0x7fffffu));
    }
    if (special) return false;
    before[0] = *memory;
    for (unsigned l = 1; l < EXEC_LANES; l++) before[l] = sums[l - 1];
    *memory = sums[EXEC_LANES - 1];
    return true;
}
/* Whether the lanes' values have been added so; of f32 there is no other operation. */
#define ADDED_f32 add_together((f32 *)(uintptr_t)pointers[0], bb, before, shared)
#define ADDED_u32 false
#define ADDED_s32 false
#define ADDED_u64 false
#define ADDED_s64 false
#define ADDED_f64 false

/* The same where all lanes go to one place: its value stays in a register. */
#define ATOMIC_TOGETHER(T, expression)                                                             \
    {                                                                                              \
        T *memory = (T *)(uintptr_t)pointers[0];                                                   \
        T a = *memory;                                                                             \
        _Pragma("clang loop unroll_count(8)") for (unsigned l = 0; l < EXEC_LANES; l++)            \
        {                                                                                          \
            const T b = (T)bb[l], c = (T)cc[l];                                                    \
            (void)b, (void)c;                                                                      \
            before[l] = (slot_##T)a;                                                               \
            a = (T)(expression);                                                                   \
        }                                                                                          \
        *memory = a;                                                                               \
    }
#define DEFINE_ATOMIC(name, keys, T, expression, commutes)                                         \
    static QUICK atomic_##name(const struct exec_quick *quick, const struct exec_inst *inst)       \
    {                                                                                              \
        const bool shared = inst->e == EXEC_ATOMIC_SHARED;                                         \
        slot_##T before[EXEC_LANES], bb[EXEC_LANES], cc[EXEC_LANES];                               \
        u64 pointers[EXEC_LANES];                                                                  \
        warp_u64 places;                                                                           \
        if (inst->e == EXEC_ATOMIC_SHARED64 ||                                                     \
            (shared ? !places_shared(quick, inst, sizeof(T), &places)                              \
                    : !places_global(quick, inst, sizeof(T), commutes, &places)))                  \
            return false;                                                                          \
        memcpy(pointers, &places, sizeof pointers);                                                \
        memcpy(bb, quick->slots + inst->b, sizeof bb);                                             \
        memcpy(cc, quick->slots + inst->c, sizeof cc);                                             \
        /* Else mostly all lanes bring the same constant, which helps in global memory only. */    \
        if (!__builtin_reduce_max((warp_u64)(places != places[0]))) {                              \
            if (!ADDED_##T) ATOMIC_TOGETHER(T, expression)                                         \
        } else if (!shared && brings_same(quick->slots + inst->b, sizeof *bb == sizeof(u64)))      \
            ATOMIC_LANES(T, bb[0], expression)                                                     \
        else                                                                                       \
            ATOMIC_LANES(T, bb[l], expression)                                                     \
        if (inst->d == EXEC_NO_SLOT) return true;                                                  \
        memcpy(quick->slots + inst->d, before, sizeof before);                                     \
        return true;                                                                               \
    }

#define ATOMIC(name, keys, T, expression)
#define PLAIN(name, keys, T, expression) DEFINE_ATOMIC(name, keys, T, expression, false)
#define COMMUTES(name, keys, T, expression) DEFINE_ATOMIC(name, keys, T, expression, true)
#include "emulator/exec/ops/atomic.def"

/* ---- warp-wide operations: all lanes are active and all member masks are full -----------------
 */

INLINE bool is_together(const struct exec_quick *quick, const struct exec_inst *inst)
{
    const warp_u32 members = *(const warp_u32 *)(const void *)(quick->slots + inst->imm);
    if ((quick->mask != EXEC_ALL) | (__builtin_reduce_max((warp_u32)(members != EXEC_ALL)) != 0))
        return false;
    if (quick->watched &&
        (quick->warp->block->order != NULL || exec_block_shadow_warp_touched(quick->warp)))
        quick->order(quick->warp);
    return true;
}

#define LANES                                                                                      \
    {                                                                                              \
        LOW_LANES, HIGH_LANES                                                                      \
    }

/* Moves lanes' values by `by`, 0 to 31: one shuffle for each of its bits. */
#define STEP(x, by, bit, ...) ((by)&bit ? __builtin_shufflevector(x, x, __VA_ARGS__) : (x))
#define UP(n)                                                                                      \
    (0 - n) & 31, (1 - n) & 31, (2 - n) & 31, (3 - n) & 31, (4 - n) & 31, (5 - n) & 31,            \
        (6 - n) & 31, (7 - n) & 31, (8 - n) & 31, (9 - n) & 31, (10 - n) & 31, (11 - n) & 31,      \
        (12 - n) & 31, (13 - n) & 31, (14 - n) & 31, (15 - n) & 31, (16 - n) & 31, (17 - n) & 31,  \
        (18 - n) & 31, (19 - n) & 31, (20 - n) & 31, (21 - n) & 31, (22 - n) & 31, (23 - n) & 31,  \
        (24 - n) & 31, (25 - n) & 31, (26 - n) & 31, (27 - n) & 31, (28 - n) & 31, (29 - n) & 31,  \
        (30 - n) & 31, (31 - n) & 31
#define ACROSS(n)                                                                                  \
    0 ^ n, 1 ^ n, 2 ^ n, 3 ^ n, 4 ^ n, 5 ^ n, 6 ^ n, 7 ^ n, 8 ^ n, 9 ^ n, 10 ^ n, 11 ^ n, 12 ^ n,  \
        13 ^ n, 14 ^ n, 15 ^ n, 16 ^ n, 17 ^ n, 18 ^ n, 19 ^ n, 20 ^ n, 21 ^ n, 22 ^ n, 23 ^ n,    \
        24 ^ n, 25 ^ n, 26 ^ n, 27 ^ n, 28 ^ n, 29 ^ n, 30 ^ n, 31 ^ n
#define DEFINE_MOVE(name, LANES)                                                                   \
    INLINE warp_u32 name(warp_u32 x, u32 by)                                                       \
    {                                                                                              \
        x = STEP(x, by, 1, LANES(1));                                                              \
        x = STEP(x, by, 2, LANES(2));                                                              \
        x = STEP(x, by, 4, LANES(4));                                                              \
        x = STEP(x, by, 8, LANES(8));                                                              \
        return STEP(x, by, 16, LANES(16));                                                         \
    }
DEFINE_MOVE(rotate, UP)
DEFINE_MOVE(cross, ACROSS)

/* The same as in ops/sync.c, when b and c are uniform. */
#define DEFINE_SHUFFLE(name, moved, source, in_range)                                              \
    static QUICK shuffle_##name(const struct exec_quick *quick, const struct exec_inst *inst)      \
    {                                                                                              \
        const warp_s32 lane = LANES;                                                               \
        const warp_u32 bs = *(const warp_u32 *)(const void *)(quick->slots + inst->b);             \
        const warp_u32 cs = *(const warp_u32 *)(const void *)(quick->slots + inst->c);             \
        const warp_u32 given = *(const warp_u32 *)(const void *)(quick->slots + inst->a);          \
        const warp_u32 differ = (bs ^ bs[0]) | (cs ^ cs[0]);                                       \
        const s32 b = (s32)(bs[0] & 31), clamp = (s32)(cs[0] & 31);                                \
        const s32 segment = (s32)(cs[0] >> 8 & 31);                                                \
        const warp_s32 first = lane & segment, last = first | (clamp & ~segment);                  \
        const warp_s32 j = (source);                                                               \
        const warp_u32 p = (warp_u32)(in_range);                                                   \
        (void)first;                                                                               \
        if (__builtin_reduce_max(differ) != 0 || (moved##_whole && segment != 0) ||                \
            !is_together(quick, inst))                                                             \
            return false;                                                                          \
        const warp_u32 brought = moved(given, (u32)b);                                             \
        *(warp_u32 *)(void *)(quick->slots + inst->d) = (brought & p) | (given & ~p);              \
        *(u32 *)(void *)(quick->slots + inst->e) = bits_of(p);                                     \
        return true;                                                                               \
    }
#define UP_BY(x, b) rotate(x, b)
#define DOWN_BY(x, b) rotate(x, (32 - (b)) & 31)
#define OF_LANE(x, b) ((warp_u32){0} + (x)[b])
enum { UP_BY_whole = 0, DOWN_BY_whole = 0, cross_whole = 0, OF_LANE_whole = 1 };
DEFINE_SHUFFLE(up, UP_BY, lane - b, j >= last)
DEFINE_SHUFFLE(down, DOWN_BY, lane + b, j <= last)
DEFINE_SHUFFLE(bfly, cross, lane ^ b, j <= last)
DEFINE_SHUFFLE(idx, OF_LANE, first | (b & ~segment), j <= last)

#define DEFINE_VOTE(name, slot, T, expression)                                                     \
    static QUICK vote_##name(const struct exec_quick *quick, const struct exec_inst *inst)         \
    {                                                                                              \
        const warp_u32 given = *(const warp_u32 *)(const void *)(quick->slots + inst->a);          \
        const u32 votes = bits_of((warp_u32)(given != 0));                                         \
        if (!is_together(quick, inst)) return false;                                               \
        *(T *)(void *)(quick->slots + inst->d) = (expression);                                     \
        return true;                                                                               \
    }
DEFINE_VOTE(all, d, u32, votes == EXEC_ALL ? EXEC_ALL : 0)
DEFINE_VOTE(any, d, u32, votes != 0 ? EXEC_ALL : 0)
DEFINE_VOTE(uni, d, u32, votes == EXEC_ALL || votes == 0 ? EXEC_ALL : 0)
DEFINE_VOTE(ballot, d, warp_u32, (warp_u32){0} + votes)

static QUICK meet(const struct exec_quick *quick, const struct exec_inst *inst)
{
    return is_together(quick, inst);
}

static QUICK barrier(const struct exec_quick *quick, const struct exec_inst *inst)
{
    (void)inst;
    return meet_whole(quick);
}

static QUICK leave(const struct exec_quick *quick, const struct exec_inst *inst)
{
    (void)inst;
    return leave_whole(quick);
}

/* ---- the table --------------------------------------------------------------------------------
 */

#define COUNT_1(where) where "."
#define COUNT_2(where) where ".v2."
#define COUNT_4(where) where ".v4."
#define LOAD_ROW(where, T, N) {"ld." COUNT_##N(#where) #T, load_##where##_##T##_##N},
#define STORE_ROW(where, T, N) {"st." COUNT_##N(#where) #T, store_##where##_##T##_##N},
#define GENERIC_LOAD_ROW(where, T, N) {"ld." COUNT_##N("generic") #T, load_##where##_##T##_##N},
#define GENERIC_STORE_ROW(where, T, N) {"st." COUNT_##N("generic") #T, store_##where##_##T##_##N},
const struct exec_quick_row exec_quick_rows_native[] = {
    LOADS(LOAD_ROW, shared) LOADS(LOAD_ROW, global) LOADS(GENERIC_LOAD_ROW, global)
        STORES(STORE_ROW, shared) STORES(STORE_ROW, global) STORES(GENERIC_STORE_ROW, global)
#undef PLAIN
#undef ATOMIC
#define ATOMIC(name, keys, T, expression)
#define PLAIN(name, keys, T, expression) {keys, atomic_##name},
#define COMMUTES PLAIN
#include "emulator/exec/ops/atomic.def"
            {"watch", watch},
    {"shfl.sync.up.b32", shuffle_up},
    {"shfl.sync.down.b32", shuffle_down},
    {"shfl.sync.bfly.b32", shuffle_bfly},
    {"shfl.sync.idx.b32", shuffle_idx},
    {"vote.sync.all.pred", vote_all},
    {"vote.sync.any.pred", vote_any},
    {"vote.sync.uni.pred", vote_uni},
    {"vote.sync.ballot.b32", vote_ballot},
    {"bar.warp.sync", meet},
    {"bar.sync", barrier},
    {"ret", leave},
    {"exit", leave},
    {NULL, NULL}};

#define SOME_LOAD_ROW(where, T) {"ld." #where "." #T, some_load_##where##_##T},
#define SOME_STORE_ROW(where, T) {"st." #where "." #T, some_store_##where##_##T},
#define SOME_GENERIC_LOAD_ROW(where, T) {"ld.generic." #T, some_load_##where##_##T},
#define SOME_GENERIC_STORE_ROW(where, T) {"st.generic." #T, some_store_##where##_##T},
const struct exec_quick_row exec_some_rows_native[] = {
    {"watch", some_watch},
    SOME_LOADS(SOME_LOAD_ROW, shared) SOME_LOADS(SOME_LOAD_ROW, global)
        SOME_LOADS(SOME_GENERIC_LOAD_ROW, global) SOME_STORES(SOME_STORE_ROW, shared)
            SOME_STORES(SOME_STORE_ROW, global)
                SOME_STORES(SOME_GENERIC_STORE_ROW, global){NULL, NULL}};
