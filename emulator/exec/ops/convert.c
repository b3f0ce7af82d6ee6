/* The rows of ops/convert.def as handlers. Compiled once per EXEC_LEVEL. */
#include "emulator/exec/ops/float.h"
#include "emulator/exec/ops/tables.h"

#define N(value) exec_canonical(value)
#define Z(value) exec_flush(value)
#define S(value) exec_saturate(value)

#define LOW_u8 0
#define LOW_u16 0
#define LOW_u32 0
#define LOW_u64 0
#define LOW_s8 INT8_MIN
#define LOW_s16 INT16_MIN
#define LOW_s32 INT32_MIN
#define LOW_s64 INT64_MIN
#define HIGH_u8 UINT8_MAX
#define HIGH_u16 UINT16_MAX
#define HIGH_u32 UINT32_MAX
#define HIGH_u64 UINT64_MAX
#define HIGH_s8 INT8_MAX
#define HIGH_s16 INT16_MAX
#define HIGH_s32 INT32_MAX
#define HIGH_s64 INT64_MAX

/* Clamps an integer of type A to type D. */
#define CLAMP(D, A, value) (D) clamp_##A(value, LOW_##D, HIGH_##D)
static inline u64 clamp_signed(s64 value, s64 low, u64 high)
{
    return value < low ? (u64)low : value > 0 && (u64)value > high ? high : (u64)value;
}
static inline u64 clamp_unsigned(u64 value, s64 low, u64 high)
{
    (void)low;
    return value > high ? high : value;
}
#define clamp_u8 clamp_unsigned
#define clamp_u16 clamp_unsigned
#define clamp_u32 clamp_unsigned
#define clamp_u64 clamp_unsigned
#define clamp_s8 clamp_signed
#define clamp_s16 clamp_signed
#define clamp_s32 clamp_signed
#define clamp_s64 clamp_signed

/* The first value beyond each type's range, exact in floating point. */
#define PAST_u8 0x1p8
#define PAST_u16 0x1p16
#define PAST_u32 0x1p32
#define PAST_u64 0x1p64
#define PAST_s8 0x1p7
#define PAST_s16 0x1p15
#define PAST_s32 0x1p31
#define PAST_s64 0x1p63
#define WIDE_f32(D) (sizeof(D) == 8)
#define WIDE_f64(D) true

/* The result for NaN. */
#define NAN_OF(D, A) (WIDE_##A(D) ? (D)((u64)1 << (8 * sizeof(D) - 1)) : (D)0)

/* Converts a whole number of type A to type D. The C conversion itself gets only values that
 * fit. */
#define TO_INTEGER(D, A, value)                                                                    \
    (__extension__({                                                                               \
        const A whole = (value);                                                                   \
        const bool high = whole >= (A)PAST_##D;                                                    \
        const bool low = whole < (A)LOW_##D;                                                       \
        const bool none = whole != whole;                                                          \
        const D inside = (D)(high || low || none ? (A)0 : whole);                                  \
        none ? NAN_OF(D, A) : high ? (D)HIGH_##D : low ? (D)LOW_##D : inside;                      \
    }))

#define TF32_RELU(bits) ((bits) >> 31 && ((bits)&0x7fffffffu) <= 0x7f800000u ? 0u : (bits))
#define TF32_FINITE(bits)                                                                          \
    (__extension__({                                                                               \
        const u32 w = (bits);                                                                      \
        (w & 0x7fffffffu) == 0x7f800000u ? w - 0x2000u : w;                                        \
    }))

/* GPUs have no instruction for .rna: NaN and infinity are truncated and not rounded, and .satfinite
 * subtracts one unit from both. */
#define TF32_SPECIAL(bits) (((bits)&0x7f800000u) == 0x7f800000u)
#define TF32_RNA(bits) ((TF32_SPECIAL(bits) ? (bits) : (bits) + 0x1000u) & 0xffffe000u)
#define TF32_RNA_FINITE(bits) (TF32_RNA(bits) - (TF32_SPECIAL(TF32_RNA(bits)) ? 0x2000u : 0))

#define EXEC_MANY_ROWS
/* The order matters: the rows are included twice, as functions and as a table. */
// clang-format off
#include "emulator/exec/ops/rows_define.h"
#include "emulator/exec/ops/convert.def"

const struct exec_row EXEC_TABLE(exec_convert_rows)[] = {
#include "emulator/exec/ops/rows_list.h"
#include "emulator/exec/ops/convert.def"
    {NULL, NULL, NULL}};
