/* The PTX ISA 9.0's rules for f32 and f64 instructions (9.7.3, 9.7.6, 9.7.9.21). Arithmetic is done
 * in long double, whose 64-bit fraction makes a single rounding to f32 correct, and by the host's
 * own division, root and fma for f64. */
#include "tests/exec/reference.h"

#include <fenv.h>
#include <math.h>
#include <string.h>

static float float_of(uint64_t bits)
{
    const uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, 4);
    return value;
}

static double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, 8);
    return value;
}

static uint64_t bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

static uint64_t bits_of_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return bits;
}

static float flushed(float value)
{
    return fpclassify(value) == FP_SUBNORMAL ? copysignf(0, value) : value;
}

/* A result is flushed when it is below the normal numbers after rounding with unlimited
 * exponents. */
static float flushed_result(float value, long double exact)
{
    const float rounded = (float)(exact * 0x1p64L);
    return fabsf(rounded) < 0x1p-62f ? copysignf(0, value) : value;
}

/* Sets the result of an f32 instruction, applying the common rules. */
static void finish(const struct compute_key *key, float value, struct reference *reference)
{
    if (compute_has(key, "ftz")) value = flushed(value);
    if (compute_has(key, "sat")) value = isnan(value) || value < 0 ? 0 : value > 1 ? 1 : value;
    if (compute_has(key, "sat") && value == 0) value = 0;
    reference->out = isnan(value) ? 0x7fffffff : bits_of_float(value);
}

static void finish_double(const struct compute_key *key, double value, struct reference *reference)
{
    if (compute_has(key, "sat")) value = isnan(value) || value <= 0 ? 0 : value > 1 ? 1 : value;
    reference->out = bits_of_double(value);
    reference->any_nan = isnan(value);
}

/* PTX's minimum and maximum: -0 is below +0; a single NaN loses unless .NaN. */
static double extreme(const struct compute_key *key, double a, double b)
{
    const bool least = key->word[0][1] == 'i';
    if (isnan(a) || isnan(b)) return compute_has(key, "NaN") ? NAN : isnan(a) ? b : a;
    if (a == b) return (signbit(a) != 0) == least ? a : b;
    return (a < b) == least ? a : b;
}

static bool compare(const char *how, double a, double b, bool *result)
{
    const bool nan = isnan(a) || isnan(b);
    static const struct {
        const char *name;
        bool less, equal, greater, unordered;
    } hows[] = {{"eq", false, true, false, false}, {"ne", true, false, true, false},
                {"lt", true, false, false, false}, {"le", true, true, false, false},
                {"gt", false, false, true, false}, {"ge", false, true, true, false},
                {"equ", false, true, false, true}, {"neu", true, false, true, true},
                {"ltu", true, false, false, true}, {"leu", true, true, false, true},
                {"gtu", false, false, true, true}, {"geu", false, true, true, true},
                {"num", true, true, true, false},  {"nan", false, false, false, true}};
    for (size_t k = 0; k < sizeof hows / sizeof *hows; k++) {
        if (strcmp(hows[k].name, how) != 0) continue;
        *result = nan      ? hows[k].unordered
                  : a < b  ? hows[k].less
                  : a == b ? hows[k].equal
                           : hows[k].greater;
        return true;
    }
    return false;
}

static bool test(const struct compute_key *key, double a, bool wide, bool *result)
{
    const double smallest = wide ? 0x1p-1022 : 0x1p-126;
    const char *what = key->word[1];
    const bool number = !isnan(a);
    const bool normal = number && !isinf(a) && (fabs(a) >= smallest || a == 0);
    if (!strcmp(what, "finite"))
        *result = number && !isinf(a);
    else if (!strcmp(what, "infinite"))
        *result = isinf(a);
    else if (!strcmp(what, "number"))
        *result = number;
    else if (!strcmp(what, "notanumber"))
        *result = !number;
    else if (!strcmp(what, "normal"))
        *result = normal;
    else if (!strcmp(what, "subnormal"))
        *result = number && !isinf(a) && !normal && a != 0;
    else
        return false;
    return true;
}

static void approximate(struct reference *reference, double value, double relative, double absolute)
{
    reference->value = value;
    reference->relative = relative;
    reference->absolute = absolute;
}

/* The approximate functions of f32, with the errors of the ISA's tables. */
static bool approximation(const struct compute_key *key, float a, float b,
                          struct reference *reference)
{
    const char *op = key->word[0];
    double value;
    double relative = 0x1p-22, absolute = 0;
    if (!strcmp(op, "sin") || !strcmp(op, "cos")) {
        value = *op == 's' ? sin((double)a) : cos((double)a);
        absolute = 0x1p-20;
        if (fabsf(a) > 1e4f) absolute = 2; /* the ISA promises nothing there */
    } else if (!strcmp(op, "lg2")) {
        value = log2((double)a);
        absolute = 0x1p-22;
    } else if (!strcmp(op, "ex2")) {
        value = exp2((double)a);
    } else if (!strcmp(op, "tanh")) {
        value = tanh((double)a);
        relative = 0x1p-10;
    } else if (!strcmp(op, "rsqrt")) {
        value = 1 / sqrt((double)a);
    } else if (!strcmp(op, "div") && compute_has(key, "approx")) {
        value = (double)a / b;
        const float size = fabsf(b);
        if (size > 0x1p126f && size < INFINITY && !isnan(a))
            value = isinf(a) ? NAN : copysign(0.0, (double)a / b);
    } else {
        return false;
    }
    float rounded = (float)value;
    if (compute_has(key, "ftz")) rounded = flushed(rounded);
    finish(key, rounded, reference);
    if (!isnan(rounded) && !isinf(rounded) && rounded != 0)
        approximate(reference, value, relative, absolute + 0x1p-149);
    return true;
}

static bool single(const struct compute_key *key, const uint64_t *in, struct reference *reference)
{
    const char *op = key->word[0];
    const bool flush = compute_has(key, "ftz");
    float a = float_of(in[0]), b = float_of(in[1]), c = float_of(in[2]);
    if (flush) a = flushed(a), b = flushed(b), c = flushed(c);
    bool truth;
    if (!strcmp(op, "setp") && compare(key->word[1], a, b, &truth)) {
        reference->out = truth;
        reference->second = !truth;
        return true;
    }
    if (!strcmp(op, "testp") && test(key, a, false, &truth)) {
        reference->out = truth;
        return true;
    }
    if (!strcmp(op, "copysign")) {
        reference->out = (in[0] & 0x80000000) | (in[1] & 0x7fffffff);
        return true;
    }
    if (approximation(key, a, b, reference)) return true;
    float value;
    long double exact = 1;
    if (!strcmp(op, "add"))
        value = (float)((long double)a + b);
    else if (!strcmp(op, "sub"))
        value = (float)((long double)a - b);
    else if (!strcmp(op, "mul"))
        value = (float)(exact = (long double)a * b);
    else if (!strcmp(op, "div"))
        value = (float)(exact = (long double)a / b);
    else if (!strcmp(op, "fma") || !strcmp(op, "mad"))
        value = fmaf(a, b, c), exact = (long double)a * b + c;
    else if (!strcmp(op, "rcp"))
        value = (float)(exact = 1.0L / a);
    else if (!strcmp(op, "sqrt"))
        value = (float)sqrtl(a);
    else if (!strcmp(op, "abs"))
        value = fabsf(a);
    else if (!strcmp(op, "neg"))
        value = -a;
    else if (!strcmp(op, "min3") || !strcmp(op, "max3"))
        value = (float)extreme(key, extreme(key, a, b), c);
    else if (!strcmp(op, "min") || !strcmp(op, "max")) {
        if (compute_has(key, "xorsign")) {
            value = (float)extreme(key, fabsf(a), fabsf(b));
            if (!isnan(value)) value = (signbit(a) != 0) != (signbit(b) != 0) ? -value : value;
        } else {
            value = (float)extreme(key, a, b);
        }
    } else
        return false;
    if (flush) value = flushed_result(value, exact);
    finish(key, value, reference);
    return true;
}

static bool twofold(const struct compute_key *key, const uint64_t *in, struct reference *reference)
{
    const char *op = key->word[0];
    double a = double_of(in[0]);
    const double b = double_of(in[1]), c = double_of(in[2]);
    bool truth;
    double value;
    if (!strcmp(op, "setp") && compare(key->word[1], a, b, &truth)) {
        reference->out = truth;
        reference->second = !truth;
        return true;
    }
    if (!strcmp(op, "testp") && test(key, a, true, &truth)) {
        reference->out = truth;
        return true;
    }
    if (compute_has(key, "approx")) {
        /* Uses the upper word only. */
        if (compute_has(key, "ftz")) a = double_of(in[0] >> 32 << 32);
        if (fpclassify(a) == FP_SUBNORMAL && compute_has(key, "ftz")) a = copysign(0, a);
        value = !strcmp(op, "rcp") ? 1 / a : 1 / sqrt((double)a);
        if (fpclassify(value) == FP_SUBNORMAL) value = copysign(0, value);
        finish_double(key, value, reference);
        if (isfinite(value) && value != 0) approximate(reference, value, 0x1p-20, 0);
        return true;
    }
    if (!strcmp(op, "add"))
        value = a + b;
    else if (!strcmp(op, "sub"))
        value = a - b;
    else if (!strcmp(op, "mul"))
        value = a * b;
    else if (!strcmp(op, "div"))
        value = a / b;
    else if (!strcmp(op, "fma") || !strcmp(op, "mad"))
        value = fma(a, b, c);
    else if (!strcmp(op, "rcp"))
        value = 1 / a;
    else if (!strcmp(op, "sqrt"))
        value = sqrt((double)a);
    else if (!strcmp(op, "abs"))
        value = fabs(a);
    else if (!strcmp(op, "neg"))
        value = -a;
    else if (!strcmp(op, "min") || !strcmp(op, "max"))
        value = extreme(key, a, b);
    else if (!strcmp(op, "copysign"))
        value = double_of((in[0] & UINT64_C(1) << 63) | (in[1] & ~(UINT64_C(1) << 63)));
    else
        return false;
    finish_double(key, value, reference);
    return true;
}

/* ---- cvt
 * ------------------------------------------------------------------------------------------- */

static long double whole(const struct compute_key *key, long double value)
{
    if (compute_has(key, "rni")) return rintl(value);
    if (compute_has(key, "rzi")) return truncl(value);
    if (compute_has(key, "rmi")) return floorl(value);
    if (compute_has(key, "rpi")) return ceill(value);
    return value;
}

static void to_integer(const struct compute_key *key, long double value, bool wide_source,
                       struct reference *reference)
{
    const char *type = compute_type(key, 1);
    const unsigned bits = compute_bits(type);
    const bool is_signed = *type == 's';
    const long double past = ldexpl(1, (int)bits - is_signed);
    uint64_t result;
    value = whole(key, value);
    if (isnan(value))
        result = wide_source || bits == 64 ? UINT64_C(1) << (bits - 1) : 0;
    else if (value >= past)
        result = UINT64_MAX >> (64 - bits + is_signed);
    else if (value < (is_signed ? -past : 0))
        result = is_signed ? UINT64_C(1) << (bits - 1) : 0;
    else
        result = value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value;
    /* The register has at least 16 bits, and 32 for bytes: the result is extended by the type's
     * sign. */
    if (bits < 16) {
        result &= UINT64_MAX >> (64 - bits);
        if (is_signed && result >> (bits - 1) & 1) result |= UINT64_MAX << bits;
        reference->out = result & 0xffffffff;
    } else {
        reference->out = result & (UINT64_MAX >> (64 - bits));
    }
}

static long double integer(uint64_t bits, const char *type)
{
    const unsigned width = compute_bits(type);
    bits &= UINT64_MAX >> (64 - width);
    if (*type == 's' && bits >> (width - 1) & 1)
        return (long double)(int64_t)(width == 64 ? bits : bits | UINT64_MAX << width);
    return (long double)bits;
}

/* tf32: one of the two neighbouring values with 11 significant bits, by the rounding mode. */
static uint32_t tf32(const struct compute_key *key, uint32_t bits)
{
    const float value = float_of(bits);
    if (compute_has(key, "rna") && !isfinite(value))
        return (bits & ~0x1fffu) - (compute_has(key, "satfinite") ? 0x2000 : 0);
    if (isnan(value)) return 0x7fffe000;
    if (compute_has(key, "relu") && value <= 0) return 0;
    uint32_t below = bits & ~0x1fffu;
    const uint32_t above = below + 0x2000;
    const uint32_t rest = bits - below;
    const bool tie = rest == 0x1000;
    const bool odd = below >> 13 & 1;
    if (isfinite(value) && !compute_has(key, "rz") &&
        (rest > 0x1000 || (tie && (odd || compute_has(key, "rna")))))
        below = above;
    if (compute_has(key, "satfinite") && (below & 0x7fffffff) == 0x7f800000) below -= 0x2000;
    return below;
}

static bool convert(const struct compute_key *key, const uint64_t *in, struct reference *reference)
{
    const char *from = compute_type(key, 0);
    const char *to = compute_type(key, 1);
    const bool wide = !strcmp(from, "f64");
    if (strcmp(key->word[0], "cvt") != 0 || (*from != 'f' && *to != 'f' && *to != 't'))
        return false;
    if (!strcmp(to, "tf32")) {
        reference->out = tf32(key, (uint32_t)in[0]);
        return true;
    }
    float single_value = float_of(in[0]);
    if (compute_has(key, "ftz")) single_value = flushed(single_value);
    const long double value = wide           ? double_of(in[0])
                              : *from == 'f' ? (long double)single_value
                                             : integer(in[0], from);
    if (*to == 'u' || *to == 's')
        to_integer(key, value, wide, reference);
    else if (!strcmp(to, "f32")) {
        float rounded = (float)whole(key, value);
        if (wide && compute_has(key, "ftz")) rounded = flushed_result(rounded, value);
        finish(key, rounded, reference);
        /* A NaN keeps its payload, as the comparison with a GPU showed. */
        reference->any_nan = isnan(rounded) && !compute_has(key, "sat");
    } else if (!strcmp(to, "f64"))
        finish_double(key, (double)whole(key, value), reference);
    else
        return false;
    return true;
}

bool reference_float(const struct compute_key *key, const uint64_t *in, struct reference *reference)
{
    const char *type = compute_type(key, 0);
    if (compute_has(key, "f16") || compute_has(key, "bf16") || compute_has(key, "f16x2") ||
        compute_has(key, "bf16x2"))
        return false;
    if (convert(key, in, reference)) return true;
    if (!strcmp(type, "f32")) return single(key, in, reference);
    if (!strcmp(type, "f64")) return twofold(key, in, reference);
    return false;
}

/* ---- directed roundings
 * -------------------------------------------------------------------------- */

bool reference_directed(const struct compute_key *key, const uint64_t *in,
                        struct reference *reference)
{
    struct compute_key plain = *key;
    const char *mode = key->word[1];
    strcpy(plain.word[1], "rn");
    /* Uses the host's rounding mode, with values unknown to the compiler. f32 results go through
     * long double and are rounded twice in the same direction, which is still right. */
    fesetround(!strcmp(mode, "rz") ? FE_TOWARDZERO : !strcmp(mode, "rm") ? FE_DOWNWARD : FE_UPWARD);
    const bool known = reference_float(&plain, in, reference);
    fesetround(FE_TONEAREST);
    return known;
}
