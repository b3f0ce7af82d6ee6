/* The errors that the PTX ISA 9.0 (9.7.3, 9.7.4) allows the approximate functions. */
#include "tests/differential/differential.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The true result, and the permitted distance from it. */
struct bound {
    long double value;
    long double relative, absolute;
    bool open; /* nothing is promised */
};

/* ---- values ------------------------------------------------------------------------------------
 */

static const struct {
    uint8_t bits, fraction;
} formats[DIFF_KIND_COUNT] = {
    [DIFF_F16] = {16, 10}, [DIFF_BF16] = {16, 7}, [DIFF_F32] = {32, 23}, [DIFF_F64] = {64, 52}};

static long double value_of(enum diff_kind kind, uint64_t bits)
{
    const unsigned width = formats[kind].bits, fraction = formats[kind].fraction;
    const int bias = (1 << (width - 2 - fraction)) - 1;
    const uint64_t sign = UINT64_C(1) << (width - 1), magnitude = bits & (sign - 1);
    const uint64_t mantissa = magnitude & ((UINT64_C(1) << fraction) - 1);
    const int exponent = (int)(magnitude >> fraction);
    long double value;
    if (exponent == 2 * bias + 1)
        value = mantissa ? (long double)NAN : (long double)INFINITY;
    else if (exponent)
        value = ldexpl((long double)(mantissa | UINT64_C(1) << fraction),
                       exponent - bias - (int)fraction);
    else
        value = ldexpl((long double)mantissa, 1 - bias - (int)fraction);
    return bits & sign ? -value : value;
}

static long double smallest_normal(enum diff_kind kind)
{
    const int bias = (1 << (formats[kind].bits - 2 - formats[kind].fraction)) - 1;
    return ldexpl(1, 1 - bias);
}

static long double largest(enum diff_kind kind)
{
    const int bias = (1 << (formats[kind].bits - 2 - formats[kind].fraction)) - 1;
    return ldexpl(2 - ldexpl(1, -(int)formats[kind].fraction), bias);
}

/* ---- the functions -----------------------------------------------------------------------------
 */

static struct bound sine(long double a, long double value)
{
    const long double size = fabsl(a), turn = 6.283185307179586476925L;
    return (struct bound){.value = value,
                          .absolute = size <= turn        ? 0x1p-20L * 0.7071067811865476L
                                      : size <= 50 * turn ? 0x1p-14L * 0.6155722066724582L
                                                          : 0,
                          .open = size > 50 * turn && !isinf(a)};
}

static struct bound division(const struct diff_form *form, long double a, long double b)
{
    struct bound bound = {.value = a / b, .relative = 0x1p-22L};
    /* div.approx by a divisor above 2^126 gives 0, of infinity NaN. */
    if (strstr(form->text, "approx") && fabsl(b) > 0x1p126L && !isinf(b) && !isnan(a))
        bound.value = isinf(a) ? (long double)NAN : copysignl(0, a) * copysignl(1, b);
    return bound;
}

static struct bound bound_of(const struct diff_form *form, enum diff_kind kind, long double a,
                             long double b)
{
    const char *name = form->text;
    const bool wide = kind == DIFF_F64;
    const long double coarse = kind == DIFF_F16 ? 0x1p-9L * 0.5358867312681466L : 0x1p-7L;
    if (!strncmp(name, "div", 3)) return division(form, a, b);
    if (!strncmp(name, "rcp", 3))
        return (struct bound){.value = 1 / a, .relative = wide ? 0x1p-19L : 0x1p-23L};
    if (!strncmp(name, "sqrt", 4)) return (struct bound){.value = sqrtl(a), .relative = 0x1p-23L};
    if (!strncmp(name, "rsqrt", 5))
        return (struct bound){.value = 1 / sqrtl(a),
                              .relative = !wide                 ? 0x1p-22L * 0.5358867312681466L
                                          : strstr(name, "ftz") ? 0x1p-19L
                                                                : 0x1p-51L};
    if (!strncmp(name, "sin", 3)) return sine(a, sinl(a));
    if (!strncmp(name, "cos", 3)) return sine(a, cosl(a));
    if (!strncmp(name, "lg2", 3)) {
        const bool near = a > 0.5L && a < 2;
        return (struct bound){
            .value = log2l(a), .relative = near ? 0 : 0x1p-22L, .absolute = near ? 0x1p-22L : 0};
    }
    if (!strncmp(name, "ex2", 3))
        return (struct bound){.value = exp2l(a), .relative = kind == DIFF_F32 ? 0x1p-22L : coarse};
    if (!strncmp(name, "tanh", 4))
        return (struct bound){.value = tanhl(a),
                              .relative = kind == DIFF_F32    ? 0x1p-11L
                                          : kind == DIFF_BF16 ? 0x1p-8L /* half a unit */
                                                              : 0,
                              .absolute = kind == DIFF_F16    ? 0x1p-10L * 0.5045766L
                                          : kind == DIFF_BF16 ? 0x1p-8L
                                                              : 0};
    return (struct bound){.open = true};
}

unsigned char diff_bound(const struct diff_form *form, const uint64_t *sources, uint64_t result,
                         unsigned half, char *why, size_t size)
{
    const bool pairs = form->result == DIFF_F16X2 || form->result == DIFF_BF16X2;
    const enum diff_kind kind = form->result == DIFF_F16X2    ? DIFF_F16
                                : form->result == DIFF_BF16X2 ? DIFF_BF16
                                                              : form->result;
    const uint64_t mask = pairs ? 0xffff : UINT64_MAX;
    const unsigned shift = pairs ? 16 * half : 0;
    const bool ftz = strstr(form->text, ".ftz") != NULL;
    const long double tiny = smallest_normal(kind);
    long double operand[2] = {0, 0};
    for (unsigned k = 0; k < form->sources && k < 2; k++) {
        /* .approx.ftz.f64 reads the upper word only: a NaN with its bits in the lower word counts
         * as infinite. */
        const uint64_t read = kind == DIFF_F64 && ftz ? sources[k] >> 32 << 32 : sources[k];
        operand[k] = value_of(kind, read >> shift & mask);
        if (ftz && fabsl(operand[k]) < tiny) operand[k] = copysignl(0, operand[k]);
    }
    const struct bound bound = bound_of(form, kind, operand[0], operand[1]);
    const long double got = value_of(kind, result >> shift & mask);
    *why = 0;
    if (bound.open) return '?';
    /* One unit for rounding the result, in addition to the function's own error. */
    const long double unit = ldexpl(tiny, -(int)formats[kind].fraction);
    const long double slack =
        bound.absolute + bound.relative * fabsl(bound.value) + (ftz ? tiny : unit);
    bool right;
    if (isnan(bound.value))
        right = isnan(got);
    else if (isinf(bound.value))
        right = got == bound.value;
    else if (isinf(got))
        right = fabsl(bound.value) + slack >= largest(kind) && (got > 0) == (bound.value > 0);
    else
        right = fabsl(got - bound.value) <= slack;
    if (!right)
        snprintf(why, size, "%s of %.9Lg, %.9Lg is %.9Lg, %.3Lg times the error allowed from %.9Lg",
                 form->text, operand[0], operand[1], got, fabsl(got - bound.value) / slack,
                 bound.value);
    if (isnan(got)) return 'n';
    if (isinf(got)) return got > 0 ? 'I' : 'i';
    if (bound.value == 0) return signbit(got) ? 'z' : 'Z';
    return 'f';
}
