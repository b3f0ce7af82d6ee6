/* exec_lane_rows: a row of a .def file says what a lane computes; the macros here make of it a
 * handler that does so for 32 lanes, and its entry in a table.
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
 * keys: the instructions that the row serves, separated by spaces: the opcode, the modifiers that
 * matter in the order of ptx/modifiers.def, the types.
 */
#ifndef OVERLAP_EXEC_OPS_LANE_ROWS_H
#define OVERLAP_EXEC_OPS_LANE_ROWS_H

#include "emulator/exec/ops/lanes.h"

/* ---- the rows as functions ------------------------------------------------------------------- */

#define EXEC_DEFINE_LANE1(name, keys, D, A, expression)                                            \
    static int op_##name(struct exec_warp *warp, const struct exec_inst *inst)                     \
    {                                                                                              \
        slot_##D *dd = exec_slot(warp, inst->d);                                                   \
        const slot_##A *aa = exec_slot(warp, inst->a);                                             \
        if (warp->full) {                                                                          \
            EXEC_FOR_LANES                                                                         \
            {                                                                                      \
                const A a = (A)aa[l];                                                              \
                dd[l] = (slot_##D)(D)(expression);                                                 \
            }                                                                                      \
        } else {                                                                                   \
            const uint32_t mask = warp->mask;                                                      \
            EXEC_FOR_LANES                                                                         \
            {                                                                                      \
                const A a = (A)aa[l];                                                              \
                const slot_##D r = (slot_##D)(D)(expression);                                      \
                dd[l] = EXEC_IN(mask) ? r : dd[l];                                                 \
            }                                                                                      \
        }                                                                                          \
        return EXEC_GO;                                                                            \
    }

#define EXEC_DEFINE_LANE2(name, keys, D, A, B, expression)                                         \
    static int op_##name(struct exec_warp *warp, const struct exec_inst *inst)                     \
    {                                                                                              \
        slot_##D *dd = exec_slot(warp, inst->d);                                                   \
        const slot_##A *aa = exec_slot(warp, inst->a);                                             \
        const slot_##B *bb = exec_slot(warp, inst->b);                                             \
        if (warp->full) {                                                                          \
            EXEC_FOR_LANES                                                                         \
            {                                                                                      \
                const A a = (A)aa[l];                                                              \
                const B b = (B)bb[l];                                                              \
                dd[l] = (slot_##D)(D)(expression);                                                 \
            }                                                                                      \
        } else {                                                                                   \
            const uint32_t mask = warp->mask;                                                      \
            EXEC_FOR_LANES                                                                         \
            {                                                                                      \
                const A a = (A)aa[l];                                                              \
                const B b = (B)bb[l];                                                              \
                const slot_##D r = (slot_##D)(D)(expression);                                      \
                dd[l] = EXEC_IN(mask) ? r : dd[l];                                                 \
            }                                                                                      \
        }                                                                                          \
        return EXEC_GO;                                                                            \
    }

#define EXEC_DEFINE_LANE3(name, keys, D, A, B, C, expression)                                      \
    static int op_##name(struct exec_warp *warp, const struct exec_inst *inst)                     \
    {                                                                                              \
        slot_##D *dd = exec_slot(warp, inst->d);                                                   \
        const slot_##A *aa = exec_slot(warp, inst->a);                                             \
        const slot_##B *bb = exec_slot(warp, inst->b);                                             \
        const slot_##C *cc = exec_slot(warp, inst->c);                                             \
        if (warp->full) {                                                                          \
            EXEC_FOR_LANES                                                                         \
            {                                                                                      \
                const A a = (A)aa[l];                                                              \
                const B b = (B)bb[l];                                                              \
                const C c = (C)cc[l];                                                              \
                dd[l] = (slot_##D)(D)(expression);                                                 \
            }                                                                                      \
        } else {                                                                                   \
            const uint32_t mask = warp->mask;                                                      \
            EXEC_FOR_LANES                                                                         \
            {                                                                                      \
                const A a = (A)aa[l];                                                              \
                const B b = (B)bb[l];                                                              \
                const C c = (C)cc[l];                                                              \
                const slot_##D r = (slot_##D)(D)(expression);                                      \
                dd[l] = EXEC_IN(mask) ? r : dd[l];                                                 \
            }                                                                                      \
        }                                                                                          \
        return EXEC_GO;                                                                            \
    }

#define EXEC_DEFINE_LANE4(name, keys, D, A, B, C, E, expression)                                   \
    static int op_##name(struct exec_warp *warp, const struct exec_inst *inst)                     \
    {                                                                                              \
        slot_##D *dd = exec_slot(warp, inst->d);                                                   \
        const slot_##A *aa = exec_slot(warp, inst->a);                                             \
        const slot_##B *bb = exec_slot(warp, inst->b);                                             \
        const slot_##C *cc = exec_slot(warp, inst->c);                                             \
        const slot_##E *ee = exec_slot(warp, inst->e);                                             \
        const uint32_t mask = warp->full ? EXEC_ALL : warp->mask;                                  \
        EXEC_FOR_LANES                                                                             \
        {                                                                                          \
            const A a = (A)aa[l];                                                                  \
            const B b = (B)bb[l];                                                                  \
            const C c = (C)cc[l];                                                                  \
            const E e = (E)ee[l];                                                                  \
            const slot_##D r = (slot_##D)(D)(expression);                                          \
            dd[l] = EXEC_IN(mask) ? r : dd[l];                                                     \
        }                                                                                          \
        return EXEC_GO;                                                                            \
    }

#define EXEC_DEFINE_SELECT(name, keys, D, A, B, expression)                                        \
    static int op_##name(struct exec_warp *warp, const struct exec_inst *inst)                     \
    {                                                                                              \
        slot_##D *dd = exec_slot(warp, inst->d);                                                   \
        const slot_##A *aa = exec_slot(warp, inst->a);                                             \
        const slot_##B *bb = exec_slot(warp, inst->b);                                             \
        const uint32_t pp = *(const uint32_t *)exec_slot(warp, inst->c);                           \
        const uint32_t mask = warp->full ? EXEC_ALL : warp->mask;                                  \
        EXEC_FOR_LANES                                                                             \
        {                                                                                          \
            const A a = (A)aa[l];                                                                  \
            const B b = (B)bb[l];                                                                  \
            const uint32_t p = EXEC_IN(pp);                                                        \
            const slot_##D r = (slot_##D)(D)(expression);                                          \
            dd[l] = EXEC_IN(mask) ? r : dd[l];                                                     \
        }                                                                                          \
        return EXEC_GO;                                                                            \
    }

static inline void exec_put_predicates(struct exec_warp *warp, const struct exec_inst *inst,
                                       uint32_t result)
{
    uint32_t *d = exec_slot(warp, inst->d);
    uint32_t *e = exec_slot(warp, inst->e);
    const uint32_t mask = warp->mask;
    *e = (*e & ~mask) | (~result & mask);
    *d = (*d & ~mask) | (result & mask);
}

#define EXEC_DEFINE_COMPARE(name, keys, A, B, expression)                                          \
    static int op_##name(struct exec_warp *warp, const struct exec_inst *inst)                     \
    {                                                                                              \
        const slot_##A *aa = exec_slot(warp, inst->a);                                             \
        const slot_##B *bb = exec_slot(warp, inst->b);                                             \
        uint32_t result = 0;                                                                       \
        EXEC_FOR_LANES                                                                             \
        {                                                                                          \
            const A a = (A)aa[l];                                                                  \
            const B b = (B)bb[l];                                                                  \
            result |= (expression) ? 1u << l : 0;                                                  \
        }                                                                                          \
        exec_put_predicates(warp, inst, result);                                                   \
        return EXEC_GO;                                                                            \
    }

#define EXEC_DEFINE_COMPARE1(name, keys, A, expression)                                            \
    static int op_##name(struct exec_warp *warp, const struct exec_inst *inst)                     \
    {                                                                                              \
        const slot_##A *aa = exec_slot(warp, inst->a);                                             \
        uint32_t result = 0;                                                                       \
        EXEC_FOR_LANES                                                                             \
        {                                                                                          \
            const A a = (A)aa[l];                                                                  \
            result |= (expression) ? 1u << l : 0;                                                  \
        }                                                                                          \
        exec_put_predicates(warp, inst, result);                                                   \
        return EXEC_GO;                                                                            \
    }

#define EXEC_DEFINE_PREDICATE(name, keys, expression)                                              \
    static int op_##name(struct exec_warp *warp, const struct exec_inst *inst)                     \
    {                                                                                              \
        uint32_t *d = exec_slot(warp, inst->d);                                                    \
        const uint32_t a = *(const uint32_t *)exec_slot(warp, inst->a);                            \
        const uint32_t b = *(const uint32_t *)exec_slot(warp, inst->b);                            \
        (void)b;                                                                                   \
        *d = (*d & ~warp->mask) | ((expression)&warp->mask);                                       \
        return EXEC_GO;                                                                            \
    }

/* The carry flag of a thread is one bit of the mask in slot e. `carry` holds it before and after
 * the expression. */
#define EXEC_DEFINE_CARRY(name, keys, D, A, B, C, expression)                                      \
    static int op_##name(struct exec_warp *warp, const struct exec_inst *inst)                     \
    {                                                                                              \
        slot_##D *dd = exec_slot(warp, inst->d);                                                   \
        const slot_##A *aa = exec_slot(warp, inst->a);                                             \
        const slot_##B *bb = exec_slot(warp, inst->b);                                             \
        const slot_##C *cc = exec_slot(warp, inst->c);                                             \
        uint32_t *flag = exec_slot(warp, inst->e);                                                 \
        for (unsigned l = 0; l < EXEC_LANES; l++) {                                                \
            if (!EXEC_IN(warp->mask)) continue;                                                    \
            const A a = (A)aa[l];                                                                  \
            const B b = (B)bb[l];                                                                  \
            const C c = (C)cc[l];                                                                  \
            uint32_t carry = EXEC_IN(*flag);                                                       \
            (void)c;                                                                               \
            dd[l] = (slot_##D)(D)(expression);                                                     \
            *flag = (*flag & ~(1u << l)) | carry << l;                                             \
        }                                                                                          \
        return EXEC_GO;                                                                            \
    }

/* ---- the rows as table entries --------------------------------------------------------------- */

#define EXEC_LIST_LANE1(name, keys, D, A, expression) {keys, op_##name, #D " " #A},
#define EXEC_LIST_LANE2(name, keys, D, A, B, expression) {keys, op_##name, #D " " #A " " #B},
#define EXEC_LIST_LANE3(name, keys, D, A, B, C, expression)                                        \
    {keys, op_##name, #D " " #A " " #B " " #C},
#define EXEC_LIST_LANE4(name, keys, D, A, B, C, E, expression)                                     \
    {keys, op_##name, #D " " #A " " #B " " #C " " #E},
#define EXEC_LIST_SELECT(name, keys, D, A, B, expression) {keys, op_##name, #D " " #A " " #B " p"},
#define EXEC_LIST_COMPARE(name, keys, A, B, expression) {keys, op_##name, "p " #A " " #B},
#define EXEC_LIST_COMPARE1(name, keys, A, expression) {keys, op_##name, "p " #A},
#define EXEC_LIST_PREDICATE(name, keys, expression) {keys, op_##name, "p p p"},
#define EXEC_LIST_CARRY(name, keys, D, A, B, C, expression)                                        \
    {keys, op_##name, #D " " #A " " #B " " #C " cc"},

#endif
