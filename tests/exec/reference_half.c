/* The PTX ISA 9.0's rules for f16 and bf16 instructions. A result is found by search: among all
 * values of the format, in order, the one that the rounding selects. */
#include "tests/exec/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 quad;
#else
typedef long double quad; /* has as many bits on Arm */
#endif

/* The non-negative finite values of a format, in order; index = bits. */
struct format {
    unsigned count;
    double values[0x7f80 + 1];
};

static const struct format *format_of(bool brain)
{
    static struct format formats[2];
    struct format *format = &formats[brain];
    if (format->count) return format;
    const unsigned fraction = brain ? 7 : 10;
    const int bias = brain ? 127 : 15;
    format->count = brain ? 0x7f80 : 0x7c00;
    for (unsigned bits = 0; bits <= format->count; bits++) {
        const int exponent = (int)(bits >> fraction);
        const double part = (double)(bits & ((1u << fraction) - 1)) / (1u << fraction);
        /* The last one is what would follow the largest value: the place of infinity. */
        format->values[bits] = exponent ? ldexp(1 + part, exponent - bias) : ldexp(part, 1 - bias);
    }
    return format;
}

static double widen(uint16_t bits, bool brain)
{
    const struct format *format = format_of(brain);
    const unsigned size = bits & 0x7fff;
    const double value = size > format->count    ? NAN
                         : size == format->count ? INFINITY
                                                 : format->values[size];
    return bits & 0x8000 ? -value : value;
}

enum rounding { NEAREST, ZERO, DOWN, UP };

static uint16_t narrow(quad value, bool brain, enum rounding rounding)
{
    const struct format *format = format_of(brain);
    if (value != value) return 0x7fff;
    const bool negative = value < 0 || (value == 0 && signbit((double)value));
    const quad size = negative ? -value : value;
    const uint16_t sign = negative ? 0x8000 : 0;
    if (size >= (quad)format->values[format->count]) {
        const bool infinite = size > (quad)1.7976931348623157e308 || rounding == NEAREST ||
                              (rounding != ZERO && (rounding == UP) != negative);
        return (uint16_t)(sign | (format->count - !infinite));
    }
    /* Finds the last value that is not larger. */
    unsigned low = 0, high = format->count;
    while (low + 1 < high) {
        const unsigned middle = (low + high) / 2;
        if ((quad)format->values[middle] <= size)
            low = middle;
        else
            high = middle;
    }
    const quad below = size - (quad)format->values[low];
    const quad above = (quad)format->values[low + 1] - size;
    bool up = false;
    if (below != 0) {
        if (rounding == NEAREST)
            up = above < below || (above == below && low % 2);
        else
            up = rounding != ZERO && (rounding == UP) != negative;
    }
    return (uint16_t)(sign | (low + up));
}

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

static uint16_t flushed(uint16_t bits, bool brain)
{
    return bits & (brain ? 0x7f80 : 0x7c00) ? bits : bits & 0x8000;
}

static quad saturated(quad value)
{
    return value != value || value <= 0 ? 0 : value > 1 ? 1 : value;
}

static enum rounding rounding_of(const struct compute_key *key)
{
    return compute_has(key, "rz")   ? ZERO
           : compute_has(key, "rm") ? DOWN
           : compute_has(key, "rp") ? UP
                                    : NEAREST;
}

static double extreme(const struct compute_key *key, double a, double b)
{
    if (compute_has(key, "xorsign")) {
        struct compute_key plain = *key;
        for (unsigned k = 1; k < plain.words; k++)
            if (!strcmp(plain.word[k], "xorsign")) strcpy(plain.word[k], "abs");
        const double size = extreme(&plain, fabs(a), fabs(b));
        return isnan(size) ? size : (signbit(a) != 0) != (signbit(b) != 0) ? -size : size;
    }
    const bool least = key->word[0][1] == 'i';
    if (isnan(a) || isnan(b)) return compute_has(key, "NaN") ? NAN : isnan(a) ? b : a;
    if (a == b) return (signbit(a) != 0) == least ? a : b;
    return (a < b) == least ? a : b;
}

/* Returns a sum that keeps a trace of an addend too small for it, to decide ties. */
static quad sum_of(quad product, quad addend)
{
    const quad sum = product + addend;
    const bool infinite = sum != sum || sum - sum != 0;
    if (infinite || sum - product == addend) return sum;
    const quad trace = (sum < 0 ? -sum : sum) * (quad)0x1p-100;
    return addend < 0 ? sum - trace : sum + trace;
}

/* Computes one value of an arithmetic instruction. `tolerance`: in units of the last place. */
static bool operate(const struct compute_key *key, bool brain, const uint16_t *bits,
                    uint16_t *result, unsigned *tolerance)
{
    const char *op = key->word[0];
    const bool flush = compute_has(key, "ftz");
    uint16_t in[3];
    for (unsigned k = 0; k < 3; k++) in[k] = flush ? flushed(bits[k], brain) : bits[k];
    const double a = widen(in[0], brain), b = widen(in[1], brain), c = widen(in[2], brain);
    quad value;
    *tolerance = 0;
    if (!strcmp(op, "abs") || !strcmp(op, "neg")) {
        *result = isnan(a) ? 0x7fff : *op == 'a' ? in[0] & 0x7fff : in[0] ^ 0x8000;
        return true;
    }
    if (!strcmp(op, "add"))
        value = (quad)a + b;
    else if (!strcmp(op, "sub"))
        value = (quad)a - b;
    else if (!strcmp(op, "mul"))
        value = (quad)a * b;
    else if (!strcmp(op, "fma"))
        value = sum_of((quad)a * b, c);
    else if (!strcmp(op, "min") || !strcmp(op, "max"))
        value = extreme(key, a, b);
    else if (!strcmp(op, "ex2"))
        value = exp2(a), *tolerance = 1;
    else if (!strcmp(op, "tanh"))
        value = tanh(a), *tolerance = 1;
    else
        return false;
    /* A zero sum has its sign by the rules of f64. */
    if (value == 0) {
        double zero = (double)value;
        if (!strcmp(op, "add")) zero = a + b;
        if (!strcmp(op, "sub")) zero = a - b;
        if (!strcmp(op, "mul")) zero = a * b;
        if (!strcmp(op, "fma")) zero = a * b + c;
        value = zero;
    }
    if (compute_has(key, "sat")) value = saturated(value);
    if (compute_has(key, "relu") && value <= 0) value = 0;
    *result = narrow(value, brain, NEAREST);
    /* Below the normal numbers after rounding with unlimited exponents. */
    const uint16_t scaled = narrow(value * 256, brain, NEAREST);
    const uint16_t smallest = (uint16_t)(9 << (brain ? 7 : 10));
    if (flush && (scaled & 0x7fff) < smallest) *result &= 0x8000;
    return true;
}

static bool compare(const char *how, double a, double b)
{
    const bool nan = isnan(a) || isnan(b);
    const size_t length = strlen(how);
    if (!strcmp(how, "num")) return !nan;
    if (!strcmp(how, "nan")) return nan;
    if (nan) return length == 3;
    if (!strncmp(how, "eq", 2)) return a == b;
    if (!strncmp(how, "ne", 2)) return a != b;
    return (how[0] == 'l' ? a < b : a > b) || (how[1] == 'e' && a == b);
}

static quad integer(uint64_t bits, const char *type)
{
    const unsigned width = compute_bits(type);
    bits &= UINT64_MAX >> (64 - width);
    if (*type == 's' && bits >> (width - 1) & 1)
        return -(quad)((~bits & (UINT64_MAX >> (64 - width))) + 1);
    return (quad)bits;
}

static quad exact_source(const char *from, const uint64_t *in, unsigned index)
{
    if (!strcmp(from, "f16")) return widen((uint16_t)in[index], false);
    if (!strcmp(from, "bf16")) return widen((uint16_t)in[index], true);
    if (!strcmp(from, "f32")) return float_of(in[index]);
    if (!strcmp(from, "f64")) return double_of(in[index]);
    return integer(in[index], from);
}

static void to_integer(const struct compute_key *key, double value, const char *type,
                       struct reference *reference)
{
    const unsigned bits = compute_bits(type);
    const bool is_signed = *type == 's';
    const double past = ldexp(1, (int)bits - is_signed);
    value = compute_has(key, "rni")   ? rint(value)
            : compute_has(key, "rzi") ? trunc(value)
            : compute_has(key, "rmi") ? floor(value)
                                      : ceil(value);
    int64_t result = 0;
    if (isnan(value))
        result = bits == 64 ? INT64_MIN : 0;
    else if (isinf(value) || value >= past || value < (is_signed ? -past : 0))
        result = (int64_t)(value > 0   ? UINT64_MAX >> (64 - bits + is_signed)
                           : is_signed ? UINT64_MAX << (bits - 1)
                                       : 0);
    else
        result = (int64_t)(value < 0 ? (uint64_t)(int64_t)value : (uint64_t)value);
    const unsigned width = bits < 16 ? 32 : bits;
    reference->out = (uint64_t)result & UINT64_MAX >> (64 - width);
}

static bool convert(const struct compute_key *key, const uint64_t *in, struct reference *reference)
{
    const char *from = compute_type(key, 0);
    const char *to = compute_type(key, 1);
    const bool brain = !strncmp(to, "bf16", 4);
    if (strcmp(key->word[0], "cvt") != 0) return false;
    if (*to == 'u' || *to == 's') {
        to_integer(key, widen((uint16_t)in[0], !strcmp(from, "bf16")), to, reference);
        return true;
    }
    if (!strcmp(to, "f32") || !strcmp(to, "f64")) {
        quad value = exact_source(from, in, 0);
        if (compute_has(key, "sat")) value = saturated(value);
        if (compute_has(key, "ftz") && fpclassify((float)value) == FP_SUBNORMAL)
            value = copysign(0, (double)value);
        const float single = (float)value;
        const double twofold = (double)value;
        uint32_t bits;
        memcpy(&bits, &single, 4);
        memcpy(&reference->out, &twofold, 8);
        if (!strcmp(to, "f32")) reference->out = isnan(single) ? 0x7fffffff : bits;
        /* The resulting NaN's payload is compared with a GPU's elsewhere. */
        reference->any_nan = isnan(twofold) && !compute_has(key, "ftz");
        return true;
    }
    const bool both = strstr(to, "x2") != NULL;
    uint64_t out = 0;
    for (unsigned k = 0; k <= both; k++) {
        /* The first source goes to the upper half. */
        quad value = exact_source(from, in, both ? 1 - k : 0);
        if (compute_has(key, "sat")) value = saturated(value);
        if (compute_has(key, "relu") && value <= 0) value = 0;
        if (compute_has(key, "rni")) value = rint((double)value);
        if (compute_has(key, "rzi")) value = trunc((double)value);
        if (compute_has(key, "rmi")) value = floor((double)value);
        if (compute_has(key, "rpi")) value = ceil((double)value);
        uint16_t bits = narrow(value, brain, rounding_of(key));
        if (!strcmp(from, "f64") && value != value && !compute_has(key, "sat")) {
            const unsigned fraction = brain ? 7 : 10;
            bits = (uint16_t)(in[0] >> 63 << 15 | (0x7fffu >> fraction << fraction) |
                              1u << (fraction - 1) | (in[0] << 12 >> (64 - fraction)));
        }
        if (compute_has(key, "satfinite") && (bits & 0x7fff) == format_of(brain)->count) bits--;
        out |= (uint64_t)bits << 16 * k;
    }
    reference->out = out;
    return true;
}

bool reference_half(const struct compute_key *key, const uint64_t *in, struct reference *reference)
{
    const char *type = compute_type(key, 0);
    const bool brain = !strncmp(type, "bf16", 4);
    if (!compute_has(key, "f16") && !compute_has(key, "bf16") && !compute_has(key, "f16x2") &&
        !compute_has(key, "bf16x2"))
        return false;
    if (convert(key, in, reference)) return true;
    const bool flush = compute_has(key, "ftz");
    if (!strcmp(key->word[0], "setp")) {
        uint16_t a = (uint16_t)in[0], b = (uint16_t)in[1];
        if (flush) a = flushed(a, brain), b = flushed(b, brain);
        reference->out = compare(key->word[1], widen(a, brain), widen(b, brain));
        reference->second = !reference->out;
        return true;
    }
    if (!strcmp(key->word[0], "set")) {
        const char *to = compute_type(key, 1);
        const uint64_t yes = !strcmp(to, "f16x2")    ? 0x3c00
                             : !strcmp(to, "bf16x2") ? 0x3f80
                                                     : 0xffff;
        for (unsigned k = 0; k < 32; k += 16) {
            uint16_t a = (uint16_t)(in[0] >> k), b = (uint16_t)(in[1] >> k);
            if (flush) a = flushed(a, brain), b = flushed(b, brain);
            if (compare(key->word[1], widen(a, brain), widen(b, brain))) reference->out |= yes << k;
        }
        return true;
    }
    uint64_t out = 0;
    unsigned tolerance = 0;
    for (unsigned k = 0; k <= (strstr(type, "x2") != NULL); k++) {
        const uint16_t parts[3] = {(uint16_t)(in[0] >> 16 * k), (uint16_t)(in[1] >> 16 * k),
                                   (uint16_t)(in[2] >> 16 * k)};
        uint16_t result;
        if (!operate(key, brain, parts, &result, &tolerance)) return false;
        out |= (uint64_t)result << 16 * k;
    }
    reference->out = out;
    return true;
}
