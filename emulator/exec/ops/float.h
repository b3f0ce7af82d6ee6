/* exec_float: rules of PTX floating point that several files of handlers share: flushing,
 * saturation, canonical NaN, minimum and maximum. The functions are pure and have no branches, so
 * that loops over them are vectorised. Private to emulator/exec's handlers.
 */
#ifndef OVERLAP_EXEC_OPS_FLOAT_H
#define OVERLAP_EXEC_OPS_FLOAT_H

#include "emulator/exec/ops/lanes.h"

#include <math.h>

static inline u32 exec_bits32(f32 value)
{
    u32 bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline f32 exec_f32(u32 bits)
{
    f32 value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline u64 exec_bits64(f64 value)
{
    u64 bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline f64 exec_f64(u64 bits)
{
    f64 value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#define EXEC_NAN32 0x7fffffffu

/* Returns the canonical NaN for any NaN. */
static inline f32 exec_canonical(f32 value)
{
    return exec_f32(value != value ? EXEC_NAN32 : exec_bits32(value));
}

/* tf32: an expression over the bits v, which rounds to bit 13 and above; NaN becomes canonical. */
#define TF32_NAN 0x7fffe000u
#define TF32_OF(bits, rounded)                                                                     \
    (__extension__({                                                                               \
        const u32 v = (bits);                                                                      \
        (v & 0x7fffffffu) > 0x7f800000u    ? TF32_NAN                                              \
        : (v & 0x7fffffffu) == 0x7f800000u ? v                                                     \
                                           : (rounded)&0xffffe000u;                                \
    }))
#define TF32_UP (v + 0xfffu + (v >> 13 & 1)) /* in TF32_OF: to the nearest, ties to even */

/* Replaces a subnormal by a zero of the same sign. */
static inline f32 exec_flush(f32 value)
{
    const u32 bits = exec_bits32(value);
    return exec_f32(bits & 0x7f800000u ? bits : bits & 0x80000000u);
}

static inline f64 exec_flush64(f64 value)
{
    const u64 bits = exec_bits64(value);
    return exec_f64(bits & UINT64_C(0x7ff) << 52 ? bits : bits & UINT64_C(1) << 63);
}

/* Replaces a result by a zero of its sign if `exact`, rounded with an unbounded exponent, is below
 * the normal numbers. The result alone does not tell: values on both sides of that limit round to
 * the smallest normal number. */
static inline f32 exec_flush_exact(f32 result, f64 exact)
{
    const u32 bits = exec_bits32(result);
    const f32 rounded = (f32)(exact * 0x1p64);
    const bool tiny = fabsf(rounded) < 0x1p-62f;
    return exec_f32(tiny ? bits & 0x80000000u : bits);
}

/* Makes a NaN quiet; returns other values as they are. */
static inline f64 exec_quiet64(f64 value)
{
    const u64 bits = exec_bits64(value);
    return exec_f64(value != value ? bits | UINT64_C(1) << 51 : bits);
}

/* NaN results of f64 are those of x86-64's hardware. Not so where LLVM computes them itself, as
 * native/ lets it do with constants. */
#if defined __x86_64__ && !defined EXEC_AS_BITCODE
#define EXEC_NAN64_OF_HOST
#endif

/* The result of operands none of which is NaN. The NaN of an invalid operation is negative on GPUs
 * and x86-64, and positive on Arm and for LLVM. */
static inline f64 exec_invalid64(f64 result)
{
#ifdef EXEC_NAN64_OF_HOST
    return result;
#else
    return exec_f64(result != result ? UINT64_C(0xfff8) << 48 : exec_bits64(result));
#endif
}

/* Returns the first operand that is NaN, made quiet; else the result. */
static inline f64 exec_nan64(f64 first, f64 second, f64 result)
{
    return first != first     ? exec_quiet64(first)
           : second != second ? exec_quiet64(second)
                              : exec_invalid64(result);
}

static inline f64 exec_nan64_of(f64 first, f64 second, f64 third, f64 result)
{
    return first != first ? exec_quiet64(first) : exec_nan64(second, third, result);
}

/* The same for an operation in which x86-64 hardware follows this rule. */
static inline f64 exec_first_nan64(f64 first, f64 second, f64 result)
{
#ifdef EXEC_NAN64_OF_HOST
    return (void)first, (void)second, result;
#else
    return exec_nan64(first, second, result);
#endif
}

/* Clamps to [0, 1]; NaN gives +0. */
static inline f32 exec_saturate(f32 value)
{
    return value >= 1.0f ? 1.0f : value > 0.0f ? value : 0.0f;
}

static inline f64 exec_saturate64(f64 value)
{
    return value >= 1.0 ? 1.0 : value > 0.0 ? value : 0.0;
}

/* 2 to the power of a: a polynomial of a's fraction, which is wrong by less than 2^-40 of the value
 * (Remez), and whose exponent is then raised by the whole part. */
static inline f32 exec_exp2(f32 a)
{
    static const f64 factors[] = {
        0x1.ffffffffff7a3p-1,  0x1.62e42fef86160p-1,  0x1.ebfbdff9319d0p-3,
        0x1.c6b08dd46d011p-5,  0x1.3b2ab5c52a45bp-7,  0x1.5d87483892c91p-10,
        0x1.430acca1cd4a3p-13, 0x1.00dad22c7b4eep-16, 0x1.61afcff7d86c7p-20};
    enum { LAST = sizeof factors / sizeof *factors - 1 };
    const f64 x = a > 192.0f ? 192.0 : a < -192.0f ? -192.0 : a; /* infinity and 0 of f32 */
    const f64 shifted = x + 0x1.8p52; /* the low bits are the whole part */
    const f64 fraction = x - (shifted - 0x1.8p52);
    f64 sum = factors[LAST];
    for (int k = LAST - 1; k >= 0; k--) sum = sum * fraction + factors[k];
    const f64 power = exec_f64(exec_bits64(sum) + (exec_bits64(shifted) << 52));
    return a != a ? a : (f32)power;
}

static inline f32 exec_min(f32 a, f32 b, bool nan)
{
    /* Equal operands differ at most in sign: the OR of their bits is -0 if either is -0. */
    const u32 equal = exec_bits32(a) | exec_bits32(b);
    const u32 smaller = exec_bits32(a < b ? a : b);
    const u32 ordered = a == b ? equal : smaller;
    const u32 lone = nan ? EXEC_NAN32 : exec_bits32(a != a ? b : a);
    return exec_canonical(exec_f32(a != a || b != b ? lone : ordered));
}

static inline f32 exec_max(f32 a, f32 b, bool nan)
{
    const u32 equal = exec_bits32(a) & exec_bits32(b);
    const u32 larger = exec_bits32(a > b ? a : b);
    const u32 ordered = a == b ? equal : larger;
    const u32 lone = nan ? EXEC_NAN32 : exec_bits32(a != a ? b : a);
    return exec_canonical(exec_f32(a != a || b != b ? lone : ordered));
}

#endif
