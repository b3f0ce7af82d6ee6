/* exec_lanes: the loops over 32 lanes that the compiler vectorises, the value types, and helpers
 * that the compiler does not vectorise by itself. Private to the files that hold handlers, which
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

/* The type that a lane has in a slot, for each value type. */
typedef uint32_t slot_u8, slot_s8, slot_u16, slot_s16, slot_u32;
typedef int32_t slot_s32;
typedef uint64_t slot_u64;
typedef int64_t slot_s64;
typedef float slot_f32;
typedef double slot_f64;

/* A loop may read and write the same slot, but never two slots that overlap: iterations are
 * independent. */
#ifdef EXEC_AS_BITCODE /* all lanes in one step: native/ keeps whole slots in registers */
#define EXEC_NO_DEPENDENCE                                                                         \
    _Pragma("clang loop vectorize(assume_safety) vectorize_width(32) interleave_count(1)")
#elif defined __clang__
#define EXEC_NO_DEPENDENCE /* clang's pragma warns wherever it cannot vectorise */
#else
#define EXEC_NO_DEPENDENCE _Pragma("GCC ivdep")
#endif
#ifdef EXEC_ONE_LANE /* such rows serve a lone lane in native/, in lane 0 of its slots */
enum { EXEC_EACH_LANE = 1 };
#define EXEC_FOR_LANES for (unsigned l = 0; l < EXEC_EACH_LANE; l++)
#else
enum { EXEC_EACH_LANE = EXEC_LANES };
#define EXEC_FOR_LANES EXEC_NO_DEPENDENCE for (unsigned l = 0; l < EXEC_EACH_LANE; l++)
#endif

#define EXEC_IN(mask) (((mask) >> l) & 1u)

/* ---- explicit vector code -------------------------------------------------------------------- */

#ifdef __AVX512F__
#include <immintrin.h>
#endif

/* 16 lanes of 32 bits: half a warp. */
enum { EXEC_HALF = EXEC_LANES / 2 };
typedef u32 exec_half_warp __attribute__((vector_size(64)));

/* Returns true when any bit is set. */
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

/* The pattern of the lanes' shared-memory addresses, in each half of the warp by itself: blocks of
 * 16 x 16 threads are common. */
enum exec_halves {
    EXEC_HALVES_ROWS,  /* consecutive elements */
    EXEC_HALVES_SAMES, /* one element for all 16 lanes */
    EXEC_HALVES_APART, /* anything else, or misaligned, or out of bounds */
};

/* Returns the pattern for elements of `bytes`, a compile-time constant. `last`: the highest address
 * allowed. */
static inline enum exec_halves exec_halves_of(const u32 *base, u32 offset, u32 last, u32 bytes)
{
    static const exec_half_warp lane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    exec_half_warp low, high;
    memcpy(&low, base, sizeof low);
    memcpy(&high, base + EXEC_HALF, sizeof high);
    low += offset;
    high += offset;
    const exec_half_warp from_low = low - low[0], from_high = high - high[0], row = lane * bytes;
    const exec_half_warp moved = from_low | from_high;
    const exec_half_warp off = (from_low ^ row) | (from_high ^ row);
    const bool same = !exec_half_any(&moved);
    if (!same && exec_half_any(&off)) return EXEC_HALVES_APART;
    const u32 span = same ? 0 : (EXEC_HALF - 1) * bytes;
    if (((low[0] | high[0]) & (bytes - 1)) || span > last || low[0] > last - span ||
        high[0] > last - span)
        return EXEC_HALVES_APART;
    return same ? EXEC_HALVES_SAMES : EXEC_HALVES_ROWS;
}

/* 8 lanes of 64 bits. */
typedef u64 exec_quarter_warp __attribute__((vector_size(64)));

/* Returns true when each lane's address is `bytes`, a compile-time constant, behind that of the
 * lane before. */
static inline __attribute__((always_inline)) bool exec_is_row(const u64 *address, u64 bytes)
{
    exec_quarter_warp expected = {0, 1, 2, 3, 4, 5, 6, 7}, here, off = {0};
    expected = expected * bytes + address[0];
    for (unsigned l = 0; l < EXEC_LANES; l += 8) {
        memcpy(&here, address + l, sizeof here);
        off |= here ^ expected;
        expected += 8 * bytes;
    }
    exec_half_warp any;
    memcpy(&any, &off, sizeof any);
    return !exec_half_any(&any);
}

/* Returns the span of the lanes of `mask` (at least one), which access `bytes` bytes each.
 * Addresses are compared as signed numbers, which is the same since none has its top bit set. */
static inline struct exec_span exec_span_of(const u64 *address, u32 mask, u32 bytes)
{
    typedef s64 few __attribute__((vector_size(32)));
    few least, most, here;
    memcpy(&least, address, sizeof least);
    most = least;
    if (mask != EXEC_ALL) {
        struct exec_span span = {UINT64_MAX, 0};
        for (u32 rest = mask; rest; rest &= rest - 1) {
            const u64 at = address[__builtin_ctz(rest)];
            span.first = at < span.first ? at : span.first;
            span.end = at + bytes > span.end ? at + bytes : span.end;
        }
        return span;
    }
    for (unsigned l = 4; l < EXEC_LANES; l += 4) {
        memcpy(&here, address + l, sizeof here);
        const few less = here<least, more = here> most;
        least = (here & less) | (least & ~less);
        most = (here & more) | (most & ~more);
    }
    s64 first = least[0], last = most[0];
    for (unsigned k = 1; k < 4; k++) {
        first = least[k] < first ? least[k] : first;
        last = most[k] > last ? most[k] : last;
    }
    return (struct exec_span){(u64)first, (u64)last + bytes};
}

/* Returns true when two arrays of `bytes`, a multiple of 64 and a compile-time constant, differ. */
static inline __attribute__((always_inline)) bool exec_differ(const void *one, const void *other,
                                                              size_t bytes)
{
    exec_half_warp a, b, off = {0};
    for (size_t k = 0; k < bytes; k += sizeof off) {
        memcpy(&a, (const char *)one + k, sizeof a);
        memcpy(&b, (const char *)other + k, sizeof b);
        off |= a ^ b;
    }
    return exec_half_any(&off);
}

/* Returns a mask of the lanes whose value is not 0. */
static inline u32 exec_bits(const u32 *values)
{
#ifdef __AVX512F__
    const __m512i low = _mm512_loadu_si512(values), high = _mm512_loadu_si512(values + 16);
    return (u32)_mm512_test_epi32_mask(low, low) | (u32)_mm512_test_epi32_mask(high, high) << 16;
#else
    u32 result = 0;
    EXEC_FOR_LANES result |= values[l] != 0 ? 1u << l : 0;
    return result;
#endif
}

/* to[l] = from[index[l]], where each index is below 32 and the arrays do not overlap. */
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

#ifdef __AVX512F__
/* Writes the even elements, of 4 or 8 bytes, of `count` vectors, and behind them the odd ones. */
static inline __attribute__((always_inline)) void exec_part(__m512i *to, const __m512i *from,
                                                            unsigned count, unsigned bytes)
{
    const __m512i even32 =
        _mm512_set_epi32(30, 28, 26, 24, 22, 20, 18, 16, 14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i even64 = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0);
    const __m512i odd32 = _mm512_or_si512(even32, _mm512_set1_epi32(1));
    const __m512i odd64 = _mm512_or_si512(even64, _mm512_set1_epi64(1));
    for (unsigned k = 0; k < count / 2; k++) {
        const __m512i a = from[2 * k], b = from[2 * k + 1];
        to[k] = bytes == 4 ? _mm512_permutex2var_epi32(a, even32, b)
                           : _mm512_permutex2var_epi64(a, even64, b);
        to[count / 2 + k] = bytes == 4 ? _mm512_permutex2var_epi32(a, odd32, b)
                                       : _mm512_permutex2var_epi64(a, odd64, b);
    }
}
#endif

/* Splits a row in which every lane has `vector` elements of `bytes` each: element k of every lane
 * goes to lanes[k]. Returns false, without effect, where a plain loop is as good. All sizes are
 * compile-time constants. */
static inline __attribute__((always_inline)) bool exec_deal(void *const lanes[4], const void *row,
                                                            unsigned vector, unsigned bytes)
{
#ifdef __AVX512F__
    enum { WIDTH = sizeof(__m512i), MOST = EXEC_LANES * 4 * 8 / WIDTH };
    static const unsigned places[] = {0, 2, 1, 3}; /* the quarter that has element k */
    __m512i from[MOST], parts[MOST];
    const unsigned count = EXEC_LANES * vector * bytes / WIDTH, each = count / vector;
    if (vector == 1 || bytes < 4) return false;
    for (unsigned k = 0; k < count; k++)
        from[k] = _mm512_loadu_si512((const char *)row + (size_t)k * WIDTH);
    exec_part(parts, from, count, bytes);
    if (vector == 4) {
        exec_part(from, parts, count / 2, bytes);
        exec_part(from + count / 2, parts + count / 2, count / 2, bytes);
    }
    for (unsigned k = 0; k < vector; k++)
        for (unsigned i = 0; i < each; i++)
            _mm512_storeu_si512((char *)lanes[k] + (size_t)i * WIDTH,
                                vector == 4 ? from[places[k] * each + i] : parts[k * each + i]);
    return true;
#else
    (void)lanes, (void)row, (void)vector, (void)bytes;
    return false;
#endif
}

/* Prefetches the stretch of memory behind a row that is loaded. A warp runs for long and loads a
 * row of each of many tiles, too far apart for the hardware prefetcher. The stretch behind the row
 * is that of the next warp, which runs before the cache line is evicted. */
static inline __attribute__((always_inline)) void exec_fetch_next(const void *row, uint32_t bytes)
{
    enum { LINE = 64 };
    for (uint32_t at = 0; at < bytes; at += LINE)
        __builtin_prefetch((const void *)((uintptr_t)row + bytes + at));
}

/* The names of the tables of one level; each table ends with a row without keys. */
#define EXEC_JOIN2(a, b) a##b
#define EXEC_JOIN(a, b) EXEC_JOIN2(a, b)
#ifndef EXEC_LEVEL
#define EXEC_LEVEL _base
#endif
#define EXEC_TABLE(name) EXEC_JOIN(name, EXEC_LEVEL)

#endif
