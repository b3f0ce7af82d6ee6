/* The rows of ops/half_lanes.def as handlers. Compiled once per EXEC_LEVEL. */
#include "emulator/exec/ops/half_lanes.h"
#include "emulator/exec/ops/tables.h"

#define BOTH(low, high) ((u32)(u16)(low) | (u32)(u16)(high) << 16)
#define LOW(pair) ((u16)(pair))
#define HIGH(pair) ((u16)((pair) >> 16))

#define F16_ADD(p, q) half_to_f16(half_from_f16(p) + half_from_f16(q))
#define F16_SUB(p, q) half_to_f16(half_from_f16(p) - half_from_f16(q))
#define F16_MUL(p, q) half_to_f16(half_from_f16(p) * half_from_f16(q))
#define F16_FMA(p, q, r)                                                                           \
    half_to_f16(half_fma32(half_from_f16(p), half_from_f16(q), half_from_f16(r)))
#define BF16_ADD(p, q) half_to_bf16(half_from_bf16(p) + half_from_bf16(q))
#define BF16_SUB(p, q) half_to_bf16(half_from_bf16(p) - half_from_bf16(q))
/* Products of bf16 may be below f32's numbers. */
#define BF16_MUL(p, q) half_to_bf16(half_to_odd((f64)half_from_bf16(p) * half_from_bf16(q)))
#define BF16_FMA(p, q, r)                                                                          \
    half_to_bf16(half_to_odd(half_fma64(half_from_bf16(p), half_from_bf16(q), half_from_bf16(r))))

#define F16_MIN(p, q, nan) half_lesser(half_from_f16(p), half_from_f16(q), p, q, nan)
#define F16_MAX(p, q, nan) half_larger(half_from_f16(p), half_from_f16(q), p, q, nan)
#define BF16_MIN(p, q, nan) half_lesser(half_from_bf16(p), half_from_bf16(q), p, q, nan)
#define BF16_MAX(p, q, nan) half_larger(half_from_bf16(p), half_from_bf16(q), p, q, nan)

#define F16_CANON(p) half_canonical(p, 0x7c00)
#define BF16_CANON(p) half_canonical(p, 0x7f80)

/* Compares both halves of a and b: `yes` where the comparison holds, else 0. */
#define PACKED_HALF(V, half, yes, form)                                                            \
    (__extension__({                                                                               \
        const f32 x = V(half(a)), y = V(half(b));                                                  \
        (form) ? (yes) : 0;                                                                        \
    }))
#define PACKED(V, yes, form) BOTH(PACKED_HALF(V, LOW, yes, form), PACKED_HALF(V, HIGH, yes, form))

/* The order matters: the rows are included twice, as functions and as a table. */
// clang-format off
#include "emulator/exec/ops/rows_define.h"
#include "emulator/exec/ops/half_lanes.def"

const struct exec_row EXEC_TABLE(exec_half_lanes_rows)[] = {
#include "emulator/exec/ops/rows_list.h"
#include "emulator/exec/ops/half_lanes.def"
    {NULL, NULL, NULL}};
