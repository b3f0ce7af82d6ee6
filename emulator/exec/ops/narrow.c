/* The rows of ops/narrow.def as handlers. Compiled once: they work lane by lane. */
#include "emulator/exec/ops/half.h"
#include "emulator/exec/ops/tables.h"

struct narrow_format {
    unsigned fraction_bits, exponent_bits;
    int bias;
    u32 most; /* the code of the largest finite number */
    u32 nan;  /* of NaN; formats without NaN use the largest number */
};
static const struct narrow_format E4M3 = {3, 4, 7, 0x7e, 0x7f}, E5M2 = {2, 5, 15, 0x7b, 0x7f},
                                  E2M3 = {3, 2, 1, 0x1f, 0x1f}, E3M2 = {2, 3, 3, 0x1f, 0x1f},
                                  E2M1 = {1, 2, 1, 0x7, 0x7};

static u32 narrow_code(f64 value, const struct narrow_format *format)
{
    const unsigned fraction_bits = format->fraction_bits;
    if (value != value) return format->nan;
    const u32 sign = exec_bits64(value) >> 63 ? 1u << (fraction_bits + format->exponent_bits) : 0;
    const f64 size = fabs(value);
    if (size == 0) return sign;
    if (size > 0x1p20) return sign | format->most; /* beyond every format */
    int exponent;
    frexp(size, &exponent);
    exponent -= 1;
    if (exponent < 1 - format->bias) exponent = 1 - format->bias;
    /* The size in units of the last place; a carry out of the fraction moves into the exponent. */
    const u32 units = (u32)rint(ldexp(size, (int)fraction_bits - exponent));
    const u32 number = units >= 1u << fraction_bits
                           ? units + ((u32)(exponent + format->bias - 1) << fraction_bits)
                           : units;
    return sign | (number > format->most ? format->most : number);
}

static f64 narrow_value(u32 code, const struct narrow_format *format)
{
    const unsigned fraction_bits = format->fraction_bits;
    const unsigned sign_bit = fraction_bits + format->exponent_bits;
    const u32 size = code & ((1u << sign_bit) - 1);
    const u32 exponent = size >> fraction_bits;
    const u32 fraction = size & ((1u << fraction_bits) - 1);
    const f64 sign = code >> sign_bit & 1 ? -1.0 : 1.0;
    const int lowest = 1 - format->bias - (int)fraction_bits;
    if (size > format->most) /* e5m2 has an infinity between its numbers and NaN */
        return fraction ? exec_f64(UINT64_C(0x7ff8) << 48) : sign * (f64)INFINITY;
    if (!exponent) return sign * ldexp((f64)fraction, lowest);
    return sign * ldexp((f64)(fraction | 1u << fraction_bits), lowest - 1 + (int)exponent);
}

#define NARROW(format, x) narrow_code(x, &(format))
#define WIDE(format, code) narrow_value(code, &(format))
#define VALUE_LOW(pair) half_widen((u16)(pair), HALF_F16)
#define VALUE_HIGH(pair) half_widen((u16)((pair) >> 16), HALF_F16)
#define BOTH_F16(low, high)                                                                        \
    ((u32)half_round(low, HALF_F16, HALF_NEAREST) | (u32)half_round(high, HALF_F16, HALF_NEAREST)  \
                                                        << 16)

/* .relu: negative numbers become +0, NaN stays. */
static f64 half_relu(f64 value)
{
    return value != value ? value : value > 0 ? value : 0.0;
}

#define WITHIN(value, low, high)                                                                   \
    ((u32)((value) < (low) ? (low) : (value) > (high) ? (high) : (value)))

#define KEEP(value) (value)
/* Evaluates an expression over f32 x, y, z for both halves; sources and results pass through
 * `flush`. */
#define PAIR_HALF(expression, flush, p, q, r, shift)                                               \
    (__extension__({                                                                               \
        const f32 x = flush(exec_f32((u32)((p) >> (shift))));                                      \
        const f32 y = flush(exec_f32((u32)((q) >> (shift))));                                      \
        const f32 z = flush(exec_f32((u32)((r) >> (shift))));                                      \
        (void)z;                                                                                   \
        (u64) exec_bits32(exec_canonical(flush(expression))) << (shift);                           \
    }))
#define PAIR_OF(expression, flush, p, q, r)                                                        \
    (PAIR_HALF(expression, flush, p, q, r, 0) | PAIR_HALF(expression, flush, p, q, r, 32))

#define EXEC_MANY_ROWS
/* The order matters: the rows are included twice, as functions and as a table. */
// clang-format off
#include "emulator/exec/ops/rows_define.h"
#include "emulator/exec/ops/narrow.def"

const struct exec_row exec_narrow_rows[] = {
#include "emulator/exec/ops/rows_list.h"
#include "emulator/exec/ops/narrow.def"
    {NULL, NULL, NULL}};
