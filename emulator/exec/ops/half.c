/* The rows of ops/half.def as handlers. Compiled once: they work lane by lane. */
#include "emulator/exec/ops/half.h"
#include "emulator/exec/ops/tables.h"

#define VALUE_F16(bits) half_widen(bits, HALF_F16)
#define VALUE_BF16(bits) half_widen(bits, HALF_BF16)
#define FLUSHED_F16(bits) half_widen(half_flush(bits, HALF_F16), HALF_F16)
#define BOTH(low, high) ((u32)(u16)(low) | (u32)(u16)(high) << 16)
#define ZERO_F16(bits) half_flush(bits, HALF_F16)

/* Evaluates an expression over the values x, y, z of one format, and rounds it back. */
#define HALF_EXPRESSION_AS(rounded, V, p, q, r)                                                    \
    (__extension__({                                                                               \
        const f64 x = V(p), y = V(q), z = V(r);                                                    \
        const u16 x_bits = (u16)(p), y_bits = (u16)(q);                                            \
        (void)y, (void)z, (void)x_bits, (void)y_bits;                                              \
        (rounded);                                                                                 \
    }))
#define HALF_EXPRESSION(V, FORMAT, p, q, r, expression)                                            \
    HALF_EXPRESSION_AS(half_round((expression), FORMAT, HALF_NEAREST), V, p, q, r)
#define F16_1(p, e) HALF_EXPRESSION(VALUE_F16, HALF_F16, p, 0, 0, e)
#define F16_2(p, q, e) HALF_EXPRESSION(VALUE_F16, HALF_F16, p, q, 0, e)
#define F16_3(p, q, r, e) HALF_EXPRESSION(VALUE_F16, HALF_F16, p, q, r, e)
#define F16_2Z(p, q, e) F16_3Z(p, q, 0, e)
#define F16_3Z(p, q, r, e)                                                                         \
    HALF_EXPRESSION_AS(half_round_flushed((e), HALF_F16), VALUE_F16, ZERO_F16(p), ZERO_F16(q),     \
                       ZERO_F16(r))
#define BF16_1(p, e) HALF_EXPRESSION(VALUE_BF16, HALF_BF16, p, 0, 0, e)
#define BF16_2(p, q, e) HALF_EXPRESSION(VALUE_BF16, HALF_BF16, p, q, 0, e)
#define BF16_3(p, q, r, e) HALF_EXPRESSION(VALUE_BF16, HALF_BF16, p, q, r, e)

#define CANON_F16(bits) half_canonical(bits, 0x7c00)
#define CANON_BF16(bits) half_canonical(bits, 0x7f80)

/* .oob: the result is 0 where a factor is the NaN for an element out of bounds. PTX ISA 9.0 does
 * not say which: of all 2^16, in both formats, an H200 knows this one, with either sign
 * (tests/gpu/corners.cu). */
enum { OUT_OF_BOUNDS = 0x7ff7, WITHOUT_SIGN = 0x7fff };
#define WITHIN_BOUNDS(value)                                                                       \
    ((x_bits & WITHOUT_SIGN) == OUT_OF_BOUNDS || (y_bits & WITHOUT_SIGN) == OUT_OF_BOUNDS          \
         ? 0.0                                                                                     \
         : (f64)(value))

/* .relu: negative numbers become +0, NaN stays. */
static f64 half_relu(f64 value)
{
    return value != value ? value : value > 0 ? value : 0.0;
}

static f64 half_min(f64 a, f64 b, bool nan)
{
    if (a != a || b != b) return nan || (a != a && b != b) ? (f64)NAN : a != a ? b : a;
    if (a == b) return exec_f64(exec_bits64(a) | exec_bits64(b));
    return a < b ? a : b;
}

static f64 half_max(f64 a, f64 b, bool nan)
{
    if (a != a || b != b) return nan || (a != a && b != b) ? (f64)NAN : a != a ? b : a;
    if (a == b) return exec_f64(exec_bits64(a) & exec_bits64(b));
    return a > b ? a : b;
}

/* An integer as f64. Integers beyond 2^53 are beyond every f16 anyway; for bf16 they are rounded to
 * odd, so that rounding again gives the same as rounding once. */
#define INTEGER_VALUE(T, a) ((f64)(a))
#define HALF_INTEGER(T, a) half_integer((u64)(a), (T)-1 < (T)1)
static f64 half_integer(u64 bits, bool is_signed)
{
    const bool negative = is_signed && bits >> 63;
    const u64 size = negative ? 0 - bits : bits;
    const f64 value = size >> 53 ? ldexp((f64)(size >> 11 | ((size & 0x7ff) != 0)), 11) : (f64)size;
    return negative ? -value : value;
}

/* Overflow and infinity give the largest finite number. */
static u16 half_finite(f64 value, unsigned fraction_bits, unsigned exponent_bits,
                       enum half_rounding rounding)
{
    const u16 bits = half_round(value, fraction_bits, exponent_bits, rounding);
    const u16 infinity = (u16)(((1u << exponent_bits) - 1) << fraction_bits);
    return (bits & 0x7fff) == infinity ? bits - 1 : bits;
}
#define FINITE_F16(value, rounding) half_finite(value, HALF_F16, rounding)
#define FINITE_BF16(value, rounding) half_finite(value, HALF_BF16, rounding)

/* Gives a magnitude the sign of the product of a and b, whether or not those are NaN; a NaN
 * magnitude stays. */
static f64 half_xorsign(f64 size, u16 a, u16 b)
{
    const bool negative = (a ^ b) >> 15;
    return size != size ? size : negative ? -fabs(size) : fabs(size);
}

/* Clamps a whole number in f16's range to an integer type. NaN gives 0, or only the top bit set for
 * 64 bits. */
#define WHOLE_OF(T, value)                                                                         \
    (__extension__({                                                                               \
        const f64 whole = (value);                                                                 \
        const bool is_signed = (T)-1 < (T)1;                                                       \
        const f64 past = ldexp(1.0, (int)(8 * sizeof(T)) - is_signed);                             \
        const u64 top = ((u64)1 << (8 * sizeof(T) - 1)) - 1;                                       \
        const T highest = (T)(is_signed ? top : 2 * top + 1);                                      \
        const T lowest = (T)(is_signed ? ~top : 0);                                                \
        const T none = (T)(sizeof(T) == 8 ? (u64)1 << 63 : 0);                                     \
        whole != whole                    ? none                                                   \
        : whole >= past                   ? highest                                                \
        : whole < (is_signed ? -past : 0) ? lowest                                                 \
        : is_signed                       ? (T)(s64)whole                                          \
                                          : (T)(u64)whole;                                                               \
    }))

/* Compares both halves of a and b: `yes` where the comparison holds, else 0. */
#define PACKED_HALF(V, yes, shift, form)                                                           \
    (__extension__({                                                                               \
        const f64 x = V((u16)(a >> (shift))), y = V((u16)(b >> (shift)));                          \
        (form) ? (yes) : 0;                                                                        \
    }))
#define PACKED(V, yes, form) BOTH(PACKED_HALF(V, yes, 0, form), PACKED_HALF(V, yes, 16, form))

#define EXEC_MANY_ROWS
/* The order matters: the rows are included twice, as functions and as a table. */
// clang-format off
#include "emulator/exec/ops/rows_define.h"
#include "emulator/exec/ops/half.def"

const struct exec_row exec_half_rows[] = {
#include "emulator/exec/ops/rows_list.h"
#include "emulator/exec/ops/half.def"
    {NULL, NULL, NULL}};
