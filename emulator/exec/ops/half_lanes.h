/* exec_half_lanes: arithmetic of the 16-bit floating-point formats f16 and bf16 without branches,
 * so that loops over lanes are vectorised. Values are f32, which both formats convert to exactly;
 * the way back rounds to nearest once: what the format cannot hold is computed exactly, or rounded
 * to odd, or to a format with more than twice as many bits, after which rounding again does no
 * harm. Other roundings, and formats by parameters, are in ops/half.h. Private to emulator/exec's
 * handlers.
 */
#ifndef OVERLAP_EXEC_OPS_HALF_LANES_H
#define OVERLAP_EXEC_OPS_HALF_LANES_H

#include "emulator/exec/ops/float.h"

#define HALF_NAN 0x7fffu /* canonical, in both formats */

/* What is added to an f16's exponent to make it an f32's, and twice that for infinity and NaN. */
#define HALF_BIAS (112u << 23)

static inline f32 half_from_f16(u16 bits)
{
    const u32 size = (bits & 0x7fffu) << 13, exponent = bits & 0x7c00u;
    /* A subnormal counts units of 2^-24, as 2^-14 plus it does in its fraction. */
    const u32 small = exec_bits32(exec_f32(size + (113u << 23)) - 0x1p-14f);
    const u32 number = size + (exponent == 0x7c00u ? 2 * HALF_BIAS : HALF_BIAS);
    return exec_f32((exponent == 0 ? small : number) | (u32)(bits & 0x8000u) << 16);
}

static inline f32 half_from_bf16(u16 bits)
{
    return exec_f32((u32)bits << 16);
}

static inline u16 half_to_f16(f32 value)
{
    const u32 bits = exec_bits32(value), size = bits & 0x7fffffffu;
    const u32 normal = (size - HALF_BIAS + 0xfff + (size >> 13 & 1)) >> 13;
    /* Below 2^-14 the last place is 2^-24, as it is in f32 from 0.5 on. */
    const u32 small = exec_bits32(exec_f32(size) + 0.5f) - exec_bits32(0.5f);
    const u32 finite = size < exec_bits32(0x1p-14f) ? small : normal;
    const u32 number = size >= exec_bits32(0x1p16f) ? 0x7c00u : finite;
    return (u16)(size > 0x7f800000u ? HALF_NAN : (bits >> 16 & 0x8000u) | number);
}

static inline u16 half_to_bf16(f32 value)
{
    const u32 bits = exec_bits32(value);
    const u32 number = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return (u16)((bits & 0x7fffffffu) > 0x7f800000u ? HALF_NAN : number);
}

/* Rounds to odd: of the two numbers next to a value that f32 cannot hold, the one whose last bit is
 * set. */
static inline f32 half_to_odd(f64 value)
{
    const f32 near = (f32)value;
    const f64 back = near;
    const u32 bits = exec_bits32(near), step = fabs(back) > fabs(value) ? UINT32_MAX : 1;
    const bool inexact = back < value || back > value;
    return exec_f32(inexact && !(bits & 1) ? bits + step : bits);
}

/* 2 to the power of x, cut off after the format's last place, as an H200 does
 * (tests/gpu/halves.cu); a power just below 1 counts as 1 there. bf16 flushes subnormals. */
static inline f32 half_exp2(f32 x)
{
    return exec_exp2(x < 0 && x > -0x1p-23f ? 0 : x);
}

static inline u16 half_exp2_f16(u16 x)
{
    const f32 power = half_exp2(half_from_f16(x));
    const u32 bits = exec_bits32(power), units = (u32)(s32)((power < 1 ? power : 0) * 0x1p24f);
    const u32 finite = bits < exec_bits32(0x1p-14f) ? units : (bits - HALF_BIAS) >> 13;
    const u32 number = bits >= exec_bits32(0x1p16f) ? 0x7c00u : finite;
    return (u16)(power != power ? HALF_NAN : number);
}

static inline u16 half_exp2_bf16(u16 x)
{
    const f32 power = half_exp2(half_from_bf16(x));
    return (u16)(power != power ? HALF_NAN : exec_bits32(exec_flush(power)) >> 16);
}

/* a * b + c, rounded to odd; a * b must be exact. */
static inline f32 half_fma32(f32 a, f32 b, f32 c)
{
    const f32 product = a * b, sum = product + c, part = sum - product;
    const f32 error = (product - (sum - part)) + (c - part);
    const u32 bits = exec_bits32(sum);
    const u32 step = (bits ^ exec_bits32(error)) >> 31 ? UINT32_MAX : 1;
    const bool inexact = error < 0 || error > 0;
    return exec_f32(inexact && !(bits & 1) ? bits + step : bits);
}

static inline f64 half_fma64(f64 a, f64 b, f64 c)
{
    const f64 product = a * b, sum = product + c, part = sum - product;
    const f64 error = (product - (sum - part)) + (c - part);
    const u64 bits = exec_bits64(sum);
    const u64 step = (bits ^ exec_bits64(error)) >> 63 ? UINT64_MAX : 1;
    const bool inexact = error < 0 || error > 0;
    return exec_f64(inexact && !(bits & 1) ? bits + step : bits);
}

static inline u16 half_canonical(u16 bits, u16 infinity)
{
    return (u16)((bits & 0x7fffu) > infinity ? HALF_NAN : bits);
}

/* The smaller or larger of x and y, whose bits are a and b. -0 is smaller than +0. */
static inline u16 half_lesser(f32 x, f32 y, u16 a, u16 b, bool nan)
{
    const u32 ordered = x == y ? a | b : x < y ? a : b;
    const u32 lone = nan || (x != x && y != y) ? HALF_NAN : x != x ? b : a;
    return (u16)(x != x || y != y ? lone : ordered);
}

static inline u16 half_larger(f32 x, f32 y, u16 a, u16 b, bool nan)
{
    const u32 ordered = x == y ? a & b : x > y ? a : b;
    const u32 lone = nan || (x != x && y != y) ? HALF_NAN : x != x ? b : a;
    return (u16)(x != x || y != y ? lone : ordered);
}

#endif
