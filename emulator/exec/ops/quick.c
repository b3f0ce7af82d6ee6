/* Loads and stores of whole warps, for machine code: ops/quick.h.
 *
 * Where a base register's lanes lead is asked apart from the offset behind it, so that LLVM asks it
 * once for all accesses by that register.
 */
#include "emulator/exec/ops/quick.h"
#include "emulator/exec/check/block_shadow.h"
#include "emulator/exec/ops/lanes.h"
#include "emulator/exec/ops/watch.h"

/* All that such a function calls is put in line. */
#define QUICK __attribute__((flatten)) bool

/* Elements of half a warp, wherever they lie, and of all of it. */
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

#define FIRSTS                                                                                     \
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16, 16,    \
        16, 16, 16, 16, 16

/* Whether the addresses of each half of the warp are `step` bytes apart. */
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

/* Where the elements of the lower and the upper half are, for the host: one behind the other from
 * here on, or all the same one. */
struct parts {
    unsigned char *low, *high;
    bool same;
};

static inline __attribute__((always_inline)) bool find_shared(const struct exec_quick *quick,
                                                              const struct exec_inst *inst,
                                                              u32 bytes, bool store,
                                                              struct parts *parts)
{
    const u32 *base = (const u32 *)(const void *)(quick->slots + inst->a);
    const u32 low = base[0] + (u32)inst->imm, high = base[EXEC_HALF] + (u32)inst->imm;
    const bool same = !store && apart_u32(base, 0), row = apart_u32(base, bytes);
    const u32 last = quick->shared_bytes - (same ? 1 : EXEC_HALF) * bytes;
    if ((quick->mask != EXEC_ALL) | (quick->shared_bytes < EXEC_HALF * bytes) |
        (((low | high) & (bytes - 1)) != 0) | (low > last) | (high > last) | !(same | row))
        return false;
    *parts = (struct parts){quick->shared + low, quick->shared + high, same};
    return true;
}

/* ---- row "watch": nearly all of what is loaded was last stored before a barrier ---------------
 */

/* Whether any, or every one, of 16 cells is of something that nothing orders. */
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

/* Both rows are read by the warp: by the first that does so, or by the second, another. What
 * check/shadow.c keeps of either is the same for all cells; false: it is not. */
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
    /* With two readers of different warps no write is unseen. */
    if (all_recent(others + low, floor) & all_recent(others + high, floor)) return true;
    return read_rows(shadow, low, high, warp, site);
}

/* Not in line: it is long, and few registers are worth keeping across it. */
static __attribute__((noinline)) bool settle(struct exec_warp *warp, u32 low, u32 high, bool same,
                                             const struct exec_inst *inst)
{
    struct exec_shadow *shadow = warp->block->shadow;
    const u32 at[2] = {low, high};
    if (!exec_watch_is_plain(warp->block) || warp->block->async != NULL) return false;
    if (!(same ? exec_watch_sames(warp, inst, at)
               : watch_rows(shadow, low, high, warp->index, inst->position)))
        return false;
    shadow->touched |= 1u << warp->index;
    return true;
}

static QUICK watch(const struct exec_quick *quick, const struct exec_inst *inst)
{
    struct parts parts;
    if (inst->cache != EXEC_WATCH_LOAD) return false;
    if (quick->warp->block->shadow == NULL) return true;
    return find_shared(quick, inst, 4, false, &parts) &&
           settle(quick->warp, (u32)(parts.low - quick->shared) / 4,
                  (u32)(parts.high - quick->shared) / 4, parts.same, inst);
}

/* ---- global memory --------------------------------------------------------------------------- */

/* As access_count of ops/memory.c. */
static inline void count(const struct exec_quick *quick, const struct exec_inst *inst, u64 low,
                         u64 high, u64 span, u32 bytes, bool store)
{
    struct exec_counts *counts = &quick->worker->counts;
    const u64 low_last = (low + span - 1) >> 5, high_last = (high + span - 1) >> 5;
    counts->transactions +=
        low_last - (low >> 5) + 1 + high_last - (high >> 5) + 1 - (low_last == high >> 5);
    if (store) {
        counts->bytes_stored += EXEC_LANES * bytes;
    } else {
        counts->bytes_loaded += EXEC_LANES * bytes;
        quick->warp->chain += inst->extra != NULL;
    }
}

/* A touch of a launch whose footprint is wanted; false: it is judged as well. */
static __attribute__((noinline)) bool mark(struct exec_region_cache *cache, u64 low, u64 high,
                                           u64 span)
{
    if (cache->causal != NULL || exec_grid_shadow_wanted(cache) || exec_block_shadow_wanted(cache))
        return false;
    exec_mark(cache, low, span);
    exec_mark(cache, high, span);
    return true;
}

static inline __attribute__((always_inline)) bool find_global(const struct exec_quick *quick,
                                                              const struct exec_inst *inst,
                                                              u32 bytes, bool store,
                                                              struct parts *parts)
{
    struct exec_region_cache *cache = exec_cache_of(quick->worker, inst);
    const u64 *base = (const u64 *)(const void *)(quick->slots + inst->a);
    const u64 low = base[0] + inst->imm, high = base[EXEC_HALF] + inst->imm;
    const bool same = !store && apart_u64(base, 0), row = apart_u64(base, bytes);
    const u64 span = same ? bytes : EXEC_HALF * bytes, last = cache->size - span;
    if ((quick->mask != EXEC_ALL) | (((low | high) & (bytes - 1)) != 0) | !(same | row) |
        (store & cache->read_only) | (cache->size < span) | (low - cache->low > last) |
        (high - cache->low > last))
        return false;
    if (cache->marks != NULL && !mark(cache, low, high, span)) return false;
    count(quick, inst, low, high, span, bytes, store);
    *parts = (struct parts){(unsigned char *)(uintptr_t)(low + cache->delta),
                            (unsigned char *)(uintptr_t)(high + cache->delta), same};
    return true;
}

#define DEFINE_LOAD(where, T)                                                                      \
    static QUICK load_##where##_##T(const struct exec_quick *quick, const struct exec_inst *inst)  \
    {                                                                                              \
        lanes_##T *d = (lanes_##T *)(void *)(quick->slots + inst->d);                              \
        struct parts parts;                                                                        \
        if (!find_##where(quick, inst, sizeof(T), false, &parts)) return false;                    \
        if (parts.same) {                                                                          \
            const half_##T none = {0};                                                             \
            const half_##T low = none + *(const T *)(const void *)parts.low;                       \
            const half_##T high = none + *(const T *)(const void *)parts.high;                     \
            *d = __builtin_convertvector(                                                          \
                __builtin_shufflevector(low, high, LOW_LANES, HIGH_LANES), lanes_##T);             \
        } else {                                                                                   \
            const half_##T low = *(const half_##T *)(const void *)parts.low;                       \
            const half_##T high = *(const half_##T *)(const void *)parts.high;                     \
            *d = __builtin_convertvector(                                                          \
                __builtin_shufflevector(low, high, LOW_LANES, HIGH_LANES), lanes_##T);             \
        }                                                                                          \
        return true;                                                                               \
    }

#define DEFINE_STORE(where, T)                                                                     \
    static QUICK store_##where##_##T(const struct exec_quick *quick, const struct exec_inst *inst) \
    {                                                                                              \
        const lanes_##T *d = (const lanes_##T *)(const void *)(quick->slots + inst->d);            \
        struct parts parts;                                                                        \
        if (!find_##where(quick, inst, sizeof(T), true, &parts)) return false;                     \
        const warp_##T all = __builtin_convertvector(*d, warp_##T);                                \
        *(half_##T *)(void *)parts.low = __builtin_shufflevector(all, all, LOW_LANES);             \
        *(half_##T *)(void *)parts.high = __builtin_shufflevector(all, all, HIGH_LANES);           \
        return true;                                                                               \
    }

#define LOADS(X, where)                                                                            \
    X(where, u8) X(where, s8) X(where, u16) X(where, s16) X(where, u32) X(where, u64)
#define STORES(X, where) X(where, u8) X(where, u16) X(where, u32) X(where, u64)
LOADS(DEFINE_LOAD, shared)
LOADS(DEFINE_LOAD, global)
STORES(DEFINE_STORE, shared)
STORES(DEFINE_STORE, global)

#define LOAD_ROW(where, T) {"ld." #where "." #T, load_##where##_##T},
#define STORE_ROW(where, T) {"st." #where "." #T, store_##where##_##T},
#define GENERIC_LOAD_ROW(where, T) {"ld.generic." #T, load_##where##_##T},
#define GENERIC_STORE_ROW(where, T) {"st.generic." #T, store_##where##_##T},
const struct exec_quick_row exec_quick_rows_native[] = {
    LOADS(LOAD_ROW, shared) LOADS(LOAD_ROW, global) LOADS(GENERIC_LOAD_ROW, global)
        STORES(STORE_ROW, shared) STORES(STORE_ROW, global)
            STORES(GENERIC_STORE_ROW, global){"watch", watch},
    {NULL, NULL}};
