/* Loads and stores, the rows of ops/memory.def. Compiled once per EXEC_LEVEL.
 *
 * The addresses of all active lanes are checked before any lane loads or stores, so that an
 * instruction that faults has no effect. When lanes store to the same place, the highest lane's
 * value stays (PTX leaves it open).
 */
#include "emulator/exec/check/block_shadow_row.h"
#include "emulator/exec/check/grid_shadow.h"
#include "emulator/exec/machine/machine.h"
#include "emulator/exec/ops/lanes.h"
#include "emulator/exec/ops/tables.h"

enum access_where { GLOBAL, GENERIC, SHARED, SHARED64, LOCAL };

enum access_shape {
    MEMORY_ROW,     /* a full warp, lane l at element l from pointers[0] */
    MEMORY_ROWS,    /* lanes 0 to 15 likewise from pointers[0], lanes 16 to 31 from pointers[16] */
    MEMORY_SAMES,   /* lanes 0 to 15 all at pointers[0], lanes 16 to 31 all at pointers[16] */
    MEMORY_SCATTER, /* pointers[lane] for each active lane */
    MEMORY_FAULT,
    MEMORY_DONE, /* the lanes have loaded already */
};

/* The compile-time properties of a handler, small enough for a register. Functions that get them
 * as a parameter, for rare cases and for loops over single lanes, are compiled once for all
 * handlers. */
struct access_kind {
    uint8_t element; /* bytes */
    uint8_t count;   /* elements of a lane */
    bool store;
    bool generic;
};

static inline uint32_t access_bytes(struct access_kind kind)
{
    return (uint32_t)kind.element * kind.count;
}

/* A range that addresses must lie in. */
struct access_window {
    uint64_t low;
    uint64_t size;
    uint64_t delta; /* host address - device address */
};

/* Returns true when, for any lane of `mask`, the `bytes` at its address lie outside the window or
 * are misaligned. */
static inline bool access_outside(const uint64_t *address, uint32_t mask,
                                  struct access_window window, uint32_t bytes)
{
    const uint64_t low = window.low;
    const uint64_t last = window.size - bytes;
    const uint64_t odd = bytes - 1;
    uint64_t bad = 0;
    EXEC_FOR_LANES
    {
        const uint64_t wrong = (uint64_t)(address[l] - low > last) | (address[l] & odd);
        bad |= EXEC_IN(mask) ? wrong : 0;
    }
    return bad != 0;
}

enum { HALF_SECTOR = 16 };

/* Counts one warp access to global memory. */
static inline void access_count(struct exec_warp *warp, const struct exec_inst *inst,
                                uint64_t sectors, uint64_t bytes, bool store)
{
    struct exec_counts *counts = &warp->worker->counts;
    counts->transactions += sectors;
    if (store) {
        counts->bytes_stored += bytes;
    } else {
        counts->bytes_loaded += bytes;
        warp->chain += inst->extra != NULL;
    }
}

/* The same for lanes that do not form a row. Counts runs of neighbouring lanes in the same sector,
 * which is exact when addresses ascend with the lanes. */
static inline __attribute__((always_inline)) void access_count_lanes(struct exec_warp *warp,
                                                                     const struct exec_inst *inst,
                                                                     const uint64_t *address,
                                                                     uint32_t bytes, bool store)
{
    uint64_t sectors = 0;
    uint64_t before = UINT64_MAX;
    if (bytes != HALF_SECTOR && warp->mask == EXEC_ALL) {
        for (unsigned l = 1; l < EXEC_LANES; l++) sectors += address[l] >> 5 != address[l - 1] >> 5;
        access_count(warp, inst, sectors + 1, EXEC_LANES * bytes, store);
        return;
    }
    /* Lanes that load half a sector and next the other half find the second in the first-level
     * cache. */
    bool other_half = bytes == HALF_SECTOR && !store;
    if (bytes == HALF_SECTOR && !warp->halves_begun) {
        memset(warp->halves, 0, sizeof warp->halves);
        warp->halves_begun = true;
    }
    for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        const uint64_t sector = address[l] >> 5;
        sectors += sector != before;
        before = sector;
        if (bytes != HALF_SECTOR) continue;
        other_half = other_half && warp->halves[l] == (address[l] ^ HALF_SECTOR);
        warp->halves[l] = address[l];
    }
    const uint64_t lanes = (uint64_t)__builtin_popcount(warp->mask);
    access_count(warp, inst, other_half ? 0 : sectors, lanes * bytes, store);
}

/* Checks each lane by itself, through the instruction's cache and exec_resolve. Turns `address`
 * into pointers. */
static __attribute__((noinline)) enum access_shape access_slowly(struct exec_warp *warp,
                                                                 const struct exec_inst *inst,
                                                                 uint64_t *address,
                                                                 struct access_kind kind)
{
    struct exec_region_cache *cache = exec_cache_of(warp->worker, inst);
    const uint32_t element = kind.element, count = kind.count, bytes = access_bytes(kind);
    const bool store = kind.store;
    for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        const uint64_t at = address[l];
        if (cache->size >= bytes && at - cache->low <= cache->size - bytes && !(at & (bytes - 1)) &&
            !(store && cache->read_only)) {
            exec_mark(cache, at, bytes);
            if (exec_grid_shadow_wanted(cache))
                exec_grid_shadow_touch(warp, inst, cache, l, at, bytes);
            if (exec_block_shadow_wanted(cache))
                exec_block_shadow_lanes(warp, inst, cache, address, 1u << l, element, count);
            address[l] = at + cache->delta;
            continue;
        }
        unsigned char *host =
            exec_resolve(warp, inst, l, at, bytes, store ? EXEC_STORE : EXEC_LOAD, kind.generic);
        if (host == NULL) return MEMORY_FAULT;
        /* For loads exec_resolve has done this. */
        if (store && (at & EXEC_WINDOW_MASK) == 0 && exec_block_shadow_wanted(cache))
            exec_block_shadow_lanes(warp, inst, cache, address, 1u << l, element, count);
        address[l] = (uint64_t)(uintptr_t)host;
    }
    if (store && exec_block_shadow_wanted(cache))
        exec_block_shadow_lost(warp, inst, cache, address, 0, warp->mask, element, count);
    return MEMORY_SCATTER;
}

/* Sets `changed` for each word, or element if that is smaller, of a row that a store changes.
 * Returns how many it changes. */
#define EXEC_DEFINE_CHANGED(T, slot_T, words)                                                      \
    static inline enum exec_changed changed_##T(const struct exec_warp *warp,                      \
                                                const struct exec_inst *inst, const void *row,     \
                                                uint32_t count, uint32_t *changed)                 \
    {                                                                                              \
        const uint32_t slots[4] = {inst->d, inst->b, inst->c, inst->e};                            \
        const T *memory = row;                                                                     \
        uint32_t all = 1, any = 0;                                                                 \
        for (uint32_t k = 0; k < count; k++) {                                                     \
            const slot_T *value = exec_slot(warp, slots[k]);                                       \
            EXEC_FOR_LANES                                                                         \
            {                                                                                      \
                const uint32_t at = l * count + k, differs = memory[at] != (T)value[l];            \
                for (uint32_t w = 0; w < (words); w++) changed[at * (words) + w] = differs;        \
                all &= differs;                                                                    \
                any |= differs;                                                                    \
            }                                                                                      \
        }                                                                                          \
        return all ? EXEC_CHANGED_ALL : any ? EXEC_CHANGED_SOME : EXEC_CHANGED_NONE;               \
    }
EXEC_DEFINE_CHANGED(u8, u32, 1)
EXEC_DEFINE_CHANGED(u16, u32, 1)
EXEC_DEFINE_CHANGED(u32, u32, 1)
EXEC_DEFINE_CHANGED(u64, u64, 2)

/* Nearly all rows have one element per lane; that case gets a loop of its own. */
#define CHANGED(T)                                                                                 \
    (count == 1 ? changed_##T(warp, inst, row, 1, wanted)                                          \
                : changed_##T(warp, inst, row, count, wanted))

static __attribute__((noinline)) void near_row(struct exec_warp *warp, const struct exec_inst *inst,
                                               const struct exec_region_cache *cache,
                                               const uint64_t *address, struct access_kind kind)
{
    enum { MOST = EXEC_LANES * EXEC_NEAR_WIDEST / 4 };
    uint32_t wanted[MOST];
    const uint32_t element = kind.element, count = kind.count, bytes = access_bytes(kind);
    const uint32_t unit = element < 4 ? element : 4;
    const bool store = kind.store;
    const void *row = (const void *)(uintptr_t)(address[0] + cache->delta);
    enum exec_changed changed = EXEC_CHANGED_ALL;
    if (!store)
        for (uint32_t k = 0; k < EXEC_LANES * bytes / unit; k++) wanted[k] = 1;
    else if (element == 1)
        changed = CHANGED(u8);
    else if (element == 2)
        changed = CHANGED(u16);
    else if (element == 4)
        changed = CHANGED(u32);
    else
        changed = CHANGED(u64);
    if (store) exec_owners_see(cache->owners, EXEC_STORE);
    const struct exec_block_shadow_run run = {
        .address = address[0], .unit = unit, .each = bytes / unit};
    if (!exec_block_shadow_row(warp, inst, &run, store, wanted, changed))
        exec_block_shadow_lanes(warp, inst, cache, address, EXEC_ALL, element, count);
}

/* Loads and stores at any addresses. */
static __attribute__((noinline)) bool near_read(struct exec_warp *warp,
                                                const struct exec_inst *inst,
                                                const uint64_t *address, uint32_t bytes)
{
    return exec_block_shadow_read(warp, inst, address, warp->mask, bytes);
}

static __attribute__((noinline)) bool near_write(struct exec_warp *warp,
                                                 const struct exec_inst *inst,
                                                 const struct exec_region_cache *cache,
                                                 const uint64_t *address, struct access_kind kind)
{
    /* Lanes that take updates from each other are looked for by the slow path. */
    if ((exec_looks_of(warp->worker->function->program, inst) & EXEC_LOOK_UPDATES) != 0 &&
        !exec_places_apart(address, warp->mask, access_bytes(kind)))
        return false;
    exec_owners_see(cache->owners, EXEC_STORE);
    return exec_block_shadow_write(warp, inst, cache, address, warp->mask, kind.element,
                                   kind.count);
}

static __attribute__((noinline)) void own_row(struct exec_warp *warp, const struct exec_inst *inst,
                                              struct exec_region_cache *cache, uint64_t address,
                                              uint32_t bytes, bool store)
{
    if (cache->causal != NULL) {
        exec_causality_row(warp, inst, cache, address, bytes);
        return;
    }
    if (exec_grid_shadow_row(warp->worker, cache, address, EXEC_LANES * bytes, store,
                             exec_owner_of(warp->block->index)))
        return;
    for (unsigned l = 0; l < EXEC_LANES; l++)
        exec_grid_shadow_touch(warp, inst, cache, l, address + (uint64_t)l * bytes, bytes);
}

/* An access that is not a row, or is outside the region that the instruction accessed last.
 * `counted`: its sectors have been counted. */
static inline __attribute__((always_inline)) enum access_shape
access_lanes(struct exec_warp *warp, const struct exec_inst *inst, uint64_t *address,
             struct access_kind kind, bool counted)
{
    struct exec_region_cache *cache = exec_cache_of(warp->worker, inst);
    const uint32_t bytes = access_bytes(kind);
    if (!counted) access_count_lanes(warp, inst, address, bytes, kind.store);
    const struct access_window window = {cache->low, cache->size, cache->delta};
    if (cache->size < bytes || (kind.store && cache->read_only) ||
        access_outside(address, warp->mask, window, bytes))
        return access_slowly(warp, inst, address, kind);
    struct exec_span span = {0, 0};
    if (cache->marks != NULL) {
        span = exec_span_of(address, warp->mask, bytes);
        exec_mark_lanes(cache, address, warp->mask, bytes, &span);
    }
    if (exec_grid_shadow_wanted(cache) &&
        !exec_grid_shadow_is_known(cache, &span, exec_owner_of(warp->block->index)))
        exec_grid_shadow_lanes(warp, inst, cache, address, warp->mask, bytes, &span);
    if (exec_block_shadow_wanted(cache) &&
        (kind.store || !exec_block_shadow_is_known(warp, &span)) &&
        !(kind.store ? near_write(warp, inst, cache, address, kind)
                     : near_read(warp, inst, address, bytes)))
        exec_block_shadow_lanes(warp, inst, cache, address, warp->mask, kind.element, kind.count);
    EXEC_FOR_LANES address[l] += window.delta;
    return MEMORY_SCATTER;
}

static __attribute__((noinline)) enum access_shape
access_apart(struct exec_warp *warp, const struct exec_inst *inst, uint64_t *address,
             struct access_kind kind, bool counted)
{
    return access_lanes(warp, inst, address, kind, counted);
}

/* The same for loads of one word per lane from global memory, nearly all such accesses: completes
 * the load. */
static inline __attribute__((always_inline)) enum access_shape
load_words(struct exec_warp *warp, const struct exec_inst *inst, uint64_t *address)
{
    const struct access_kind word = {.element = sizeof(u32), .count = 1};
    if (access_lanes(warp, inst, address, word, false) == MEMORY_FAULT) return MEMORY_FAULT;
    u32 *dd = exec_slot(warp, inst->d);
    if (warp->mask == EXEC_ALL) {
        EXEC_FOR_LANES dd[l] = *(const u32 *)(uintptr_t)address[l];
        return MEMORY_DONE;
    }
    for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        dd[l] = *(const u32 *)(uintptr_t)address[l];
    }
    return MEMORY_DONE;
}

static inline __attribute__((always_inline)) enum access_shape
access_global(struct exec_warp *warp, const struct exec_inst *inst, uint64_t *address,
              struct access_kind kind)
{
    const uint64_t *base = exec_slot(warp, inst->a);
    const uint64_t offset = inst->imm;
    const uint32_t bytes = access_bytes(kind);
    struct exec_region_cache *cache = exec_cache_of(warp->worker, inst);
    EXEC_FOR_LANES address[l] = base[l] + offset;
    if (warp->mask != EXEC_ALL || !exec_is_row(address, bytes)) {
        if (kind.element == sizeof(u32) && kind.count == 1 && !kind.generic)
            return kind.store ? access_lanes(warp, inst, address, kind, false)
                              : load_words(warp, inst, address);
        return access_apart(warp, inst, address, kind, false);
    }
    const uint64_t first = address[0], whole = EXEC_LANES * (uint64_t)bytes;
    access_count(warp, inst, ((first + whole - 1) >> 5) - (first >> 5) + 1, whole, kind.store);
    if (cache->size < whole || (kind.store && cache->read_only) || (first & (bytes - 1)) ||
        first - cache->low > cache->size - whole)
        return access_apart(warp, inst, address, kind, true);
    if (exec_causality_is_old(warp->block, cache, first, bytes)) {
        exec_mark_again(cache, first, whole);
    } else {
        exec_mark(cache, first, whole);
        if (exec_grid_shadow_wanted(cache)) own_row(warp, inst, cache, first, bytes, kind.store);
    }
    const struct exec_span span = {first, first + whole};
    if (exec_block_shadow_wanted(cache) && (kind.store || !exec_block_shadow_is_known(warp, &span)))
        near_row(warp, inst, cache, address, kind);
    address[0] += cache->delta;
    if (!kind.store) exec_fetch_next((const void *)(uintptr_t)address[0], (uint32_t)whole);
    return MEMORY_ROW;
}

static inline struct access_window access_shared_window(const struct exec_warp *warp)
{
    return (struct access_window){0, warp->worker->shared_bytes,
                                  (uint64_t)(uintptr_t)warp->block->shared};
}

/* Up to so many lanes are handled one by one, which is no slower than 32 at once. */
enum { FEW = 4 };

/* Accesses that match neither pattern, or are out of bounds. A load of several elements may begin
 * inside the block's shared memory and end behind it: GPUs round that memory up, and compilers load
 * more than they use. The bytes behind it are poison. */
static __attribute__((noinline)) enum access_shape
access_shared_apart(struct exec_warp *warp, const struct exec_inst *inst, uint64_t *address,
                    struct access_kind kind, bool wide)
{
    const uint32_t bytes = access_bytes(kind);
    const uint32_t inside = kind.store ? bytes : kind.element;
    const struct access_window window = access_shared_window(warp);
    const uint64_t *wide_base = exec_slot(warp, inst->a);
    const uint32_t *base = exec_slot(warp, inst->a), offset = (uint32_t)inst->imm;
    const bool few = exec_lane_count(warp->mask) <= FEW;
    if (few)
        for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {
            const unsigned l = (unsigned)__builtin_ctz(rest);
            address[l] = wide ? wide_base[l] + inst->imm : (uint32_t)(base[l] + offset);
        }
    else if (wide)
        EXEC_FOR_LANES address[l] = wide_base[l] + inst->imm;
    else
        EXEC_FOR_LANES address[l] = (uint32_t)(base[l] + offset);
    if (!few && window.size >= bytes && !access_outside(address, warp->mask, window, bytes)) {
        if (wide && warp->mask == EXEC_ALL && exec_is_row(address, bytes)) {
            address[0] += window.delta;
            return MEMORY_ROW;
        }
        EXEC_FOR_LANES address[l] += window.delta;
        return MEMORY_SCATTER;
    }
    for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        const uint64_t at = address[l];
        if (at > window.size || window.size - at < inside || (at & (bytes - 1))) {
            exec_stop_access(warp, inst, l, EXEC_WINDOW_SHARED + at, bytes,
                             kind.store ? EXEC_STORE : EXEC_LOAD, true);
            return MEMORY_FAULT;
        }
        address[l] = at + window.delta;
    }
    return MEMORY_SCATTER;
}

static inline enum access_shape access_shared(struct exec_warp *warp, const struct exec_inst *inst,
                                              uint64_t *address, struct access_kind kind)
{
    const uint32_t bytes = access_bytes(kind);
    const struct access_window window = access_shared_window(warp);
    if (warp->mask == EXEC_ALL && window.size >= bytes) {
        const uint32_t *base = exec_slot(warp, inst->a);
        const enum exec_halves halves =
            exec_halves_of(base, (uint32_t)inst->imm, (uint32_t)window.size - bytes, bytes);
        if (halves != EXEC_HALVES_APART) {
            for (unsigned l = 0; l < EXEC_LANES; l += EXEC_HALF)
                address[l] = window.delta + (uint32_t)(base[l] + (uint32_t)inst->imm);
            return halves == EXEC_HALVES_ROWS ? MEMORY_ROWS : MEMORY_SAMES;
        }
    }
    return access_shared_apart(warp, inst, address, kind, false);
}

static __attribute__((noinline)) enum access_shape access_local(struct exec_warp *warp,
                                                                const struct exec_inst *inst,
                                                                uint64_t *address,
                                                                struct access_kind kind)
{
    const uint64_t *base = exec_slot(warp, inst->a);
    const uint64_t stride = warp->local_stride;
    const uint64_t host = (uint64_t)(uintptr_t)warp->local;
    const uint32_t bytes = access_bytes(kind);
    const struct access_window window = {0, stride, 0};
    EXEC_FOR_LANES address[l] = base[l] + inst->imm;
    if (stride < bytes || access_outside(address, warp->mask, window, bytes)) {
        for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {
            const unsigned l = (unsigned)__builtin_ctz(rest);
            const uint64_t at = address[l];
            if (at > stride || stride - at < bytes || (at & (bytes - 1))) {
                exec_stop_access(warp, inst, l, EXEC_WINDOW_LOCAL + at, bytes,
                                 kind.store ? EXEC_STORE : EXEC_LOAD, true);
                return MEMORY_FAULT;
            }
        }
    }
    EXEC_FOR_LANES address[l] += host + l * stride;
    return MEMORY_SCATTER;
}

static inline __attribute__((always_inline)) enum access_shape
access_addresses(struct exec_warp *warp, const struct exec_inst *inst, enum access_where where,
                 uint64_t *address, size_t element, unsigned count, bool store)
{
    const struct access_kind kind = {(uint8_t)element, (uint8_t)count, store, where == GENERIC};
    switch (where) {
    case GLOBAL:
    case GENERIC:
        return access_global(warp, inst, address, kind);
    case SHARED:
        return access_shared(warp, inst, address, kind);
    case SHARED64:
        return access_shared_apart(warp, inst, address, kind, true);
    case LOCAL:
        return access_local(warp, inst, address, kind);
    }
    return MEMORY_FAULT;
}

/* Loads from, or stores to, each lane's pointer; elements 0 to 3 of a vector are in slots d, b, c,
 * e. These functions serve all state spaces. */
#define EXEC_DEFINE_GATHER(T, vector)                                                              \
    static __attribute__((noinline)) int gather_##T##_##vector(                                    \
        struct exec_warp *warp, const struct exec_inst *inst, const uint64_t *pointers)            \
    {                                                                                              \
        const uint32_t slots[4] = {inst->d, inst->b, inst->c, inst->e};                            \
        if (warp->mask == EXEC_ALL) {                                                              \
            for (unsigned k = 0; k < (vector); k++) {                                              \
                slot_##T *dd = exec_slot(warp, slots[k]);                                          \
                EXEC_FOR_LANES dd[l] = (slot_##T)((const T *)(uintptr_t)pointers[l])[k];           \
            }                                                                                      \
            return EXEC_GO;                                                                        \
        }                                                                                          \
        for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {                                 \
            const unsigned l = (unsigned)__builtin_ctz(rest);                                      \
            const T *source = (const T *)(uintptr_t)pointers[l];                                   \
            for (unsigned k = 0; k < (vector); k++)                                                \
                ((slot_##T *)exec_slot(warp, slots[k]))[l] = (slot_##T)source[k];                  \
        }                                                                                          \
        return EXEC_GO;                                                                            \
    }

#define EXEC_DEFINE_SCATTER(T, vector)                                                             \
    static __attribute__((noinline)) void scatter_##T##_##vector(                                  \
        struct exec_warp *warp, const struct exec_inst *inst, const uint64_t *pointers)            \
    {                                                                                              \
        const uint32_t slots[4] = {inst->d, inst->b, inst->c, inst->e};                            \
        for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {                                 \
            const unsigned l = (unsigned)__builtin_ctz(rest);                                      \
            T *target = (T *)(uintptr_t)pointers[l];                                               \
            for (unsigned k = 0; k < (vector); k++)                                                \
                target[k] = (T)((const slot_##T *)exec_slot(warp, slots[k]))[l];                   \
        }                                                                                          \
    }

#define VECTORS(EXEC_DEFINE, T) EXEC_DEFINE(T, 1) EXEC_DEFINE(T, 2) EXEC_DEFINE(T, 4)
VECTORS(EXEC_DEFINE_GATHER, u8)
VECTORS(EXEC_DEFINE_GATHER, s8)
VECTORS(EXEC_DEFINE_GATHER, u16)
VECTORS(EXEC_DEFINE_GATHER, s16)
VECTORS(EXEC_DEFINE_GATHER, u32)
VECTORS(EXEC_DEFINE_GATHER, u64)
VECTORS(EXEC_DEFINE_SCATTER, u8)
VECTORS(EXEC_DEFINE_SCATTER, u16)
VECTORS(EXEC_DEFINE_SCATTER, u32)
VECTORS(EXEC_DEFINE_SCATTER, u64)

/* The shapes that each state space can have, so that the compiler omits code for the others. */
#define HAS_ROW(where) ((where) != LOCAL && (where) != SHARED)
#define HAS_HALVES(where) ((where) == SHARED)
#define EXEC_DEFINE_LOAD(name, key, where, T, vector)                                              \
    static int op_##name(struct exec_warp *warp, const struct exec_inst *inst)                     \
    {                                                                                              \
        uint64_t address[EXEC_LANES];                                                              \
        const enum access_shape shape =                                                            \
            access_addresses(warp, inst, where, address, sizeof(T), vector, false);                \
        const uint32_t slots[4] = {inst->d, inst->b, inst->c, inst->e};                            \
        if (HAS_ROW(where) && shape == MEMORY_ROW) {                                               \
            const T *source = (const T *)(uintptr_t)address[0];                                    \
            void *const lanes[4] = {exec_slot(warp, slots[0]), exec_slot(warp, slots[1]),          \
                                    exec_slot(warp, slots[2]), exec_slot(warp, slots[3])};         \
            if (exec_deal(lanes, source, vector, sizeof(T))) return EXEC_GO;                       \
            for (unsigned k = 0; k < (vector); k++) {                                              \
                slot_##T *dd = lanes[k];                                                           \
                EXEC_FOR_LANES dd[l] = (slot_##T)source[l * (vector) + k];                         \
            }                                                                                      \
            return EXEC_GO;                                                                        \
        }                                                                                          \
        if (shape == MEMORY_DONE) return EXEC_GO;                                                  \
        if (HAS_HALVES(where) && (shape == MEMORY_ROWS || shape == MEMORY_SAMES)) {                \
            const unsigned step = shape == MEMORY_ROWS ? (vector) : 0;                             \
            for (unsigned half = 0; half < EXEC_LANES; half += EXEC_HALF) {                        \
                const T *part = (const T *)(uintptr_t)address[half];                               \
                for (unsigned k = 0; k < (vector); k++) {                                          \
                    slot_##T *dd = (slot_##T *)exec_slot(warp, slots[k]) + half;                   \
                    if (step)                                                                      \
                        for (unsigned l = 0; l < EXEC_HALF; l++)                                   \
                            dd[l] = (slot_##T)part[l * (vector) + k];                              \
                    else                                                                           \
                        for (unsigned l = 0; l < EXEC_HALF; l++) dd[l] = (slot_##T)part[k];        \
                }                                                                                  \
            }                                                                                      \
            return EXEC_GO;                                                                        \
        }                                                                                          \
        return shape == MEMORY_FAULT ? EXEC_STOP : gather_##T##_##vector(warp, inst, address);     \
    }

#define EXEC_DEFINE_STORE(name, key, where, T, vector)                                             \
    static int op_##name(struct exec_warp *warp, const struct exec_inst *inst)                     \
    {                                                                                              \
        uint64_t address[EXEC_LANES];                                                              \
        const enum access_shape shape =                                                            \
            access_addresses(warp, inst, where, address, sizeof(T), vector, true);                 \
        if (shape == MEMORY_FAULT) return EXEC_STOP;                                               \
        const uint32_t slots[4] = {inst->d, inst->b, inst->c, inst->e};                            \
        if (HAS_ROW(where) && shape == MEMORY_ROW) {                                               \
            T *target = (T *)(uintptr_t)address[0];                                                \
            for (unsigned k = 0; k < (vector); k++) {                                              \
                const slot_##T *ss = exec_slot(warp, slots[k]);                                    \
                EXEC_FOR_LANES target[l * (vector) + k] = (T)ss[l];                                \
            }                                                                                      \
        } else if (HAS_HALVES(where) && (shape == MEMORY_ROWS || shape == MEMORY_SAMES)) {         \
            for (unsigned half = 0; half < EXEC_LANES; half += EXEC_HALF) {                        \
                T *part = (T *)(uintptr_t)address[half];                                           \
                for (unsigned k = 0; k < (vector); k++) {                                          \
                    const slot_##T *ss = (const slot_##T *)exec_slot(warp, slots[k]) + half;       \
                    if (shape == MEMORY_ROWS)                                                      \
                        for (unsigned l = 0; l < EXEC_HALF; l++)                                   \
                            part[l * (vector) + k] = (T)ss[l];                                     \
                    else                                                                           \
                        part[k] = (T)ss[EXEC_HALF - 1];                                            \
                }                                                                                  \
            }                                                                                      \
        } else {                                                                                   \
            scatter_##T##_##vector(warp, inst, address);                                           \
        }                                                                                          \
        if (exec_grid_shadow_unsettled(warp->worker)) exec_grid_shadow_settle(warp->worker);       \
        return EXEC_GO;                                                                            \
    }

#define LOAD EXEC_DEFINE_LOAD
#define STORE EXEC_DEFINE_STORE
#include "emulator/exec/ops/memory.def"
#undef LOAD
#undef STORE

const struct exec_row EXEC_TABLE(exec_memory_rows)[] = {
#define LOAD(name, key, where, T, vector) {key, op_##name, #T},
#define STORE(name, key, where, T, vector) {key, op_##name, #T},
#include "emulator/exec/ops/memory.def"
    {NULL, NULL, NULL}};
