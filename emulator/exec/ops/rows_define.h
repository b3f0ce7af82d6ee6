/* Included before a .def file: turns its rows into handlers. */
#include "emulator/exec/ops/lane_rows.h"

#undef LANE1
#define LANE1(name, keys, D, A, expression)                                                        \
    EXEC_HANDLER(name)                                                                             \
    {                                                                                              \
        EXEC_SOURCE(A, a);                                                                         \
        EXEC_PUT_LANES(D, EXEC_VALUE(A, a), expression);                                           \
    }

#undef LANE2
#define LANE2(name, keys, D, A, B, expression)                                                     \
    EXEC_HANDLER(name)                                                                             \
    {                                                                                              \
        EXEC_SOURCE(A, a);                                                                         \
        EXEC_SOURCE(B, b);                                                                         \
        EXEC_PUT_LANES(D, EXEC_VALUE(A, a); EXEC_VALUE(B, b), expression);                         \
    }

#undef LANE3
#define LANE3(name, keys, D, A, B, C, expression)                                                  \
    EXEC_HANDLER(name)                                                                             \
    {                                                                                              \
        EXEC_SOURCE(A, a);                                                                         \
        EXEC_SOURCE(B, b);                                                                         \
        EXEC_SOURCE(C, c);                                                                         \
        EXEC_PUT_LANES(D, EXEC_VALUE(A, a); EXEC_VALUE(B, b); EXEC_VALUE(C, c), expression);       \
    }

#undef LANE4
#define LANE4(name, keys, D, A, B, C, E, expression)                                               \
    EXEC_HANDLER(name)                                                                             \
    {                                                                                              \
        EXEC_SOURCE(A, a);                                                                         \
        EXEC_SOURCE(B, b);                                                                         \
        EXEC_SOURCE(C, c);                                                                         \
        EXEC_SOURCE(E, e);                                                                         \
        EXEC_PUT_LANES(D, EXEC_VALUE(A, a); EXEC_VALUE(B, b); EXEC_VALUE(C, c);                    \
                       EXEC_VALUE(E, e), expression);                                              \
    }

#undef SELECT
#define SELECT(name, keys, D, A, B, expression)                                                    \
    EXEC_HANDLER(name)                                                                             \
    {                                                                                              \
        EXEC_SOURCE(A, a);                                                                         \
        EXEC_SOURCE(B, b);                                                                         \
        const uint32_t pp = *(const uint32_t *)exec_slot(warp, inst->c);                           \
        EXEC_PUT_LANES(D, EXEC_VALUE(A, a); EXEC_VALUE(B, b);                                      \
                       const uint32_t p = EXEC_IN(pp), expression);                                \
    }

#undef COMPARE
#define COMPARE(name, keys, A, B, expression)                                                      \
    EXEC_HANDLER(name)                                                                             \
    {                                                                                              \
        EXEC_SOURCE(A, a);                                                                         \
        EXEC_SOURCE(B, b);                                                                         \
        EXEC_PUT_COMPARED(EXEC_VALUE(A, a); EXEC_VALUE(B, b), expression);                         \
    }

#undef COMPARE1
#define COMPARE1(name, keys, A, expression)                                                        \
    EXEC_HANDLER(name)                                                                             \
    {                                                                                              \
        EXEC_SOURCE(A, a);                                                                         \
        EXEC_PUT_COMPARED(EXEC_VALUE(A, a), expression);                                           \
    }

#undef PREDICATE
#define PREDICATE(name, keys, expression)                                                          \
    EXEC_HANDLER(name)                                                                             \
    {                                                                                              \
        uint32_t *d = exec_slot(warp, inst->d);                                                    \
        const uint32_t a = *(const uint32_t *)exec_slot(warp, inst->a);                            \
        const uint32_t b = *(const uint32_t *)exec_slot(warp, inst->b);                            \
        (void)b;                                                                                   \
        *d = (*d & ~warp->mask) | ((expression)&warp->mask);                                       \
        return EXEC_GO;                                                                            \
    }

/* CARRY: the carry flag of a thread is one bit of the mask in slot e. `carry` holds it before and
 * after the expression. */
#undef CARRY
#define CARRY(name, keys, D, A, B, C, expression)                                                  \
    EXEC_HANDLER(name)                                                                             \
    {                                                                                              \
        slot_##D *dd = exec_slot(warp, inst->d);                                                   \
        EXEC_SOURCE(A, a);                                                                         \
        EXEC_SOURCE(B, b);                                                                         \
        EXEC_SOURCE(C, c);                                                                         \
        uint32_t *flag = exec_slot(warp, inst->e);                                                 \
        for (unsigned l = 0; l < EXEC_EACH_LANE; l++) {                                            \
            if (!EXEC_IN(warp->mask)) continue;                                                    \
            EXEC_VALUE(A, a);                                                                      \
            EXEC_VALUE(B, b);                                                                      \
            EXEC_VALUE(C, c);                                                                      \
            uint32_t carry = EXEC_IN(*flag);                                                       \
            (void)c;                                                                               \
            dd[l] = (slot_##D)(D)(expression);                                                     \
            *flag = (*flag & ~(1u << l)) | carry << l;                                             \
        }                                                                                          \
        return EXEC_GO;                                                                            \
    }
