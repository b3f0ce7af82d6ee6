/* exec_lanes: the frame around one lane's arithmetic: loops over 32 lanes that the compiler turns
 * into vector instructions, and the values' types. Private to the files that hold handlers, which
 * are compiled once per level of the host's vector instructions (EXEC_LEVEL).
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

#endif
