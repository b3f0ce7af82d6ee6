/* Fast paths of a lone lane's loads and stores, for machine code: ops/quick.h. They add to the
 * processor's own instruction little more than the check that the program may access the bytes.
 */
#include "emulator/exec/ops/lanes.h"
#include "emulator/exec/ops/quick.h"
#include "emulator/exec/ops/quick_judge.h"
#include "emulator/exec/ops/quick_watch.h"

#define QUICK __attribute__((flatten)) bool

/* ---- addresses ------------------------------------------------------------------------------- */

INLINE u64 address_of(const struct exec_quick *quick, const struct exec_inst *inst, bool wide)
{
    const unsigned char *slot = quick->slots + inst->a;
    return wide ? *(const u64 *)(const void *)slot + inst->imm
                : *(const u32 *)(const void *)slot + (u32)inst->imm;
}

/* Returns false when the access is not allowed. */
INLINE bool find_shared(const struct exec_quick *quick, const struct exec_inst *inst, u32 bytes,
                        bool store, unsigned char **place)
{
    const u32 at = (u32)address_of(quick, inst, false);
    (void)store;
    if ((quick->shared_bytes < bytes) | (at > quick->shared_bytes - bytes) |
        ((at & (bytes - 1)) != 0))
        return false;
    *place = quick->shared + at;
    return true;
}

/* Marks the access in the launch's footprint. Returns false, without effect, when the access must
 * be race-checked. */
static __attribute__((noinline)) bool mark(struct exec_region_cache *cache, u64 at, u32 bytes)
{
    if (is_judged(cache)) return false;
    exec_mark_lone(cache, at, bytes);
    return true;
}

/* Lanes of 16 bytes have no fast path: ops/memory.c counts their halves. */
INLINE bool find_global(const struct exec_quick *quick, const struct exec_inst *inst, u32 bytes,
                        bool store, unsigned char **place)
{
    struct exec_region_cache *cache = exec_quick_cache_of(quick, inst);
    struct exec_quick_counts *counts = quick->counts;
    const u64 at = address_of(quick, inst, true);
    if ((cache->size < bytes) | (store & cache->read_only) |
        (at - cache->low > cache->size - bytes) | ((at & (bytes - 1)) != 0))
        return false;
    if (cache->marks != NULL && !exec_mark_next(cache, at) && !mark(cache, at, bytes)) return false;
    counts->transactions++;
    *(store ? &counts->stored : &counts->loaded) += bytes;
    counts->chain += !store && inst->extra != NULL;
    *place = (unsigned char *)(uintptr_t)(at + cache->delta);
    return true;
}

/* ---- the rows -------------------------------------------------------------------------------- */

/* Returns the slot of element k. */
INLINE void *slot_of(const struct exec_quick *quick, const struct exec_inst *inst, unsigned k)
{
    return quick->slots + (k == 0 ? inst->d : k == 1 ? inst->b : k == 2 ? inst->c : inst->e);
}

#define DEFINE_LOAD(where, T, N)                                                                   \
    static QUICK load_##where##_##T##_##N(const struct exec_quick *quick,                          \
                                          const struct exec_inst *inst)                            \
    {                                                                                              \
        if (!quick->mask) return true;                                                             \
        unsigned char *place;                                                                      \
        if (!LIKELY(find_##where(quick, inst, N * sizeof(T), false, &place))) return false;        \
        const T *from = (const void *)place;                                                       \
        for (unsigned k = 0; k < N; k++) *(slot_##T *)slot_of(quick, inst, k) = from[k];           \
        return true;                                                                               \
    }
#define DEFINE_STORE(where, T, N)                                                                  \
    static QUICK store_##where##_##T##_##N(const struct exec_quick *quick,                         \
                                           const struct exec_inst *inst)                           \
    {                                                                                              \
        if (!quick->mask) return true;                                                             \
        unsigned char *place;                                                                      \
        if (!LIKELY(find_##where(quick, inst, N * sizeof(T), true, &place))) return false;         \
        T *to = (void *)place;                                                                     \
        for (unsigned k = 0; k < N; k++) to[k] = (T) * (slot_##T *)slot_of(quick, inst, k);        \
        return true;                                                                               \
    }

#define LOADS(X, where)                                                                            \
    X(where, u8, 1)                                                                                \
    X(where, s8, 1)                                                                                \
    X(where, u16, 1) X(where, s16, 1) X(where, u32, 1) X(where, u64, 1) X(where, u32, 2)
#define STORES(X, where)                                                                           \
    X(where, u8, 1) X(where, u16, 1) X(where, u32, 1) X(where, u64, 1) X(where, u32, 2)
LOADS(DEFINE_LOAD, shared)
LOADS(DEFINE_LOAD, global)
STORES(DEFINE_STORE, shared)
STORES(DEFINE_STORE, global)

/* Row "watch". */
static QUICK watch(const struct exec_quick *quick, const struct exec_inst *inst)
{
    const bool store = exec_watch_is(inst, EXEC_WATCH_STORE);
    if (!exec_watch_is(inst, EXEC_WATCH_LOAD) && !store) return false;
    if (quick->warp->block->shadow == NULL || !quick->mask) return true;
    return touch_lone(quick->warp, inst, quick->lane, (u32)address_of(quick, inst, false), store,
                      store ? *(const u32 *)slot_of(quick, inst, 0) : 0);
}

#define COUNT_1(where) where "."
#define COUNT_2(where) where ".v2."
#define LOAD_ROW(where, T, N) {"ld." COUNT_##N(#where) #T, load_##where##_##T##_##N},
#define STORE_ROW(where, T, N) {"st." COUNT_##N(#where) #T, store_##where##_##T##_##N},
#define GENERIC_LOAD_ROW(where, T, N) {"ld." COUNT_##N("generic") #T, load_##where##_##T##_##N},
#define GENERIC_STORE_ROW(where, T, N) {"st." COUNT_##N("generic") #T, store_##where##_##T##_##N},
const struct exec_quick_row exec_lone_rows_native[] = {
    {"watch", watch},
    LOADS(LOAD_ROW, shared) LOADS(LOAD_ROW, global) LOADS(GENERIC_LOAD_ROW, global)
        STORES(STORE_ROW, shared) STORES(STORE_ROW, global)
            STORES(GENERIC_STORE_ROW, global){NULL, NULL}};
