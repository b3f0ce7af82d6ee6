/* Operands: special values of each kind, their neighbours, values halfway between shorter ones, and
 * tuples of these. */
#include "tests/differential/differential.h"

#include <string.h>

unsigned diff_kind_bits(enum diff_kind kind)
{
    static const uint8_t bits[DIFF_KIND_COUNT] = {
        [DIFF_INT8] = 8,    [DIFF_INT16] = 16, [DIFF_INT32] = 32, [DIFF_INT64] = 64,
        [DIFF_AMOUNT] = 32, [DIFF_F16] = 16,   [DIFF_BF16] = 16,  [DIFF_F16X2] = 32,
        [DIFF_BF16X2] = 32, [DIFF_F32] = 32,   [DIFF_F64] = 64,   [DIFF_PRED] = 1,
        [DIFF_INT16X2] = 32};
    return bits[kind];
}

/* ---- special values ----------------------------------------------------------------------------
 */

/* Written with 64 bits and truncated: the sign-extended values are the narrow types' limits. */
static const uint64_t integers[] = {0,
                                    1,
                                    UINT64_MAX,
                                    UINT64_C(0x8000000000000000),
                                    UINT64_C(0x7fffffffffffffff),
                                    UINT64_C(0xffffffff80000000),
                                    0x7fffffff,
                                    2,
                                    UINT64_MAX - 1,
                                    0xffff,
                                    0x8000,
                                    0x7fff,
                                    UINT64_C(0xffffffffffff8000),
                                    3,
                                    0xffffffff,
                                    0x80000000,
                                    0x10000,
                                    31,
                                    32,
                                    33,
                                    UINT64_C(0x8000000000000001),
                                    UINT64_C(0x100000000),
                                    0xff,
                                    0x80,
                                    0x7f,
                                    UINT64_C(0xffffffffffffff80),
                                    7,
                                    10,
                                    63,
                                    64,
                                    65,
                                    0xffffff,
                                    0x800000,
                                    0x7fffff,
                                    UINT64_C(0xffffffffff800000),
                                    0x1000000,
                                    0x1000001,
                                    UINT64_C(0xffffffff7fffffff),
                                    UINT64_C(0x20000000000001),
                                    UINT64_C(0x3fffffffffffff),
                                    UINT64_C(0x55555555aaaaaaaa),
                                    UINT64_C(0x0f0f0f0ff0f0f0f0),
                                    UINT64_C(0x0123456789abcdef),
                                    UINT64_C(0xfedcba9876543210)};

static const uint64_t amounts[] = {
    0,  1,  31,         32,         33,         63,    64,    65,     8,       16,   7,
    15, 24, 17,         5,          30,         255,   256,   127,    128,     2,    3,
    4,  96, 0xffffffff, 0x80000000, 0x7fffffff, 0x100, 0x1ff, 0xffe0, 0x10001, 0x20, 0x11f};

static const uint64_t f32s[] = {
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 0x00000001,
    0xffc12345, 0x7f800001, 0x007fffff, 0x00800000, 0x7f7fffff, 0xff7fffff, 0x3f000000, 0x40200000,
    0x3f800001, 0x3f7fffff, 0x80000001, 0x4b800000, 0x4f000000, 0xcf000000, 0xff800001, 0x807fffff,
    0x80800000, 0x4effffff, 0x4f7fffff, 0x4f800000, 0x5effffff, 0x5f000000, 0x5f7fffff, 0x5f800000,
    0xdf000000, 0xdf000001, 0xcf000001, 0x477fe000, 0x477fefff, 0x477ff000, 0x477ff001, 0x38800000,
    0x387fffff, 0x33000000, 0x33000001, 0x32ffffff, 0x33800000, 0x3effffff, 0x3f000001, 0x3fc00000,
    0xbfc00000, 0xbf000000, 0xc0200000, 0x40600000, 0x42fe0000, 0x42ff0000, 0x43000000, 0x437f0000,
    0x437f8000, 0xc3000000, 0xc3008000, 0x46fffe00, 0x47000000, 0x477fff00, 0xc7000000, 0xc7000080,
    0x4affffff, 0x4b000001, 0x7effffff, 0x7f000000, 0x3eaaaaab, 0x40490fdb, 0x2edbe6ff, 0x7149f2ca,
    0x00400000, 0x7fffffff, 0xffffffff, 0x7fbfffff};

static const uint64_t f64s[] = {0,
                                UINT64_C(0x8000000000000000),
                                UINT64_C(0x3ff0000000000000),
                                UINT64_C(0xbff0000000000000),
                                UINT64_C(0x7ff0000000000000),
                                UINT64_C(0xfff0000000000000),
                                UINT64_C(0x7ff8000000000000),
                                UINT64_C(0x0000000000000001),
                                UINT64_C(0xfff8000012345678),
                                UINT64_C(0x7ff0000000000001),
                                UINT64_C(0x000fffffffffffff),
                                UINT64_C(0x0010000000000000),
                                UINT64_C(0x7fefffffffffffff),
                                UINT64_C(0xffefffffffffffff),
                                UINT64_C(0x3fe0000000000000),
                                UINT64_C(0x4004000000000000), /* 2.5 */
                                UINT64_C(0x3ff0000000000001),
                                UINT64_C(0x3fefffffffffffff),
                                UINT64_C(0x8000000000000001),
                                UINT64_C(0x4340000000000000), /* 2^53 */
                                UINT64_C(0x41e0000000000000), /* 2^31 */
                                UINT64_C(0xc1e0000000000000),
                                UINT64_C(0xfff0000000000001),
                                UINT64_C(0x800fffffffffffff),
                                UINT64_C(0x41dfffffffc00000), /* 2^31 - 1 */
                                UINT64_C(0x41dfffffffe00000), /* 2^31 - 1/2 */
                                UINT64_C(0xc1e0000000100000), /* -2^31 - 1/2 */
                                UINT64_C(0xc1e0000000200000),
                                UINT64_C(0x41efffffffe00000), /* 2^32 - 1 */
                                UINT64_C(0x41effffffff00000), /* 2^32 - 1/2 */
                                UINT64_C(0x41f0000000000000),
                                UINT64_C(0x43dfffffffffffff),
                                UINT64_C(0x43e0000000000000), /* 2^63 */
                                UINT64_C(0xc3e0000000000000),
                                UINT64_C(0xc3e0000000000001),
                                UINT64_C(0x43efffffffffffff),
                                UINT64_C(0x43f0000000000000), /* 2^64 */
                                UINT64_C(0x47efffffe0000000), /* largest f32 */
                                UINT64_C(0x47efffffefffffff),
                                UINT64_C(0x47effffff0000000), /* halfway to 2^128 */
                                UINT64_C(0x47effffff0000001),
                                UINT64_C(0x3810000000000000), /* smallest normal f32 */
                                UINT64_C(0x380fffffffffffff),
                                UINT64_C(0x380fffffe0000000),
                                UINT64_C(0x380ffffff0000000),
                                UINT64_C(0x36a0000000000000), /* smallest f32 */
                                UINT64_C(0x3690000000000000), /* half of it */
                                UINT64_C(0x3690000000000001),
                                UINT64_C(0x368fffffffffffff),
                                UINT64_C(0x3ff0000010000000), /* halfway between f32s */
                                UINT64_C(0x3ff0000010000001),
                                UINT64_C(0x3ff000000fffffff),
                                UINT64_C(0x3ff0000030000000),
                                UINT64_C(0x3fdfffffffffffff),
                                UINT64_C(0x3fe0000000000001),
                                UINT64_C(0x3ff8000000000000),
                                UINT64_C(0xbff8000000000000),
                                UINT64_C(0xbfe0000000000000),
                                UINT64_C(0xc004000000000000),
                                UINT64_C(0x405fe00000000000), /* 127.5 */
                                UINT64_C(0x4060000000000000),
                                UINT64_C(0x406fe00000000000),
                                UINT64_C(0x406ff00000000000), /* 255.5 */
                                UINT64_C(0xc060000000000000),
                                UINT64_C(0xc060100000000000),
                                UINT64_C(0x40dfffc000000000),
                                UINT64_C(0x40dfffe000000000), /* 32767.5 */
                                UINT64_C(0x40effff000000000), /* 65535.5 */
                                UINT64_C(0xc0e0000000000000),
                                UINT64_C(0xc0e0001000000000),
                                UINT64_C(0x40effe0000000000), /* 65520: halfway to f16's infinity */
                                UINT64_C(0x40effdffffffffff),
                                UINT64_C(0x3e70000000000000), /* 2^-24, smallest f16 */
                                UINT64_C(0x3e60000000000000),
                                UINT64_C(0x3e60000000000001),
                                UINT64_C(0x0008000000000000),
                                UINT64_C(0x7fffffffffffffff),
                                UINT64_C(0xffffffffffffffff),
                                UINT64_C(0x7ff7ffffffffffff),
                                UINT64_C(0x7fe0000000000000)};

/* 16-bit formats; each list begins with the same kinds of values as f32s. */
static const uint64_t f16s[] = {
    0x0000, 0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00, 0x0001, 0xfe34, 0x7c01, 0x03ff, 0x0400,
    0x7bff, 0xfbff, 0x3800, 0x4100, 0x3c01, 0x3bff, 0x8001, 0x6400, 0x7800, 0x5bff, 0xfc01, 0x83ff,
    0x8400, 0x3e00, 0xbe00, 0x4000, 0x6800, 0x57f0, 0x57f8, 0x5800, 0xd800, 0xd804, 0x77ff, 0x2e66,
    0x4248, 0x7fff, 0xffff, 0x7dff, 0x0200, 0x37ff, 0x3801, 0xb800, 0x4300, 0xc100, 0x1400, 0x1000};
static const uint64_t bf16s[] = {
    0x0000, 0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fc0, 0x0001, 0xffc3, 0x7f81, 0x007f, 0x0080,
    0x7f7f, 0xff7f, 0x3f00, 0x4020, 0x3f81, 0x3f7f, 0x8001, 0x4b80, 0x4f00, 0xcf00, 0xff81, 0x807f,
    0x8080, 0x3fc0, 0xbfc0, 0x4000, 0x4300, 0x42ff, 0x437f, 0x4380, 0x4780, 0x4f80, 0x5f00, 0x5f80,
    0xdf00, 0x3eab, 0x4049, 0x7fff, 0xffff, 0x7fbf, 0x0040, 0x3eff, 0x3f01, 0xbf00, 0x4060, 0xc020};

static const struct {
    const uint64_t *values;
    unsigned count;
} edges[DIFF_KIND_COUNT] = {
#define EDGES(list)                                                                                \
    {                                                                                              \
        list, sizeof list / sizeof *list                                                           \
    }
    [DIFF_INT8] = EDGES(integers),   [DIFF_INT16] = EDGES(integers), [DIFF_INT32] = EDGES(integers),
    [DIFF_INT64] = EDGES(integers),  [DIFF_AMOUNT] = EDGES(amounts), [DIFF_F16] = EDGES(f16s),
    [DIFF_BF16] = EDGES(bf16s),      [DIFF_F16X2] = EDGES(f16s),     [DIFF_BF16X2] = EDGES(bf16s),
    [DIFF_F32] = EDGES(f32s),        [DIFF_F64] = EDGES(f64s),       [DIFF_PRED] = {integers, 2},
    [DIFF_INT16X2] = EDGES(integers)
#undef EDGES
};

static uint64_t cut(uint64_t value, unsigned bits)
{
    return bits == 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

/* Returns the kind of each half of a packed kind, or the kind itself. */
static enum diff_kind half_of(enum diff_kind kind)
{
    switch (kind) {
    case DIFF_F16X2:
        return DIFF_F16;
    case DIFF_BF16X2:
        return DIFF_BF16;
    case DIFF_INT16X2:
        return DIFF_INT16;
    default:
        return kind;
    }
}

unsigned diff_edge_count(enum diff_kind kind)
{
    return edges[kind].count;
}

uint64_t diff_edge(enum diff_kind kind, unsigned index)
{
    const unsigned count = edges[kind].count;
    const uint64_t value = edges[kind].values[index % count];
    /* The other half steps through the list with another stride. */
    if (half_of(kind) != kind)
        return cut(value, 16) | cut(edges[kind].values[(index * 5 + 2) % count], 16) << 16;
    return cut(value, diff_kind_bits(kind));
}

/* ---- other values ------------------------------------------------------------------------------
 */

static unsigned fraction_bits(enum diff_kind kind)
{
    switch (kind) {
    case DIFF_F16:
        return 10;
    case DIFF_BF16:
        return 7;
    case DIFF_F32:
        return 23;
    case DIFF_F64:
        return 52;
    default:
        return 0;
    }
}

/* Returns a float whose fraction has a few leading bits followed by exactly, slightly more or
 * slightly less than a half; of moderate size, so that sums and products stay finite. */
static uint64_t halfway(enum diff_kind kind, struct diff_random *random)
{
    const unsigned bits = diff_kind_bits(kind), fraction = fraction_bits(kind);
    const unsigned kept = diff_below(random, fraction);
    const uint64_t half = UINT64_C(1) << (fraction - 1 - kept);
    uint64_t value = diff_bits(random) & ((UINT64_C(1) << fraction) - 1) & ~(2 * half - 1);
    value |= half;
    value += diff_below(random, 3) - (uint64_t)1;
    const uint64_t bias = (UINT64_C(1) << (bits - 2 - fraction)) - 1;
    const uint64_t spread = bias < 32 ? bias : 32;
    const uint64_t exponent = bias - spread + diff_below(random, (unsigned)(2 * spread));
    value = (value & ((UINT64_C(1) << fraction) - 1)) | exponent << fraction;
    return value | (diff_bits(random) & 1) << (bits - 1);
}

static uint64_t moderate(enum diff_kind kind, struct diff_random *random)
{
    const unsigned bits = diff_kind_bits(kind), fraction = fraction_bits(kind);
    const uint64_t bias = (UINT64_C(1) << (bits - 2 - fraction)) - 1;
    const uint64_t exponent = bias - 6 + diff_below(random, 14);
    return (diff_bits(random) & ((UINT64_C(1) << fraction) - 1)) | exponent << fraction |
           (diff_bits(random) & 1) << (bits - 1);
}

/* Returns a power of two, or a run of ones, or a neighbour of these. */
static uint64_t power(unsigned bits, struct diff_random *random)
{
    uint64_t value = UINT64_C(1) << diff_below(random, bits);
    if (diff_below(random, 3) == 0) value -= UINT64_C(1) << diff_below(random, bits);
    value += diff_below(random, 3) - (uint64_t)1;
    return diff_below(random, 4) ? value : ~value + 1;
}

uint64_t diff_value(enum diff_kind kind, struct diff_random *random)
{
    if (half_of(kind) != kind) {
        const uint64_t low = diff_value(half_of(kind), random);
        return low | diff_value(half_of(kind), random) << 16;
    }
    const unsigned bits = diff_kind_bits(kind);
    const unsigned choice = diff_below(random, 16);
    if (kind == DIFF_AMOUNT && choice < 12) return diff_below(random, 70);
    if (choice < 5) return diff_edge(kind, diff_below(random, edges[kind].count));
    if (choice < 7)
        return cut(diff_edge(kind, diff_below(random, edges[kind].count)) + diff_below(random, 5) -
                       2,
                   bits);
    if (choice < 10) return cut(diff_bits(random), bits);
    if (!fraction_bits(kind)) {
        if (choice < 13) return cut(power(bits, random), bits);
        return cut(diff_bits(random) >> diff_below(random, 64), bits);
    }
    return choice < 13 ? halfway(kind, random) : moderate(kind, random);
}

/* ---- tuples ------------------------------------------------------------------------------------
 */

static uint64_t opposite(enum diff_kind kind, uint64_t value)
{
    const unsigned bits = diff_kind_bits(kind);
    switch (kind) {
    case DIFF_F16X2:
    case DIFF_BF16X2:
        return value ^ 0x80008000u;
    default:
        return fraction_bits(kind) ? value ^ UINT64_C(1) << (bits - 1) : cut(~value + 1, bits);
    }
}

/* Returns the negated product, so that a third operand cancels it. */
static uint64_t cancelling(enum diff_kind kind, uint64_t a, uint64_t b)
{
    if (kind == DIFF_F64) {
        double x, y;
        memcpy(&x, &a, 8);
        memcpy(&y, &b, 8);
        x = -(x * y);
        memcpy(&a, &x, 8);
        return x == x ? a : 0;
    }
    if (kind == DIFF_F32) {
        float x, y;
        const uint32_t low = (uint32_t)a, high = (uint32_t)b;
        uint32_t bits;
        memcpy(&x, &low, 4);
        memcpy(&y, &high, 4);
        x = -(x * y);
        memcpy(&bits, &x, 4);
        return x == x ? bits : 0;
    }
    return opposite(kind, cut(a * b, diff_kind_bits(kind)));
}

void diff_tuple(const enum diff_kind *kinds, unsigned count, unsigned index,
                struct diff_random *random, uint64_t *values)
{
    /* Numbers of special values of each operand that are crossed: 23 * 23 = 529, 8 * 8 * 8 =
     * 512. */
    static const unsigned crossed[] = {1, 128, 23, 8, 5};
    const unsigned base = crossed[count];
    unsigned all = 1;
    for (unsigned k = 0; k < count; k++) all *= base;
    if (index < all) {
        for (unsigned k = 0; k < count; k++, index /= base)
            values[k] = diff_edge(kinds[k], index % base);
        return;
    }
    for (unsigned k = 0; k < count; k++) values[k] = diff_value(kinds[k], random);
    if (count < 2 || kinds[0] != kinds[1]) return;
    switch (diff_below(random, 12)) {
    case 0:
        values[1] = values[0];
        break;
    case 1:
        values[1] = opposite(kinds[1], values[0]);
        break;
    case 2:
        values[1] = cut(values[0] + diff_below(random, 7) - 3, diff_kind_bits(kinds[1]));
        break;
    case 3:
    case 4:
        if (count > 2 && kinds[2] == kinds[0])
            values[2] = cancelling(kinds[0], values[0], values[1]);
        break;
    default:
        break;
    }
}
