/* exec_lanes: the frame around one lane's arithmetic. A row of a .def file says what a lane
 * computes; the macros here make of it a handler that does so for 32 lanes in a loop that the
 * compiler turns into vector instructions. Private to the files that hold handlers, which are
 * compiled once per level of the host's vector instructions (EXEC_LEVEL).
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
#ifndef OVERLAP_EXEC_OPS_LANES_H
#define OVERLAP_EXEC_OPS_LANES_H

#include "emulator/exec/machine/machine.h"
#include "emulator/exec/ops/ops.h"

#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef float f32;
typedef double f64;

/* The type of a value type's lane in a slot. */
typedef uint32_t slot_u8, slot_s8, slot_u16, slot_s16, slot_u32;
typedef int32_t slot_s32;
typedef uint64_t slot_u64;
typedef int64_t slot_s64;
typedef float slot_f32;
typedef double slot_f64;

/* A lane may be read and written in the same slot, never in two that overlap: every iteration is
 * independent of the others. */
#ifdef __clang__
#define EXEC_NO_DEPENDENCE /* its pragma for this warns wherever it makes no vectors of a loop */
#else
#define EXEC_NO_DEPENDENCE _Pragma("GCC ivdep")
#endif
#define EXEC_FOR_LANES EXEC_NO_DEPENDENCE for (unsigned l = 0; l < EXEC_LANES; l++)

#define EXEC_IN(mask) (((mask) >> l) & 1u)

/* ---- what the compiler makes no vector instructions of by itself ----------------------------- */

#ifdef __AVX512F__
#include <immintrin.h>
#endif

/* 16 lanes of 32 bits: half a warp's. */
typedef u32 exec_half_warp __attribute__((vector_size(64)));

/* Whether any bit is set. */
static inline bool exec_half_any(const exec_half_warp *half)
{
#ifdef __AVX512F__
    return _mm512_test_epi32_mask((__m512i)*half, (__m512i)*half) != 0;
#else
    u64 words[8], any = 0;
    memcpy(words, half, sizeof words);
    for (unsigned k = 0; k < 8; k++) any |= words[k];
    return any != 0;
#endif
}

/* to[l] = from[index[l]], each index below 32; the arrays are apart. */
static inline void exec_permute(u32 *to, const u32 *from, const u32 *index)
{
#ifdef __AVX512F__
    const __m512i low = _mm512_loadu_si512(from), high = _mm512_loadu_si512(from + 16);
    for (unsigned k = 0; k < EXEC_LANES; k += 16)
        _mm512_storeu_si512(to + k,
                            _mm512_permutex2var_epi32(low, _mm512_loadu_si512(index + k), high));
#else
    for (unsigned l = 0; l < EXEC_LANES; l++) to[l] = from[index[l]];
#endif
}

/* The tables of one level, each ended by a row without keys. */
#define EXEC_JOIN2(a, b) a##b
#define EXEC_JOIN(a, b) EXEC_JOIN2(a, b)
#ifndef EXEC_LEVEL
#define EXEC_LEVEL _base
#endif
#define EXEC_TABLE(name) EXEC_JOIN(name, EXEC_LEVEL)

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
