/* The rows of ops/int.def as handlers. Compiled once per EXEC_LEVEL. */
#include "emulator/exec/ops/lanes.h"
#include "emulator/exec/ops/tables.h"

/* ---- functions that the rows' expressions call ----------------------------------------------- */

static inline s32 exec_saturate32(s64 value)
{
    return (s32)(value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value);
}

static inline s32 exec_positive(s32 value)
{
    return value > 0 ? value : 0;
}

__extension__ typedef unsigned __int128 wide_u128;
__extension__ typedef __int128 wide_s128;

static inline u64 exec_high_u64(u64 a, u64 b)
{
    return (u64)(((wide_u128)a * b) >> 64);
}

static inline s64 exec_high_s64(s64 a, s64 b)
{
    return (s64)(((wide_s128)a * b) >> 64);
}

static inline s32 exec_s24(u32 a)
{
    return (s32)(a << 8) >> 8;
}

/* A quotient of 32-bit integers differs from the next whole number by at least 2^-32 of its value,
 * so rounding to double never reaches that number: truncation is exact, and divisions of doubles
 * are vectorised. */
static inline u32 exec_div_u32(u32 a, u32 b)
{
    const f64 quotient = (f64)a / (f64)(b ? b : 1);
    return b ? (u32)quotient : EXEC_ALL;
}

static inline s32 exec_div_s32(s32 a, s32 b)
{
    const f64 quotient = (f64)a / (f64)(b ? b : 1);
    const s32 result = quotient > 2147483647.0 ? INT32_MIN : (s32)quotient;
    return b ? result : -1;
}

static inline u32 exec_popc32(u32 a)
{
    a = a - ((a >> 1) & 0x55555555);
    a = (a & 0x33333333) + ((a >> 2) & 0x33333333);
    return (((a + (a >> 4)) & 0x0f0f0f0f) * 0x01010101) >> 24;
}

static inline u32 exec_bfind(u64 a)
{
    return a ? 63 - (u32)__builtin_clzll(a) : EXEC_ALL;
}

static inline u32 exec_shift_amount(u64 a, u32 top)
{
    return a ? top - exec_bfind(a) : EXEC_ALL;
}

/* fns. Offset 0: the bit at base, if set; n > 0: the n-th set bit from base upwards (base counts);
 * n < 0: the same downwards. All ones when there is none. */
static inline u32 exec_fns(u32 mask, u32 base, s32 offset)
{
    if (base >= 32) return EXEC_ALL;
    if (offset == 0) return (mask >> base) & 1 ? base : EXEC_ALL;
    const s32 step = offset > 0 ? 1 : -1;
    s64 left = offset > 0 ? offset : -(s64)offset;
    for (s32 position = (s32)base; position >= 0 && position < 32; position += step)
        if ((mask >> position) & 1 && --left == 0) return (u32)position;
    return EXEC_ALL;
}

static inline u32 exec_brev32(u32 a)
{
    a = (a >> 1 & 0x55555555) | (a & 0x55555555) << 1;
    a = (a >> 2 & 0x33333333) | (a & 0x33333333) << 2;
    a = (a >> 4 & 0x0f0f0f0f) | (a & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(a);
}

/* bfe: `a` comes extended to 64 bits according to its own type; msb is 31 or 63. Bits beyond the
 * top are the sign for signed types (the sign of the field if the field has bits), else 0. */
static inline u64 exec_bfe(u64 a, u32 b, u32 c, u32 msb, bool is_signed)
{
    const u32 position = b < 64 ? b : 64;
    const u32 length = c < 64 ? c : 64;
    const u32 top = position + length - 1 < msb ? position + length - 1 : msb;
    const u64 sign = is_signed && length ? (a >> top) & 1 : 0;
    u64 field = position > msb ? 0 : a >> position;
    if (length == 0) return 0;
    const u32 kept = position > msb ? 0 : msb - position + 1 < length ? msb - position + 1 : length;
    const u64 keep = kept >= 64 ? UINT64_MAX : (UINT64_C(1) << kept) - 1;
    return (field & keep) | (sign ? ~keep : 0);
}

static inline u64 exec_bfi(u64 a, u64 b, u32 c, u32 d, u32 width)
{
    const u32 position = c < 64 ? c : 64;
    const u32 length = d < 64 ? d : 64;
    if (position >= width || length == 0) return b;
    const u64 ones = length >= 64 ? UINT64_MAX : (UINT64_C(1) << length) - 1;
    const u64 field = ones << position;
    return (b & ~field) | ((a << position) & field);
}

static inline u32 exec_sign_extend(u32 a, u32 bits)
{
    if (bits == 0) return 0;
    return (u32)((s32)(a << (32 - bits)) >> (32 - bits));
}

static inline u32 exec_bit_mask(u32 position, u32 length)
{
    return (u32)(((UINT64_C(1) << length) - 1) << position);
}

static inline u32 exec_dp4a(u32 a, u32 b, bool a_signed, bool b_signed)
{
    u32 sum = 0;
    for (u32 k = 0; k < 32; k += 8) {
        const s32 x = a_signed ? (s8)(a >> k) : (u8)(a >> k);
        const s32 y = b_signed ? (s8)(b >> k) : (u8)(b >> k);
        sum += (u32)(x * y);
    }
    return sum;
}

static inline u32 exec_dp2a(u32 a, u32 b, bool a_signed, bool b_signed)
{
    u32 sum = 0;
    for (u32 k = 0; k < 2; k++) {
        const s32 x = a_signed ? (s16)(a >> 16 * k) : (u16)(a >> 16 * k);
        const s32 y = b_signed ? (s8)(b >> 8 * k) : (u8)(b >> 8 * k);
        sum += (u32)(x * y);
    }
    return sum;
}

static inline u32 exec_addc32(u32 a, u32 b, u32 in, u32 *out)
{
    const u64 sum = (u64)a + b + in;
    *out = (u32)(sum >> 32);
    return (u32)sum;
}

static inline u64 exec_addc64(u64 a, u64 b, u32 in, u32 *out)
{
    u64 sum;
    const bool first = __builtin_add_overflow(a, b, &sum);
    const bool second = __builtin_add_overflow(sum, (u64)in, &sum);
    *out = first || second;
    return sum;
}

/* Bit k of the table is the result for the inputs whose bits are k = 4 a + 2 b + c. */
static inline u32 exec_lop3(u32 a, u32 b, u32 c, u32 table)
{
    u32 result = 0;
    result |= table & 0x01 ? ~a & ~b & ~c : 0;
    result |= table & 0x02 ? ~a & ~b & c : 0;
    result |= table & 0x04 ? ~a & b & ~c : 0;
    result |= table & 0x08 ? ~a & b & c : 0;
    result |= table & 0x10 ? a & ~b & ~c : 0;
    result |= table & 0x20 ? a & ~b & c : 0;
    result |= table & 0x40 ? a & b & ~c : 0;
    result |= table & 0x80 ? a & b & c : 0;
    return result;
}

/* Selector nibble: bits 0..2 the byte, bit 3: its sign replicated. */
static inline u32 exec_prmt(u32 a, u32 b, u32 selector)
{
    const u64 bytes = (u64)b << 32 | a;
    u32 result = 0;
    for (u32 k = 0; k < 4; k++) {
        const u32 nibble = selector >> 4 * k;
        const u32 byte = (u32)(bytes >> 8 * (nibble & 7)) & 0xff;
        result |= (nibble & 8 ? (byte & 0x80 ? 0xffu : 0u) : byte) << 8 * k;
    }
    return result;
}

static inline u32 exec_prmt_b4e(u32 n)
{
    u32 selector = 0;
    for (u32 k = 0; k < 4; k++) selector |= ((n - k) & 7) << 4 * k;
    return selector;
}

/* ecl: byte k is max(k, n); ecr: min(k, n). */
static inline u32 exec_prmt_edge(u32 n, bool left)
{
    u32 selector = 0;
    for (u32 k = 0; k < 4; k++) selector |= (left == (k > n) ? k : n) << 4 * k;
    return selector;
}

/* Two 16-bit lanes of type T: x and y are the halves of a and b. */
#define EXEC_HALF(T, a, b, shift, expression)                                                      \
    (__extension__({                                                                               \
        const T x = (T)((a) >> (shift)), y = (T)((b) >> (shift));                                  \
        (u32)(u16)(expression) << (shift);                                                         \
    }))
#define EXEC_PAIR(T, a, b, expression)                                                             \
    (EXEC_HALF(T, a, b, 0, expression) | EXEC_HALF(T, a, b, 16, expression))

/* The order matters: the rows are included twice, as functions and as a table. */
// clang-format off
#include "emulator/exec/ops/rows_define.h"
#include "emulator/exec/ops/int.def"

const struct exec_row EXEC_TABLE(exec_int_rows)[] = {
#include "emulator/exec/ops/rows_list.h"
#include "emulator/exec/ops/int.def"
    {NULL, NULL, NULL}};
