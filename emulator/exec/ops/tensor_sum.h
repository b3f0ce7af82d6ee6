/* tensor_sum: how a tensor core adds the products of one element of d = a * b + c when the sum is a
 * float. Integers are not added here, nor are doubles, which are a chain of fma.
 *
 * NVIDIA does not document the rules. All measurements on an H200 (tests/gpu/tensor_sums.cu) agree
 * with these: products are exact; the products of one instruction and c are aligned to the largest
 * exponent among them, with 25 bits behind the point, and each is truncated by itself; they are
 * added exactly, and the sum is truncated to f32 or rounded to f16. The exponent of a product is
 * the sum of its factors' exponents, even where the product is 2 or more. A sum that is zero, or
 * rounds to zero, is +0. Other GPU generations keep other numbers of bits.
 *
 * wgmma keeps of floats of 8 bits 13 bits behind the point, of a sum of f32 too; one of f16 is
 * rounded from the sum as it is (tests/gpu/wgmma.cu).
 */
#ifndef OVERLAP_EXEC_OPS_TENSOR_SUM_H
#define OVERLAP_EXEC_OPS_TENSOR_SUM_H

#include "emulator/exec/ops/float.h"

enum {
    TENSOR_BITS = 25,      /* behind the point of the largest number */
    TENSOR_COARSE = 13,    /* the same in a coarse sum */
    TENSOR_FACTOR = 10,    /* behind the point of a factor: f16 and tf32 have so many, bf16 fewer */
    TENSOR_ADDEND = 23,    /* behind the point of c, an f32 */
    TENSOR_NOTHING = -999, /* the exponent of 0, below that of any product */
    TENSOR_COLUMNS = 32,   /* at most */
    TENSOR_MOST = 32 * 16, /* elements of a matrix of factors, at most */
};

/* A number is size * 2^(exponent - the bits behind its point). */
struct tensor_parts {
    s32 size, exponent;
};

/* Splits a value; `behind`: the bits kept behind the point. `least`: the exponent of the type's
 * subnormals. */
static inline struct tensor_parts tensor_part(f32 value, s32 behind, s32 least)
{
    const u32 bits = exec_bits32(value), field = bits >> 23 & 255;
    const u32 all = (bits & 0x7fffffu) | (field > 0 ? 1u << 23 : 0);
    const s32 exponent = (field > 0 ? (s32)field : 1) - 127;
    const s32 below = exponent < least ? least - exponent : 0;
    const s32 lost = 23 - behind + below; /* for 0 more bits than a word has */
    const s32 size = lost < 32 ? (s32)(all >> lost) : 0;
    return (struct tensor_parts){.size = bits >> 31 ? -size : size,
                                 .exponent = all > 0 ? exponent + below : TENSOR_NOTHING};
}

/* Returns the size in units of 2^-TENSOR_BITS of the largest number, whose exponent is `lower`
 * above this one's; `mask`: the bits that are kept. */
static inline s64 tensor_align(s32 size, s32 behind, s32 lower, u32 mask)
{
    const u32 all = (u32)(size < 0 ? -size : size) << (TENSOR_BITS - behind);
    const s32 kept = (s32)((lower < 31 ? all >> lower : 0) & mask);
    return size < 0 ? -kept : kept;
}

/* Computes sum * 2^exponent exactly: sums have at most 34 bits, and exponents are those of two
 * factors. */
static inline f64 tensor_scale(s64 sum, s32 exponent)
{
    return (f64)sum * exec_f64((u64)(exponent + 1023) << 52);
}

/* Truncates to f32. `odd`: sets the last bit if anything was cut off, so that rounding the result
 * to f16 rounds only once. */
static inline f32 tensor_cut(f64 value, bool odd)
{
    const f32 near = (f32)value;
    const f64 size = fabs(value);
    u32 bits = exec_bits32(near);
    if (size >= 0x1p128) return value < 0 ? -(f32)INFINITY : (f32)INFINITY;
    if (fabs((f64)near) > size) bits--;
    if ((bits & 0x7fffffffu) == 0) bits = 0;
    return exec_f32(odd && (f64)exec_f32(bits) != value ? bits | 1 : bits);
}

static inline bool tensor_is_finite(f32 value)
{
    return (exec_bits32(value) & 0x7f800000u) != 0x7f800000u;
}

/* Returns true when there is an infinity or NaN among the values. */
static inline bool tensor_has_special(const f32 *values, unsigned count)
{
    bool any = false;
    for (unsigned i = 0; i < count; i++) any |= !tensor_is_finite(values[i]);
    return any;
}

/* Sums with infinities and NaN depend on neither order nor truncation. Returns false when the
 * element has none of these. */
static inline bool tensor_special(const f32 *a, const f32 *b, f32 *c, unsigned n, unsigned k)
{
    bool any = !tensor_is_finite(*c);
    f64 sum = *c; /* an f64, in which products of finite numbers are finite */
    for (unsigned i = 0; i < k; i++) {
        any |= !tensor_is_finite(a[i]) || !tensor_is_finite(b[i * n]);
        sum += (f64)a[i] * b[i * n];
    }
    if (any) *c = (f32)sum;
    return any;
}

/* Computes one row of c from the parts of a's row and of all of b. */
static inline void tensor_row(const struct tensor_parts *a, const struct tensor_parts *b, f32 *c,
                              unsigned n, unsigned k, s32 least_c, bool odd, bool coarse)
{
    const u32 mask = coarse ? ~0u << (TENSOR_BITS - TENSOR_COARSE) : ~0u;
    s32 top[TENSOR_COLUMNS];
    s64 sum[TENSOR_COLUMNS];
    struct tensor_parts addend[TENSOR_COLUMNS];

    for (unsigned j = 0; j < n; j++) {
        addend[j] = tensor_part(c[j], TENSOR_ADDEND, least_c);
        top[j] = addend[j].exponent;
    }
    for (unsigned i = 0; i < k; i++)
        for (unsigned j = 0; j < n; j++) {
            const s32 exponent = a[i].exponent + b[i * n + j].exponent;
            top[j] = exponent > top[j] ? exponent : top[j];
        }
    for (unsigned j = 0; j < n; j++)
        sum[j] = tensor_align(addend[j].size, TENSOR_ADDEND, top[j] - addend[j].exponent, mask);
    for (unsigned i = 0; i < k; i++)
        for (unsigned j = 0; j < n; j++) {
            const struct tensor_parts *other = &b[i * n + j];
            sum[j] += tensor_align(a[i].size * other->size, 2 * TENSOR_FACTOR,
                                   top[j] - a[i].exponent - other->exponent, mask);
        }
    for (unsigned j = 0; j < n; j++)
        c[j] = sum[j] == 0 ? 0.0f : tensor_cut(tensor_scale(sum[j], top[j] - TENSOR_BITS), odd);
    for (unsigned j = 0; coarse && !odd && j < n; j++)
        if (tensor_is_finite(c[j]))
            c[j] = exec_f32(exec_bits32(c[j]) & ~0u << (TENSOR_ADDEND - TENSOR_COARSE));
}

/* c += a * b, where a is m x k and b is k x n. `least`: the exponents of their types' subnormals.
 * `odd`: the result will be rounded to f16. */
static inline void tensor_sums(const f32 *a, const f32 *b, f32 *c, const unsigned shape[3],
                               const s32 least[3], bool odd, bool coarse)
{
    const unsigned m = shape[0], n = shape[1], k = shape[2];
    struct tensor_parts first[TENSOR_MOST], second[TENSOR_MOST];
    const bool special = tensor_has_special(a, m * k) || tensor_has_special(b, k * n) ||
                         tensor_has_special(c, m * n);

    for (unsigned i = 0; i < m * k; i++) first[i] = tensor_part(a[i], TENSOR_FACTOR, least[0]);
    for (unsigned i = 0; i < k * n; i++) second[i] = tensor_part(b[i], TENSOR_FACTOR, least[1]);
    for (unsigned row = 0; row < m; row++) {
        f32 *const to = c + row * n;
        f32 before[TENSOR_COLUMNS];
        memcpy(before, to, n * sizeof *to);
        tensor_row(first + row * k, second, to, n, k, least[2], odd, coarse);
        for (unsigned j = 0; special && j < n; j++)
            if (tensor_special(a + row * k, b + j, &before[j], n, k)) to[j] = before[j];
    }
}

#endif
