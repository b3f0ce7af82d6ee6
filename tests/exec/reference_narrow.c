/* The PTX ISA 9.0's rules for formats below 16 bits, for cvt.pack and for pairs of f32. A format is
 * a list of its values, written from its definition; conversion to it searches for the nearest. */
#include "tests/exec/reference.h"

#include <math.h>
#include <string.h>

/* ---- the formats -------------------------------------------------------------------------------
 */

struct format {
    const char *name;
    unsigned bits, fraction;
    int bias;
    unsigned finite; /* number of non-negative finite codes */
    bool has_nan, has_infinity;
};

static const struct format formats[] = {{"e4m3x2", 8, 3, 7, 127, true, false},
                                        {"e5m2x2", 8, 2, 15, 124, true, true},
                                        {"e2m3x2", 6, 3, 1, 32, false, false},
                                        {"e3m2x2", 6, 2, 3, 32, false, false},
                                        {"e2m1x2", 4, 1, 1, 8, false, false}};

static const struct format *format_of(const char *type)
{
    for (size_t k = 0; k < sizeof formats / sizeof *formats; k++)
        if (!strcmp(type, formats[k].name)) return &formats[k];
    return NULL;
}

static double value_of(const struct format *format, unsigned code)
{
    const unsigned sign = code >> (format->bits - 1) & 1;
    const unsigned size = code & ((1u << (format->bits - 1)) - 1);
    double value;
    if (size >= format->finite) {
        value = format->has_infinity && size == format->finite ? INFINITY : NAN;
    } else {
        const int exponent = (int)(size >> format->fraction);
        const double part = (double)(size % (1u << format->fraction)) / (1u << format->fraction);
        value = exponent ? (1 + part) * pow(2, exponent - format->bias)
                         : part * pow(2, 1 - format->bias);
    }
    return sign ? -value : value;
}

/* Returns the nearest code, the even one of a tie; values larger than all give the largest. */
static unsigned code_of(const struct format *format, double value)
{
    const unsigned sign = signbit(value) ? 1u << (format->bits - 1) : 0;
    unsigned best = 0;
    if (isnan(value)) return format->has_nan ? 0x7f : format->finite - 1;
    if (fabs(value) > value_of(format, format->finite - 1)) return sign | (format->finite - 1);
    for (unsigned code = 1; code < format->finite; code++) {
        const double old = fabs(fabs(value) - value_of(format, best));
        const double now = fabs(fabs(value) - value_of(format, code));
        if (now < old || (now == old && code % 2 == 0)) best = code;
    }
    return best | sign;
}

/* ---- f16 and f32 -------------------------------------------------------------------------------
 */

static double of_float(uint64_t bits)
{
    const uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, 4);
    return (double)value;
}

static uint64_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return isnan(value) ? 0x7fffffff : bits;
}

static double of_half(unsigned bits)
{
    const unsigned exponent = bits >> 10 & 31, part = bits & 1023;
    double value =
        exponent ? (1 + part / 1024.0) * pow(2, (int)exponent - 15) : part / 1024.0 * pow(2, -14);
    if (exponent == 31) value = part ? NAN : INFINITY;
    return bits & 0x8000 ? -value : value;
}

/* Returns the bits of a value that f16 can represent. */
static unsigned half_bits(double value)
{
    if (isnan(value)) return 0x7fff;
    for (unsigned bits = 0; bits <= 0x7c00; bits++)
        if (of_half(bits) == fabs(value)) return bits | (signbit(value) ? 0x8000u : 0);
    return 0xdead;
}

static double relu(const struct compute_key *key, double value)
{
    return compute_has(key, "relu") && value <= 0 ? 0 : value;
}

/* ---- the whole ---------------------------------------------------------------------------------
 */

static bool convert(const struct compute_key *key, const uint64_t *in, struct reference *reference)
{
    const struct format *to = format_of(compute_type(key, 1));
    const struct format *from = format_of(compute_type(key, 0));
    if (!to && !from) return false;
    const unsigned step = (to ? to : from)->bits == 4 ? 4 : 8;
    uint64_t out = 0;
    for (unsigned k = 0; k < 2; k++) {
        if (from) {
            const unsigned code = (unsigned)(in[0] >> step * k) & ((1u << from->bits) - 1);
            out |= (uint64_t)half_bits(relu(key, value_of(from, code))) << 16 * k;
        } else {
            /* The first of two sources goes to the upper half. */
            const double value = !strcmp(compute_type(key, 0), "f32")
                                     ? of_float(in[1 - k])
                                     : of_half((unsigned)(in[0] >> 16 * k) & 0xffff);
            out |= (uint64_t)code_of(to, relu(key, value)) << step * k;
        }
    }
    reference->out = out;
    return true;
}

static bool pack(const struct compute_key *key, const uint64_t *in, struct reference *reference)
{
    if (strcmp(key->word[1], "pack") != 0) return false;
    const char *type = compute_type(key, 1);
    const unsigned bits = compute_bits(type);
    const int64_t low = *type == 's' ? -(INT64_C(1) << (bits - 1)) : 0;
    const int64_t high = low + (INT64_C(1) << bits) - 1;
    uint64_t out = bits < 16 ? in[2] << 2 * bits & 0xffffffff : 0;
    for (unsigned k = 0; k < 2; k++) {
        const int64_t value = (int32_t)in[1 - k];
        const int64_t kept = value < low ? low : value > high ? high : value;
        out |= ((uint64_t)kept & ((UINT64_C(1) << bits) - 1)) << bits * k;
    }
    reference->out = out;
    return true;
}

static bool pair(const struct compute_key *key, const uint64_t *in, struct reference *reference)
{
    if (strcmp(compute_type(key, 0), "f32x2") != 0) return false;
    struct compute_key single = *key;
    strcpy(single.word[single.words - 1], "f32");
    strcpy(single.shape[0], "f32");
    reference->out = 0;
    for (unsigned k = 0; k < 2; k++) {
        const uint64_t half[4] = {in[0] >> 32 * k, in[1] >> 32 * k, in[2] >> 32 * k, 0};
        struct reference one = {.out = 0};
        if (!reference_float(&single, half, &one)) return false;
        float value;
        const uint32_t bits = (uint32_t)one.out;
        memcpy(&value, &bits, 4);
        reference->out |= float_bits(value) << 32 * k;
    }
    return true;
}

bool reference_narrow(const struct compute_key *key, const uint64_t *in,
                      struct reference *reference)
{
    if (pair(key, in, reference)) return true;
    if (strcmp(key->word[0], "cvt") != 0) return false;
    return pack(key, in, reference) || convert(key, in, reference);
}
