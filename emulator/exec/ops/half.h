/* exec_half: the 16-bit floating-point formats, f16 (IEEE binary16) and bf16. Values are computed
 * as f64: both formats convert to it exactly, and the way back rounds once, from the exact value.
 * Private to emulator/exec's handlers.
 */
#ifndef OVERLAP_EXEC_OPS_HALF_H
#define OVERLAP_EXEC_OPS_HALF_H

#include "emulator/exec/ops/half_lanes.h"

/* How a value between two numbers of the format is rounded. */
enum half_rounding { HALF_NEAREST, HALF_ZERO, HALF_DOWN, HALF_UP };

/* Parameters of the formats: bits of the fraction, bits of the exponent. */
#define HALF_F16 10, 5
#define HALF_BF16 7, 8

static inline f64 half_widen(u16 bits, unsigned fraction_bits, unsigned exponent_bits)
{
    const u32 exponent = (u32)bits >> fraction_bits & ((1u << exponent_bits) - 1);
    const u32 fraction = bits & ((1u << fraction_bits) - 1);
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const f64 sign = bits & 0x8000 ? -1.0 : 1.0;
    if (exponent == (1u << exponent_bits) - 1)
        return fraction ? exec_f64((u64)(bits & 0x8000) << 48 | UINT64_C(0x7ff8) << 48 |
                                   (u64)fraction << (52 - fraction_bits))
                        : sign * (f64)INFINITY;
    if (exponent == 0) return sign * ldexp((f64)fraction, 1 - bias - (int)fraction_bits);
    return sign *
           ldexp((f64)(fraction | 1u << fraction_bits), (int)exponent - bias - (int)fraction_bits);
}

/* Rounds to the format; overflow gives infinity or the largest finite number, depending on the
 * rounding. */
static inline u16 half_round(f64 value, unsigned fraction_bits, unsigned exponent_bits,
                             enum half_rounding rounding)
{
    if (value != value) return HALF_NAN;
    const u16 sign = exec_bits64(value) >> 63 ? 0x8000 : 0;
    const f64 size = fabs(value);
    const int bias = (1 << (exponent_bits - 1)) - 1;
    const u16 infinity = (u16)(((1u << exponent_bits) - 1) << fraction_bits);
    if (size == (f64)INFINITY) return sign | infinity;
    if (size == 0) return sign;
    int exponent;
    frexp(size, &exponent);
    exponent -= 1; /* size is in [2^exponent, 2^(exponent + 1)) */
    if (exponent < 1 - bias) exponent = 1 - bias;
    /* The size in units of the last place; the scaling is exact. */
    const f64 scaled = ldexp(size, (int)fraction_bits - exponent);
    u64 units = (u64)scaled;
    const f64 rest = scaled - (f64)units;
    const bool away = rounding == HALF_UP ? !sign : rounding == HALF_DOWN ? sign != 0 : false;
    if (rounding == HALF_NEAREST)
        units += rest > 0.5 || (rest == 0.5 && (units & 1));
    else
        units += away && rest > 0;
    /* A carry out of the fraction moves into the exponent by itself. */
    const u64 number =
        units >= (UINT64_C(1) << fraction_bits)
            ? units + ((u64)(exponent + bias) << fraction_bits) - (UINT64_C(1) << fraction_bits)
            : units;
    if (number < infinity) return (u16)(sign | number);
    const bool to_infinity = rounding == HALF_NEAREST || away;
    return (u16)(sign | (to_infinity ? infinity : infinity - 1));
}

/* Rounds as a conversion from f64 does: a NaN keeps its sign and the upper bits of its payload. */
static inline u16 half_narrow(f64 value, unsigned fraction_bits, unsigned exponent_bits,
                              enum half_rounding rounding)
{
    const u16 bits = half_round(value, fraction_bits, exponent_bits, rounding);
    if (value == value) return bits;
    const u64 wide = exec_bits64(value);
    const u16 infinity = (u16)(((1u << exponent_bits) - 1) << fraction_bits);
    const u16 payload = (u16)(wide >> (52 - fraction_bits) & ((1u << fraction_bits) - 1));
    return (u16)(wide >> 63 << 15) | infinity | (u16)(1u << (fraction_bits - 1)) | payload;
}

/* Rounds to nearest, then flushes as exec_flush_exact does. */
static inline u16 half_round_flushed(f64 value, unsigned fraction_bits, unsigned exponent_bits)
{
    const u16 bits = half_round(value, fraction_bits, exponent_bits, HALF_NEAREST);
    const int smallest = 2 - (1 << (exponent_bits - 1)), up = 8;
    if (!(fabs(value) < ldexp(1.0, smallest + 1))) return bits;
    const u16 rounded = half_round(ldexp(value, up), fraction_bits, exponent_bits, HALF_NEAREST);
    const bool tiny = (rounded & 0x7fffu) < (u32)(up + 1) << fraction_bits;
    return tiny ? bits & 0x8000 : bits;
}

/* Replaces a subnormal of the format by a zero of the same sign. */
static inline u16 half_flush(u16 bits, unsigned fraction_bits, unsigned exponent_bits)
{
    return (u32)bits >> fraction_bits & ((1u << exponent_bits) - 1) ? bits : bits & 0x8000;
}

#endif
