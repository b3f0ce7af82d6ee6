/* The rows of ops/float.def as handlers. Compiled once per EXEC_LEVEL. */
#include "emulator/exec/ops/float.h"
#include "emulator/exec/ops/tables.h"

#define N(value) exec_canonical(value)
#define Z(value) exec_flush(value)
#define S(value) exec_saturate(value)
#define SIGN64 (UINT64_C(1) << 63)
#define FLOAT_OF(p, q, r, expression)                                                              \
    (__extension__({                                                                               \
        const f32 x = (p), y = (q), z = (r);                                                       \
        (void)y, (void)z;                                                                          \
        (expression);                                                                              \
    }))

/* For 2^126 < |b| < 2^128 the ISA allows only 0 (or NaN when a is infinite). */
static inline f32 exec_div_approx(f32 a, f32 b)
{
    const f32 size = fabsf(b);
    const f32 huge = fabsf(a) < INFINITY
                         ? copysignf(0.0f, exec_f32(exec_bits32(a) ^ exec_bits32(b)))
                         : exec_f32(EXEC_NAN32);
    const f32 quotient = a / b;
    const bool is_huge = size > 0x1p126f && size < INFINITY && a == a;
    return is_huge ? huge : quotient;
}

static inline f32 exec_rsqrt(f32 a)
{
    return (f32)(1.0 / sqrt((f64)a));
}

/* rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 use and compute only the upper 32 bits; the lower
 * ones are zero, and subnormal results are flushed. */
#define COARSE_BITS UINT64_C(0xffffffff00000000)
static inline f64 exec_coarse_of(f64 value)
{
    return exec_flush64(exec_f64(exec_bits64(value) & COARSE_BITS));
}
static inline f64 exec_coarse(f64 value)
{
    const u64 bits = value != value ? UINT64_C(0x7fffffff00000000) : exec_bits64(value);
    return exec_coarse_of(exec_f64(bits));
}

static inline f32 exec_xorsign(f32 magnitude, f32 a, f32 b)
{
    const u32 sign = (exec_bits32(a) ^ exec_bits32(b)) & 0x80000000u;
    return magnitude != magnitude ? magnitude
                                  : exec_f32((exec_bits32(magnitude) & 0x7fffffffu) | sign);
}

static inline f64 exec_min64(f64 a, f64 b)
{
    const f64 equal = exec_f64(exec_bits64(a) | exec_bits64(b));
    const f64 ordered = a == b ? equal : a < b ? a : b;
    return a != a ? b : b != b ? a : ordered;
}

static inline f64 exec_max64(f64 a, f64 b)
{
    const f64 equal = exec_f64(exec_bits64(a) & exec_bits64(b));
    const f64 ordered = a == b ? equal : a > b ? a : b;
    return a != a ? b : b != b ? a : ordered;
}

/* The order matters: the rows are included twice, as functions and as a table. */
// clang-format off
#include "emulator/exec/ops/rows_define.h"
#include "emulator/exec/ops/float.def"

const struct exec_row EXEC_TABLE(exec_float_rows)[] = {
#include "emulator/exec/ops/rows_list.h"
#include "emulator/exec/ops/float.def"
    {NULL, NULL, NULL}};
