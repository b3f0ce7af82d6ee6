/* Atomic operations (the rows of ops/atomic.def) and asynchronous copies.
 *
 * The lanes of a warp act in lane order. Kernels whose blocks could observe each other, or whose
 * results depend on the order of operations, run on one host thread (machine/grid.c). Host atomics
 * are therefore needed only for operations that commute and whose results nobody reads
 * (lower_atomic). Addresses are checked for all lanes before any lane acts.
 */
#include "emulator/exec/check/block_shadow.h"
#include "emulator/exec/check/grid_shadow.h"
#include "emulator/exec/machine/machine.h"
#include "emulator/exec/ops/half.h"
#include "emulator/exec/ops/tables.h"

#include <string.h>

/* Computes the active lanes' pointers when all lanes access shared memory of their own block, as
 * nearly all instructions in state space "shared" do. Returns false, without effect, otherwise. */
static bool own_pointers(const struct exec_warp *warp, const struct exec_inst *inst, uint32_t bytes,
                         unsigned char **pointers)
{
    const uint64_t *wide = exec_slot(warp, inst->a);
    const uint32_t *narrow = exec_slot(warp, inst->a), from = (uint32_t)inst->imm;
    const uint64_t size = warp->worker->shared_bytes, odd = bytes - 1;
    if (inst->e == EXEC_ATOMIC_GLOBAL || inst->e == EXEC_ATOMIC_GENERIC || size < bytes)
        return false;
    for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        const uint64_t at =
            inst->e == EXEC_ATOMIC_SHARED ? (uint32_t)(narrow[l] + from) : wide[l] + inst->imm;
        if (at > size - bytes || (at & odd)) return false;
        pointers[l] = warp->block->shared + at;
    }
    return true;
}

/* Returns true when an access to `bytes` at the address may use the region cache. */
static bool is_within(const struct exec_region_cache *cache, uint64_t at, uint32_t bytes)
{
    return cache->size >= bytes && at - cache->low <= cache->size - bytes && !(at & (bytes - 1)) &&
           !cache->read_only;
}

/* Returns true when accesses through the cache need no race check. */
static bool is_quiet(const struct exec_region_cache *cache)
{
    return !exec_grid_shadow_wanted(cache) && !exec_block_shadow_wanted(cache);
}

static void tell(struct exec_warp *warp, const struct exec_inst *inst,
                 struct exec_region_cache *cache, unsigned lane, uint64_t at, uint32_t bytes)
{
    if (exec_grid_shadow_wanted(cache)) exec_grid_shadow_touch(warp, inst, cache, lane, at, bytes);
    if (exec_block_shadow_wanted(cache)) exec_block_shadow_lane(warp, inst, cache, lane, at, bytes);
}

/* Returns CUDA's function that the instruction carries out, "atomicAdd"; NULL: not known. */
static const char *name_of(const struct exec_inst *inst);

/* Adds to the fault that has stopped the instruction which function of CUDA's it is. */
static void name_fault(struct exec_warp *warp, const struct exec_inst *inst)
{
    trace_finding_word_set(&warp->worker->fault.finding, WORD_DETAIL, name_of(inst));
}

/* Computes the active lanes' pointers and the mask `shared` of those that lead to shared memory.
 * Slot e: the state space; slot a: the address; imm: an offset. Returns false when a fault is
 * recorded. */
static bool atomic_pointers(struct exec_warp *warp, const struct exec_inst *inst, uint32_t bytes,
                            unsigned char **pointers, uint32_t *shared)
{
    struct exec_region_cache *cache = exec_cache_of(warp->worker, inst);
    struct exec_counts *counts = &warp->worker->counts;
    const uint64_t *wide = exec_slot(warp, inst->a);
    const uint32_t *narrow = exec_slot(warp, inst->a);
    uint64_t sector = UINT64_MAX, base = inst->imm;
    if (own_pointers(warp, inst, bytes, pointers)) {
        *shared = warp->mask;
        return true;
    }
    if (inst->e == EXEC_ATOMIC_SHARED64) base += EXEC_WINDOW_SHARED;
    bool quiet = is_quiet(cache);
    *shared = 0;
    for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        const uint64_t at = inst->e == EXEC_ATOMIC_SHARED
                                ? EXEC_WINDOW_SHARED + (uint32_t)(narrow[l] + (uint32_t)inst->imm)
                                : wide[l] + base;
        if ((at >> 56) == 1) {
            *shared |= 1u << l;
        } else {
            counts->transactions += at >> 5 != sector;
            counts->bytes_loaded += bytes;
            counts->bytes_stored += bytes;
            sector = at >> 5;
        }
        if (is_within(cache, at, bytes)) {
            exec_mark(cache, at, bytes);
            if (!quiet) tell(warp, inst, cache, l, at, bytes);
            pointers[l] = (unsigned char *)(uintptr_t)(at + cache->delta);
            continue;
        }
        pointers[l] =
            exec_resolve(warp, inst, l, at, bytes, EXEC_ATOMIC, inst->e != EXEC_ATOMIC_GLOBAL);
        if (pointers[l] == NULL) {
            name_fault(warp, inst);
            return false;
        }
        quiet = is_quiet(cache); /* the cache may hold another region now */
    }
    return true;
}

static u16 half_add(u16 a, u16 b, unsigned fraction_bits, unsigned exponent_bits)
{
    /* The sum is exact in f64 for f16, and rounded to odd for bf16. */
    const f64 sum = half_fma64(half_widen(a, fraction_bits, exponent_bits), 1.0,
                               half_widen(b, fraction_bits, exponent_bits));
    return half_round(sum, fraction_bits, exponent_bits, HALF_NEAREST);
}

static u32 half_add2(u32 a, u32 b, unsigned fraction_bits, unsigned exponent_bits)
{
    return (u32)half_add((u16)a, (u16)b, fraction_bits, exponent_bits) |
           (u32)half_add((u16)(a >> 16), (u16)(b >> 16), fraction_bits, exponent_bits) << 16;
}

/* Minimum and maximum as in min and max: -0 is below +0, and a single NaN gives the other
 * operand. */
static u16 half_extreme(u16 a, u16 b, unsigned fraction_bits, unsigned exponent_bits, bool least)
{
    const f64 x = half_widen(a, fraction_bits, exponent_bits);
    const f64 y = half_widen(b, fraction_bits, exponent_bits);
    if (x != x) return y != y ? HALF_NAN : b;
    if (y != y) return a;
    if (x == y) return (a >> 15 != 0) == least ? a : b;
    return (x < y) == least ? a : b;
}
static u16 half_least(u16 a, u16 b, unsigned fraction_bits, unsigned exponent_bits)
{
    return half_extreme(a, b, fraction_bits, exponent_bits, true);
}
static u16 half_most(u16 a, u16 b, unsigned fraction_bits, unsigned exponent_bits)
{
    return half_extreme(a, b, fraction_bits, exponent_bits, false);
}
#define HALF_PAIR(function, a, b, ...)                                                             \
    ((u32)function((u16)(a), (u16)(b), __VA_ARGS__) |                                              \
     (u32)function((u16)((a) >> 16), (u16)((b) >> 16), __VA_ARGS__) << 16)

/* One lane's operation: `a` becomes the old value, and memory the expression. */
#define EXEC_ATOMIC_ALONE(T, expression)                                                           \
    const T a = *memory;                                                                           \
    *memory = (T)(expression);

/* The same while lanes of other workers may access the memory. */
#define EXEC_ATOMIC_AMONG(T, expression)                                                           \
    T a = __atomic_load_n(memory, __ATOMIC_RELAXED);                                               \
    while (!__atomic_compare_exchange_n(memory, &a, (T)(expression), true, __ATOMIC_RELAXED,       \
                                        __ATOMIC_RELAXED)) {                                       \
    }

#define EXEC_DEFINE_TURNS(name, T, expression, TURN)                                               \
    static void name(struct exec_warp *warp, const struct exec_inst *inst,                         \
                     unsigned char *const *pointers, uint32_t shared_lanes)                        \
    {                                                                                              \
        slot_##T *dd = exec_slot(warp, inst->d);                                                   \
        const slot_##T *bb = exec_slot(warp, inst->b);                                             \
        const slot_##T *cc = exec_slot(warp, inst->c);                                             \
        for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {                                 \
            const unsigned l = (unsigned)__builtin_ctz(rest);                                      \
            const bool shared = shared_lanes >> l & 1;                                             \
            T *memory = (T *)(void *)pointers[l];                                                  \
            const T b = (T)bb[l];                                                                  \
            const T c = (T)cc[l];                                                                  \
            (void)b, (void)c, (void)shared;                                                        \
            TURN(T, expression)                                                                    \
            dd[l] = (slot_##T)a;                                                                   \
        }                                                                                          \
    }

#define EXEC_DEFINE_ATOMIC(name, keys, T, expression)                                              \
    EXEC_DEFINE_TURNS(alone_##name, T, expression, EXEC_ATOMIC_ALONE)                              \
    static int op_##name(struct exec_warp *warp, const struct exec_inst *inst)                     \
    {                                                                                              \
        unsigned char *pointers[EXEC_LANES];                                                       \
        uint32_t shared_lanes;                                                                     \
        if (!atomic_pointers(warp, inst, sizeof(T), pointers, &shared_lanes)) return EXEC_STOP;    \
        alone_##name(warp, inst, pointers, shared_lanes);                                          \
        return EXEC_GO;                                                                            \
    }

#define EXEC_DEFINE_COMMUTES(name, keys, T, expression)                                            \
    EXEC_DEFINE_TURNS(alone_##name, T, expression, EXEC_ATOMIC_ALONE)                              \
    EXEC_DEFINE_TURNS(among_##name, T, expression, EXEC_ATOMIC_AMONG)                              \
    static int op_##name(struct exec_warp *warp, const struct exec_inst *inst)                     \
    {                                                                                              \
        unsigned char *pointers[EXEC_LANES];                                                       \
        uint32_t shared_lanes;                                                                     \
        if (!atomic_pointers(warp, inst, sizeof(T), pointers, &shared_lanes)) return EXEC_STOP;    \
        if (shared_lanes != warp->mask)                                                            \
            warp->worker->commuted += exec_lane_count(warp->mask & ~shared_lanes);                 \
        if (warp->worker->alone || shared_lanes == warp->mask)                                     \
            alone_##name(warp, inst, pointers, shared_lanes);                                      \
        else                                                                                       \
            among_##name(warp, inst, pointers, shared_lanes);                                      \
        return EXEC_GO;                                                                            \
    }

#define ATOMIC EXEC_DEFINE_ATOMIC
#define COMMUTES EXEC_DEFINE_COMMUTES
#include "emulator/exec/ops/atomic.def"
#undef ATOMIC

/* No instruction of PTX: what a bulk reduction of f32 does, which keeps subnormals in global
 * memory, and a tensor reduction unless the tensor's type is .ftz. */
EXEC_DEFINE_ATOMIC(add_f32_kept, "", f32, exec_canonical(a + b))

/* An operation of PTX's atomics, and CUDA's function of it. */
static const struct {
    const char *key, *name;
} functions[] = {{"atom.add.", "atomicAdd"}, {"atom.exch.", "atomicExch"},
                 {"atom.cas.", "atomicCAS"}, {"atom.min.", "atomicMin"},
                 {"atom.max.", "atomicMax"}, {"atom.inc.", "atomicInc"},
                 {"atom.dec.", "atomicDec"}, {"atom.and.", "atomicAnd"},
                 {"atom.or.", "atomicOr"},   {"atom.xor.", "atomicXor"}};

static const char *name_of(const struct exec_inst *inst)
{
    static const struct exec_row rows[] = {
#define ATOMIC(name, keys, T, expression) {keys, op_##name, NULL},
#include "emulator/exec/ops/atomic.def"
#undef ATOMIC
    };
    exec_handler *const run = inst->run == exec_guarded ? inst->inner : inst->run;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        if (rows[k].run != run) continue;
        for (size_t n = 0; n < sizeof functions / sizeof *functions; n++)
            if (strncmp(rows[k].keys, functions[n].key, strlen(functions[n].key)) == 0)
                return functions[n].name;
    }
    return NULL;
}

bool exec_atomic_commutes(const struct exec_row *row)
{
    static exec_handler *const handlers[] = {
#define ATOMIC(name, keys, T, expression)
#define COMMUTES(name, keys, T, expression) op_##name,
#include "emulator/exec/ops/atomic.def"
#undef ATOMIC
    };
    for (size_t k = 0; k < sizeof handlers / sizeof *handlers; k++)
        if (handlers[k] == row->run) return true;
    return false;
}

/* 128-bit operations. Slot a: generic address; b and c: values, the low halves of all lanes before
 * the high ones; d: the result likewise, or EXEC_NO_GUARD. */
static int wide_atomic(struct exec_warp *warp, const struct exec_inst *inst, bool cas)
{
    const uint64_t *address = exec_slot(warp, inst->a);
    const uint64_t *b = exec_slot(warp, inst->b);
    const uint64_t *c = exec_slot(warp, inst->c);
    unsigned char *pointers[EXEC_LANES];
    for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        pointers[l] = exec_resolve(warp, inst, l, address[l], 16, EXEC_ATOMIC, true);
        if (pointers[l] == NULL) return EXEC_STOP;
    }
    for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        const uint64_t first[2] = {b[l], b[l + EXEC_LANES]};
        uint64_t before[2], after[2];
        memcpy(before, pointers[l], sizeof before);
        memcpy(after, first, sizeof after);
        if (cas) {
            const bool equal = before[0] == first[0] && before[1] == first[1];
            after[0] = equal ? c[l] : before[0];
            after[1] = equal ? c[l + EXEC_LANES] : before[1];
        }
        memcpy(pointers[l], after, sizeof after);
        if (inst->d == EXEC_NO_GUARD) continue;
        uint64_t *d = exec_slot(warp, inst->d);
        d[l] = before[0];
        d[l + EXEC_LANES] = before[1];
    }
    return EXEC_GO;
}

static int op_exch_128(struct exec_warp *warp, const struct exec_inst *inst)
{
    return wide_atomic(warp, inst, false);
}

static int op_cas_128(struct exec_warp *warp, const struct exec_inst *inst)
{
    return wide_atomic(warp, inst, true);
}

/* Faults unless the generic addresses in slot a are multiples of imm. */
static int op_aligned(struct exec_warp *warp, const struct exec_inst *inst)
{
    const uint64_t *address = exec_slot(warp, inst->a);
    for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        if (address[l] & (inst->imm - 1))
            return exec_stop_access(warp, inst, l, address[l], (uint32_t)inst->imm, EXEC_ATOMIC,
                                    true);
    }
    return EXEC_GO;
}

/* cp.async. Slot a + imm: global source; slot d + c: shared destination; slot b: bytes to copy; the
 * rest of `size` is filled with zeros. The copy takes place when it is issued, the earliest moment
 * that PTX allows. */
static int copy(struct exec_warp *warp, const struct exec_inst *inst, uint32_t size, bool wide)
{
    unsigned char *to[EXEC_LANES];
    unsigned char *from[EXEC_LANES];
    const uint64_t *source = exec_slot(warp, inst->a);
    const uint64_t *target64 = exec_slot(warp, inst->d);
    const uint32_t *target32 = exec_slot(warp, inst->d);
    const uint32_t *kept = exec_slot(warp, inst->b);
    for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        const uint64_t base = wide ? target64[l] : target32[l];
        to[l] = exec_resolve(warp, inst, l, EXEC_WINDOW_SHARED + base + inst->c, size, EXEC_STORE,
                             true);
        if (to[l] == NULL) return EXEC_STOP;
        from[l] = to[l];
        if (!kept[l]) continue;
        const uint32_t bytes = kept[l] < size ? kept[l] : size;
        from[l] = exec_resolve_part(warp, inst, l, source[l] + inst->imm, size, bytes);
        if (from[l] == NULL) return EXEC_STOP;
        warp->worker->counts.bytes_loaded += bytes;
        warp->worker->counts.transactions++;
    }
    for (uint32_t rest = warp->mask; rest; rest &= rest - 1) {
        const unsigned l = (unsigned)__builtin_ctz(rest);
        const uint32_t bytes = kept[l] < size ? kept[l] : size;
        if (bytes) memcpy(to[l], from[l], bytes);
        memset(to[l] + bytes, 0, size - bytes);
    }
    return EXEC_GO;
}

#define DEFINE_COPY(size)                                                                          \
    static int op_copy_##size(struct exec_warp *warp, const struct exec_inst *inst)                \
    {                                                                                              \
        return copy(warp, inst, size, false);                                                      \
    }                                                                                              \
    static int op_copy64_##size(struct exec_warp *warp, const struct exec_inst *inst)              \
    {                                                                                              \
        return copy(warp, inst, size, true);                                                       \
    }
DEFINE_COPY(4)
DEFINE_COPY(8)
DEFINE_COPY(16)

const struct exec_row exec_atomic_rows[] = {
#define ATOMIC(name, keys, T, expression) {keys, op_##name, #T},
#include "emulator/exec/ops/atomic.def"
    {"atom.add.noftz.f32", op_add_f32_kept, "f32"},
    {"atom.exch.b128", op_exch_128, ""},
    {"atom.cas.b128", op_cas_128, ""},
    {"aligned", op_aligned, ""},
    {"cp.async.shared.4", op_copy_4, ""},
    {"cp.async.shared.8", op_copy_8, ""},
    {"cp.async.shared.16", op_copy_16, ""},
    {"cp.async.shared64.4", op_copy64_4, ""},
    {"cp.async.shared64.8", op_copy64_8, ""},
    {"cp.async.shared64.16", op_copy64_16, ""},
    {NULL, NULL, NULL}};
