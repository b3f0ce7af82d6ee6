/* exec_lane_rows: the building blocks of handlers that compute each lane by itself. A row of a .def
 * file says what one lane computes; rows_define.h turns the row into a handler for 32 lanes, and
 * rows_list.h into an entry of a table.
 *
 * Rows (value types as below; `a`, `b`, `c` are the sources' values, `p` a predicate's):
 *   LANE1(name, keys, D, A, expression)             d = f(a)
 *   LANE2(name, keys, D, A, B, expression)          d = f(a, b)
 *   LANE3(name, keys, D, A, B, C, expression)       d = f(a, b, c)
 *   LANE4(name, keys, D, A, B, C, E, expression)    d = f(a, b, c, e)
 *   SELECT(name, keys, D, A, B, expression)         d = f(a, b, p), p the predicate in slot c
 *   COMPARE(name, keys, A, B, expression)           predicate d = f(a, b), e = its complement
 *   COMPARE1(name, keys, A, expression)             predicate d = f(a)
 *   PREDICATE(name, keys, expression)               d = f(a, b) on whole masks
 *   CARRY(name, keys, D, A, B, C, expression)       as LANE3, reading and writing `carry`
 * keys: the instructions that the row serves, separated by spaces. A key is the opcode, the
 * modifiers that matter in the order of ptx/modifiers.def, and the types.
 */
#ifndef OVERLAP_EXEC_OPS_LANE_ROWS_H
#define OVERLAP_EXEC_OPS_LANE_ROWS_H

#include "emulator/exec/ops/lanes.h"

#define EXEC_HANDLER(name)                                                                         \
    static int op_##name(struct exec_warp *warp, const struct exec_inst *inst)

/* Declares the lanes of source x, of value type T; and its value in lane l. */
#define EXEC_SOURCE(T, x) const slot_##T *x##x = exec_slot(warp, inst->x)
#define EXEC_VALUE(T, x) const T x = (T)x##x[l]

/* Stores the expression, over the values that `values` declares, to slot d of the active lanes. By
 * default there are two loops: the one for full warps blends nothing. Tables with many rows, seldom
 * hot, define EXEC_MANY_ROWS and have one loop, which halves the compiler's work: warps that are
 * not full go through the buffer `some`. Bitcode has one loop, too: there LLVM knows when the mask
 * is full. */
#if defined EXEC_AS_BITCODE
#define EXEC_PUT_LANES(D, values, expression)                                                      \
    slot_##D *dd = exec_slot(warp, inst->d);                                                       \
    const uint32_t mask = warp->mask;                                                              \
    EXEC_FOR_LANES                                                                                 \
    {                                                                                              \
        values;                                                                                    \
        const slot_##D r = (slot_##D)(D)(expression), old = dd[l];                                 \
        dd[l] = EXEC_IN(mask) ? r : old;                                                           \
    }                                                                                              \
    return EXEC_GO
#elif defined EXEC_MANY_ROWS
static __attribute__((noinline)) void exec_put_some32(u32 *dd, const u32 *some, u32 mask)
{
    EXEC_FOR_LANES dd[l] = EXEC_IN(mask) ? some[l] : dd[l];
}

static __attribute__((noinline)) void exec_put_some64(u64 *dd, const u64 *some, u32 mask)
{
    EXEC_FOR_LANES dd[l] = EXEC_IN(mask) ? some[l] : dd[l];
}

#define EXEC_PUT_LANES(D, values, expression)                                                      \
    slot_##D some[EXEC_LANES];                                                                     \
    void *const d = exec_slot(warp, inst->d);                                                      \
    slot_##D *const put = warp->full ? d : some;                                                   \
    EXEC_FOR_LANES                                                                                 \
    {                                                                                              \
        values;                                                                                    \
        put[l] = (slot_##D)(D)(expression);                                                        \
    }                                                                                              \
    if (put != some) return EXEC_GO;                                                               \
    if (sizeof(slot_##D) == sizeof(u32))                                                           \
        exec_put_some32(d, (const void *)some, warp->mask);                                        \
    else                                                                                           \
        exec_put_some64(d, (const void *)some, warp->mask);                                        \
    return EXEC_GO
#else
#define EXEC_PUT_LANES(D, values, expression)                                                      \
    slot_##D *dd = exec_slot(warp, inst->d);                                                       \
    if (warp->full) {                                                                              \
        EXEC_FOR_LANES                                                                             \
        {                                                                                          \
            values;                                                                                \
            dd[l] = (slot_##D)(D)(expression);                                                     \
        }                                                                                          \
    } else {                                                                                       \
        const uint32_t mask = warp->mask;                                                          \
        EXEC_FOR_LANES                                                                             \
        {                                                                                          \
            values;                                                                                \
            const slot_##D r = (slot_##D)(D)(expression);                                          \
            dd[l] = EXEC_IN(mask) ? r : dd[l];                                                     \
        }                                                                                          \
    }                                                                                              \
    return EXEC_GO
#endif

/* Stores the expression to predicate d of the active lanes, and its complement to predicate e. */
#define EXEC_PUT_COMPARED(values, expression)                                                      \
    uint32_t result = 0;                                                                           \
    EXEC_FOR_LANES                                                                                 \
    {                                                                                              \
        values;                                                                                    \
        result |= (expression) ? 1u << l : 0;                                                      \
    }                                                                                              \
    exec_put_predicates(warp, inst, result);                                                       \
    return EXEC_GO

static inline void exec_put_predicates(struct exec_warp *warp, const struct exec_inst *inst,
                                       uint32_t result)
{
    uint32_t *d = exec_slot(warp, inst->d);
    uint32_t *e = exec_slot(warp, inst->e);
    const uint32_t mask = warp->mask;
    *e = (*e & ~mask) | (~result & mask);
    *d = (*d & ~mask) | (result & mask);
}

#endif
