/* Tensor cores: the rows of ops/tensor.def, and the addresses of a warp's matrix elements in
 * memory, with which lower/tensor.c forms loads and stores. PTX ISA 9.0, 9.7.14. Compiled once per
 * EXEC_LEVEL.
 *
 * A row works on all 32 lanes: "matrix.together" has checked that all are active.
 */
#include "emulator/exec/check/products.h"
#include "emulator/exec/check/proxy.h"
#include "emulator/exec/ops/extra.h"
#include "emulator/exec/ops/float.h"
#include "emulator/exec/ops/tables.h"
#include "emulator/exec/ops/tensor_sum.h"

enum { ROWS = 8 }; /* rows of a matrix that one register of the warp covers */

/* ---- elements -------------------------------------------------------------------------------- */

/* Branch-free: multiplying by 2^112 moves f16's exponent to f32's, for subnormals too. */
static inline f32 widen_f16(u32 bits)
{
    const u32 size = (bits & 0x7fffu) << 13;
    const u32 finite = exec_bits32(exec_f32(size) * 0x1p112f);
    const u32 value = size < 0x7c00u << 13 ? finite : size | 0x7f800000u;
    return exec_f32(value | (bits & 0x8000u) << 16);
}

static inline u32 narrow_f16(f32 value)
{
    const u32 bits = exec_bits32(value), size = bits & 0x7fffffffu;
    const u32 sign = bits >> 16 & 0x8000u;
    if (size > 0x7f800000u) return 0x7fffu;
    if (size >= 0x47800000u) return sign | 0x7c00u; /* 2^16 and above */
    /* Below 2^-14 the last place is 2^-24, which is the last place of 0.5 in f32. A zero result has
     * no sign. */
    if (size <= 0x33000000u) return 0;
    if (size < 0x38800000u) return sign | (exec_bits32(exec_f32(size) + 0.5f) - 0x3f000000u);
    return sign | (size + 0xfffu + (size >> 13 & 1) - (112u << 23)) >> 13;
}

/* e4m3 has one NaN of each sign, and no infinity. */
static inline f32 widen_e4m3(u32 bits)
{
    const u32 size = bits & 0x7fu;
    const u32 value = size == 0x7fu ? EXEC_NAN32 : exec_bits32(exec_f32(size << 20) * 0x1p120f);
    return exec_f32(value | (bits & 0x80u) << 24);
}

/* The word of a register, and its element e. */
typedef u32 word_f16, word_bf16, word_tf32, word_s8, word_u8, word_s4, word_u4, word_b1, word_e4m3,
    word_e5m2, word_f32, word_s32;
typedef f64 word_f64;
enum { PER_f16 = 2, PER_bf16 = 2, PER_tf32 = 1, PER_s8 = 4, PER_u8 = 4, PER_f64 = 1 };
enum {
    PER_e4m3 = 4,
    PER_e5m2 = 4,
    PER_s4 = 8,
    PER_u4 = 8,
    PER_b1 = 1 /* all bits of a word together */
};
enum { PER_f32 = 1, PER_s32 = 1 };
#define ELEMENT_f16(word, e) widen_f16((word) >> (16 * (e)) & 0xffffu)
#define ELEMENT_bf16(word, e) exec_f32((word) >> (16 * (e)) << 16)
#define ELEMENT_tf32(word, e) exec_f32((word)&0xffffe000u)
#define ELEMENT_s8(word, e) ((s32)(s8)((word) >> (8 * (e))))
#define ELEMENT_u8(word, e) ((s32)(u8)((word) >> (8 * (e))))
#define ELEMENT_e4m3(word, e) widen_e4m3((word) >> (8 * (e)) & 0xffu)
#define ELEMENT_e5m2(word, e) widen_f16(((word) >> (8 * (e)) & 0xffu) << 8)
#define ELEMENT_s4(word, e) ((s32)((word) << (28 - 4 * (e))) >> 28)
#define ELEMENT_u4(word, e) ((s32)((word) >> (4 * (e)) & 15u))
#define ELEMENT_b1(word, e) ((s32)(word))
#define ELEMENT_f64(word, e) (word)
#define ELEMENT_f32(word, e) exec_f32(word)
#define ELEMENT_s32(word, e) ((s32)(word))
/* The types in which results are computed. */
typedef f32 work_f16, work_bf16, work_tf32, work_e4m3, work_e5m2, work_f32;
typedef s32 work_s8, work_u8, work_s4, work_u4, work_b1, work_s32;
typedef f64 work_f64;

#define INLINE static inline __attribute__((always_inline))

#define DEFINE_FACTORS(T)                                                                          \
    INLINE void first_##T(const struct exec_warp *warp, const u32 *slots, work_##T *to,            \
                          unsigned m, unsigned k)                                                  \
    {                                                                                              \
        for (unsigned r = 0; r < m * k / (EXEC_LANES * PER_##T); r++) {                            \
            const word_##T *from = exec_slot(warp, slots[r]);                                      \
            const unsigned row = ROWS * (r % (m / ROWS)), column = 4 * PER_##T * (r / (m / ROWS)); \
            for (unsigned l = 0; l < EXEC_LANES; l++)                                              \
                for (unsigned e = 0; e < PER_##T; e++)                                             \
                    to[(row + l / 4) * k + column + l % 4 * PER_##T + e] =                         \
                        ELEMENT_##T(from[l], e);                                                   \
        }                                                                                          \
    }                                                                                              \
    INLINE void second_##T(const struct exec_warp *warp, const u32 *slots, work_##T *to,           \
                           unsigned k, unsigned n)                                                 \
    {                                                                                              \
        const unsigned high = k / (4 * PER_##T);                                                   \
        for (unsigned r = 0; r < k * n / (EXEC_LANES * PER_##T); r++) {                            \
            const word_##T *from = exec_slot(warp, slots[r]);                                      \
            const unsigned row = 4 * PER_##T * (r % high), column = ROWS * (r / high);             \
            for (unsigned l = 0; l < EXEC_LANES; l++)                                              \
                for (unsigned e = 0; e < PER_##T; e++)                                             \
                    to[(row + l % 4 * PER_##T + e) * n + column + l / 4] =                         \
                        ELEMENT_##T(from[l], e);                                                   \
        }                                                                                          \
    }
DEFINE_FACTORS(f16)
DEFINE_FACTORS(bf16)
DEFINE_FACTORS(tf32)
DEFINE_FACTORS(f64)
DEFINE_FACTORS(s8)
DEFINE_FACTORS(u8)
DEFINE_FACTORS(e4m3)
DEFINE_FACTORS(e5m2)
DEFINE_FACTORS(s4)
DEFINE_FACTORS(u4)
DEFINE_FACTORS(b1)

/* The index, in the matrix, of element e of lane l's register r of an accumulator. */
INLINE unsigned sum_at(unsigned m, unsigned n, unsigned per, unsigned r, unsigned l, unsigned e)
{
    const unsigned i = r * per + e;
    return (l / 4 + ROWS * (i / 2 % (m / ROWS))) * n + l % 4 * 2 + i % 2 +
           ROWS * (i / 2 / (m / ROWS));
}

#define DEFINE_SUM(T)                                                                              \
    INLINE void read_##T(const struct exec_warp *warp, const u32 *slots, work_##T *to, unsigned m, \
                         unsigned n)                                                               \
    {                                                                                              \
        for (unsigned r = 0; r < m * n / (EXEC_LANES * PER_##T); r++) {                            \
            const word_##T *from = exec_slot(warp, slots[r]);                                      \
            for (unsigned l = 0; l < EXEC_LANES; l++)                                              \
                for (unsigned e = 0; e < PER_##T; e++)                                             \
                    to[sum_at(m, n, PER_##T, r, l, e)] = ELEMENT_##T(from[l], e);                  \
        }                                                                                          \
    }
DEFINE_SUM(f16)
DEFINE_SUM(f32)
DEFINE_SUM(f64)
DEFINE_SUM(s32)

#define WORD_f16(value)                                                                            \
    (narrow_f16((value)[sum_at(m, n, 2, r, l, 0)]) | narrow_f16((value)[sum_at(m, n, 2, r, l, 1)]) \
                                                         << 16)
#define WORD_f32(value) exec_bits32(exec_canonical((value)[sum_at(m, n, 1, r, l, 0)]))
#define WORD_f64(value) ((value)[sum_at(m, n, 1, r, l, 0)])
#define WORD_s32(value) ((u32)(value)[sum_at(m, n, 1, r, l, 0)])

#define DEFINE_RESULT(T)                                                                           \
    INLINE void write_##T(const struct exec_warp *warp, const u32 *slots, const work_##T *from,    \
                          unsigned m, unsigned n)                                                  \
    {                                                                                              \
        for (unsigned r = 0; r < m * n / (EXEC_LANES * PER_##T); r++) {                            \
            word_##T *to = exec_slot(warp, slots[r]);                                              \
            for (unsigned l = 0; l < EXEC_LANES; l++) to[l] = WORD_##T(from);                      \
        }                                                                                          \
    }
DEFINE_RESULT(f16)
DEFINE_RESULT(f32)
DEFINE_RESULT(f64)
DEFINE_RESULT(s32)

/* ---- products -------------------------------------------------------------------------------- */

/* As fma.rn.f64, including the choice of NaN. */
static inline f64 add_f64(f64 a, f64 b, f64 c)
{
    return exec_nan64_of(b, c, a, __builtin_fma(a, b, c));
}

#define ADD_f64(a, b, c) add_f64(a, b, c)
#define ADD_s32(a, b, c) ((c) + (a) * (b))
#define ADD_and(a, b, c) ((c) + __builtin_popcount((u32)((a) & (b))))
#define ADD_xor(a, b, c) ((c) + __builtin_popcount((u32)((a) ^ (b))))
#define DEFINE_MULTIPLY(op, W)                                                                     \
    INLINE void multiply_##op(const W *a, const W *b, W *c, unsigned m, unsigned n, unsigned k)    \
    {                                                                                              \
        for (unsigned row = 0; row < m; row++)                                                     \
            for (unsigned i = 0; i < k; i++)                                                       \
                for (unsigned column = 0; column < n; column++)                                    \
                    c[row * n + column] =                                                          \
                        ADD_##op(a[row * k + i], b[i * n + column], c[row * n + column]);          \
    }
DEFINE_MULTIPLY(f64, f64)
DEFINE_MULTIPLY(s32, s32)
DEFINE_MULTIPLY(and, s32)
DEFINE_MULTIPLY(xor, s32)

/* The exponent of a type's subnormals. */
enum { LEAST_f16 = -14, LEAST_bf16 = -126, LEAST_tf32 = -126, LEAST_f32 = -126, LEAST_f64 = 0 };
enum { LEAST_e4m3 = -6, LEAST_e5m2 = -14 };

/* WIDE: the sum is of doubles. COARSE: it keeps few bits. ROUNDED: the result is rounded to f16. */
enum { WIDE_f16, WIDE_bf16 = 0, WIDE_tf32 = 0, WIDE_e4m3 = 0, WIDE_e5m2 = 0, WIDE_f64 = 1 };
enum { COARSE_f16, COARSE_bf16 = 0, COARSE_tf32 = 0, COARSE_e4m3 = 1, COARSE_e5m2 = 1, COARSE_f64 };
enum { ROUNDED_f16 = 1, ROUNDED_f32 = 0, ROUNDED_f64 = 0 };

INLINE void multiply(const void *a, const void *b, void *c, const unsigned shape[3], bool wide,
                     const s32 least[3], bool rounded, bool coarse)
{
    if (wide)
        multiply_f64(a, b, c, shape[0], shape[1], shape[2]);
    else
        tensor_sums(a, b, c, shape, least, rounded, coarse);
}

#define FLOAT(name, keys, M, N, K, A, B, C, D)                                                     \
    static int op_##name(struct exec_warp *warp, const struct exec_inst *inst)                     \
    {                                                                                              \
        const struct exec_tensor *tensor = inst->extra;                                            \
        work_##A a[(M) * (K)], b[(K) * (N)], c[(M) * (N)];                                         \
        first_##A(warp, tensor->a, a, M, K);                                                       \
        second_##B(warp, tensor->b, b, K, N);                                                      \
        read_##C(warp, tensor->c, c, M, N);                                                        \
        multiply(a, b, c, (const unsigned[]){M, N, K}, WIDE_##A,                                   \
                 (const s32[]){LEAST_##A, LEAST_##B, LEAST_##C}, ROUNDED_##D, COARSE_##A);         \
        write_##D(warp, tensor->d, c, M, N);                                                       \
        return EXEC_GO;                                                                            \
    }

/* The sum of products of at most 8 bits fits into 32 bits; c is added last. */
static inline s32 add_integers(s32 product, s32 c, bool clamps)
{
    const s64 sum = (s64)product + c;
    if (!clamps) return (s32)(u32)(u64)sum;
    return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : (s32)sum;
}

#define INTEGER(name, keys, M, N, K, A, B, op)                                                     \
    static int op_##name(struct exec_warp *warp, const struct exec_inst *inst)                     \
    {                                                                                              \
        const struct exec_tensor *tensor = inst->extra;                                            \
        s32 a[(M) * (K)], b[(K) * (N)], c[(M) * (N)], sum[(M) * (N)] = {0};                        \
        first_##A(warp, tensor->a, a, M, K);                                                       \
        second_##B(warp, tensor->b, b, K, N);                                                      \
        read_s32(warp, tensor->c, c, M, N);                                                        \
        multiply_##op(a, b, sum, M, N, K);                                                         \
        for (unsigned i = 0; i < (M) * (N); i++)                                                   \
            sum[i] = add_integers(sum[i], c[i], inst->imm & EXEC_TENSOR_CLAMPS);                   \
        write_s32(warp, tensor->d, sum, M, N);                                                     \
        return EXEC_GO;                                                                            \
    }
/* mma.sync of floats of 8 bits, as ptxas makes it for sm_90, which has wgmma for them: each four
 * neighbours along k go two by two into a product of halves, and c is added to the second's sum. */
INLINE void add_bytes(const f32 *a, const f32 *b, f32 *c, const unsigned shape[3],
                      const s32 least[3], bool rounded)
{
    const unsigned m = shape[0], n = shape[1], k = shape[2];
    f32 first[TENSOR_MOST / 2], second[TENSOR_MOST / 2], sum[16 * 8] = {0};
    for (unsigned part = 0; part < 2; part++) {
        for (unsigned i = 0; i < k / 2; i++) {
            const unsigned from = i / 2 * 4 + part * 2 + i % 2;
            for (unsigned row = 0; row < m; row++) first[row * (k / 2) + i] = a[row * k + from];
            memcpy(second + i * n, b + from * n, n * sizeof *b);
        }
        tensor_sums(first, second, sum, (const unsigned[]){m, n, k / 2}, least, rounded, false);
        for (unsigned i = 0; rounded && i < m * n; i++) sum[i] = widen_f16(narrow_f16(sum[i]));
    }
    for (unsigned i = 0; i < m * n; i++)
        c[i] = rounded ? tensor_cut((f64)c[i] + (f64)sum[i], true) : c[i] + sum[i];
}

#define BYTES(name, keys, M, N, K, A, B, D)                                                        \
    static int op_##name(struct exec_warp *warp, const struct exec_inst *inst)                     \
    {                                                                                              \
        const struct exec_tensor *tensor = inst->extra;                                            \
        f32 a[(M) * (K)], b[(K) * (N)], c[(M) * (N)];                                              \
        first_##A(warp, tensor->a, a, M, K);                                                       \
        second_##B(warp, tensor->b, b, K, N);                                                      \
        read_##D(warp, tensor->c, c, M, N);                                                        \
        add_bytes(a, b, c, (const unsigned[]){M, N, K},                                            \
                  (const s32[]){LEAST_##A, LEAST_##B, LEAST_##D}, ROUNDED_##D);                    \
        write_##D(warp, tensor->d, c, M, N);                                                       \
        return EXEC_GO;                                                                            \
    }

/* ---- sparse products ------------------------------------------------------------------------- */

/* Which elements of a row of k are kept: of f16 and of bytes two of four, of tf32 one of two, of 4
 * bits two pairs of four. Their positions are four bits in a register. */
enum sparsity {
    OF_HALVES,
    OF_WORDS,
    OF_BYTES,
    OF_FOURS,
    SPARSITY_f16 = OF_HALVES,
    SPARSITY_bf16 = OF_HALVES,
    SPARSITY_tf32 = OF_WORDS,
    SPARSITY_s8 = OF_BYTES,
    SPARSITY_u8 = OF_BYTES,
    SPARSITY_e4m3 = OF_BYTES,
    SPARSITY_e5m2 = OF_BYTES,
    SPARSITY_s4 = OF_FOURS,
    SPARSITY_u4 = OF_FOURS
};
enum { SPARSE_ROWS = 16 };

/* Returns the positions in group `group` of a row. PTX ISA 9.0, 9.7.14.6.2, figures of "Metadata":
 * of halves and words a register has those of two rows, of the others those of one. */
static u32 find_positions(const struct exec_warp *warp, const struct exec_inst *inst,
                          enum sparsity kind, unsigned groups, unsigned row, unsigned group)
{
    const struct exec_tensor *tensor = inst->extra;
    const u32 *words = exec_slot(warp, tensor->e);
    const unsigned selector = (unsigned)inst->imm >> EXEC_TENSOR_SELECTOR_SHIFT;
    const unsigned quad = row % ROWS * 4, high = row / ROWS;
    if (kind == OF_HALVES || kind == OF_WORDS)
        return words[quad + (groups == 8 ? 2 * selector + group / 4 : selector)] >>
                   (16 * high + 4 * (group % 4)) &
               15;
    return words[quad + 2 * selector + high + 2 * (group / 8)] >> (4 * (group % 8)) & 15;
}

/* Finds the place along k of each element of a. */
static int find_places(struct exec_warp *warp, const struct exec_inst *inst, enum sparsity kind,
                       unsigned k, u8 *places)
{
    const unsigned groups = kind == OF_WORDS ? k / 2 : kind == OF_FOURS ? k / 8 : k / 4;
    for (unsigned i = 0; i < SPARSE_ROWS * groups; i++) {
        const u32 bits = find_positions(warp, inst, kind, groups, i / groups, i % groups);
        const unsigned low = bits & 3, high = bits >> 2, at = 4 * (i % groups);
        const bool defined = kind == OF_WORDS ? bits == 4 || bits == 14 : low != high;
        if (!defined)
            return exec_stop(
                warp, inst, EXEC_UNSUPPORTED, i / groups % ROWS * 4,
                &(struct exec_reason){.finding = FINDING_UNSUPPORTED_POSITIONS, .numbers = {bits}});
        switch (kind) {
        case OF_WORDS:
            places[i] = (u8)(at / 2 + (bits == 14));
            break;
        case OF_FOURS:
            for (unsigned e = 0; e < 4; e++)
                places[4 * i + e] = (u8)(2 * (at + (e < 2 ? low : high)) + e % 2);
            break;
        default:
            places[2 * i] = (u8)(at + low);
            places[2 * i + 1] = (u8)(at + high);
            break;
        }
    }
    return EXEC_GO;
}

#define FLOATS_OF_ROW(A, B, C, D)                                                                  \
    tensor_sums(a_row, chosen, c_row, shape, (const s32[]){LEAST_##A, LEAST_##B, LEAST_##C},       \
                ROUNDED_##D, false)
#define BYTES_OF_ROW(A, B, C, D)                                                                   \
    add_bytes(a_row, chosen, c_row, shape, (const s32[]){LEAST_##A, LEAST_##B, LEAST_##C},         \
              ROUNDED_##D)
#define INTEGERS_OF_ROW(A, B, C, D)                                                                \
    do {                                                                                           \
        s32 sum[ROWS] = {0};                                                                       \
        multiply_s32(a_row, chosen, sum, 1, ROWS, shape[2]);                                       \
        for (unsigned j = 0; j < ROWS; j++)                                                        \
            c_row[j] = add_integers(sum[j], c_row[j], inst->imm & EXEC_TENSOR_CLAMPS);             \
    } while (0)

#define SPARSE(name, keys, K, A, B, C, D, add)                                                     \
    static int op_##name(struct exec_warp *warp, const struct exec_inst *inst)                     \
    {                                                                                              \
        enum { M = SPARSE_ROWS, N = ROWS, HALF = (K) / 2 };                                        \
        const struct exec_tensor *tensor = inst->extra;                                            \
        const unsigned shape[] = {1, N, HALF};                                                     \
        u8 places[M * HALF];                                                                       \
        work_##A a[M * HALF], b[(K)*N], chosen[HALF * N];                                          \
        work_##C c[M * N];                                                                         \
        const int step = find_places(warp, inst, SPARSITY_##A, K, places);                         \
        if (step != EXEC_GO) return step;                                                          \
        first_##A(warp, tensor->a, a, M, HALF);                                                    \
        second_##B(warp, tensor->b, b, K, N);                                                      \
        read_##C(warp, tensor->c, c, M, N);                                                        \
        for (unsigned row = 0; row < M; row++) {                                                   \
            const work_##A *a_row = a + row * HALF;                                                \
            work_##C *c_row = c + row * N;                                                         \
            for (unsigned i = 0; i < HALF; i++)                                                    \
                memcpy(chosen + i * N, b + places[row * HALF + i] * N, N * sizeof *b);             \
            add(A, B, C, D);                                                                       \
        }                                                                                          \
        write_##D(warp, tensor->d, c, M, N);                                                       \
        return EXEC_GO;                                                                            \
    }
#include "emulator/exec/ops/tensor.def"
#undef FLOAT
#undef INTEGER
#undef BYTES
#undef SPARSE

/* ---- full warps ------------------------------------------------------------------------------ */

/* The row inside "sync": only waits for all lanes. */
static int op_sync(struct exec_warp *warp, const struct exec_inst *inst)
{
    (void)warp;
    (void)inst;
    return EXEC_GO;
}

/* Faults unless all lanes are at this instruction and, where required, agree on one matrix that is
 * aligned. */
static int op_together(struct exec_warp *warp, const struct exec_inst *inst)
{
    const unsigned first = (unsigned)__builtin_ctz(warp->mask);
    if (warp->mask != EXEC_ALL)
        return exec_stop(warp, inst, EXEC_MASK, first,
                         &(struct exec_reason){
                             .finding = FINDING_WARP_NOT_WHOLE,
                             .numbers = {(uint64_t)__builtin_popcount(warp->mask), EXEC_LANES}});
    if (!(inst->imm & EXEC_SAME_ARGUMENTS)) return EXEC_GO;
    const u64 *address = exec_slot(warp, inst->a);
    const u32 *stride = exec_slot(warp, inst->b);
    u64 differs = 0;
    EXEC_FOR_LANES differs |= (address[l] ^ address[0]) | (stride[l] ^ stride[0]);
    if (differs)
        return exec_stop(warp, inst, EXEC_UNSUPPORTED, 0,
                         &(struct exec_reason){.finding = FINDING_UNSUPPORTED_MATRIX});
    const u32 alignment = (u32)(inst->imm >> EXEC_ALIGNMENT_SHIFT);
    const u64 next = address[0] + (u64)stride[0] * (inst->imm >> EXEC_UNIT_SHIFT & 0xff) / 8;
    if (((address[0] | next) & (alignment - 1)) == 0) return EXEC_GO;
    return exec_stop_access(warp, inst, 0, address[0] & (alignment - 1) ? address[0] : next,
                            alignment, inst->imm & EXEC_MATRIX_STORE ? EXEC_STORE : EXEC_LOAD,
                            true);
}

/* ---- addresses ------------------------------------------------------------------------------- */

/* A coordinate of lane l: see struct exec_element and struct exec_group_element. */
static u32 of_lane(const u32 parts[3], u32 l)
{
    return parts[0] + parts[1] * (l / 4) + parts[2] * (l % 4);
}

/* Slot d = the address of an element of the matrix at address a, whose lines lie b elements
 * apart. */
static int op_element(struct exec_warp *warp, const struct exec_inst *inst)
{
    const struct exec_element *element = inst->extra;
    const u64 *base = exec_slot(warp, inst->a);
    const u32 *stride = exec_slot(warp, inst->b);
    u64 *d = exec_slot(warp, inst->d);
    EXEC_FOR_LANES
    {
        const u32 line = of_lane(element->line, l), inside = of_lane(element->inside, l);
        d[l] = base[l] + ((u64)line * stride[l] + inside) * element->bits / 8;
    }
    return EXEC_GO;
}

enum { GROUP_ROWS = 16 }; /* rows of wgmma's first factor and accumulator per warp */

static u32 count_group(const struct exec_warp *warp)
{
    const struct exec_block *block = warp->block;
    const u32 first = warp->index / EXEC_GROUP_WARPS * EXEC_GROUP_WARPS;
    u32 count = 0;
    for (u32 k = first; k < first + EXEC_GROUP_WARPS && k < block->warp_count; k++)
        count += (u32)__builtin_popcount(block->warps[k].existing);
    return count;
}

/* Begins a wgmma: clears the accumulator in the lanes whose bit of slot a is 0. */
static int op_begin(struct exec_warp *warp, const struct exec_inst *inst)
{
    const struct exec_group_sum *sum = inst->extra;
    const u32 keeps = *(const u32 *)exec_slot(warp, inst->a), lanes = count_group(warp);
    if (lanes != EXEC_GROUP_WARPS * EXEC_LANES)
        return exec_stop(warp, inst, EXEC_MASK, 0,
                         &(struct exec_reason){.finding = FINDING_WARP_NOT_WHOLE,
                                               .numbers = {lanes, EXEC_GROUP_WARPS * EXEC_LANES}});
    warp->multiplying = true;
    exec_products_begin(warp, inst);
    if (keeps == EXEC_ALL) return EXEC_GO;
    for (u32 k = 0; k < sum->count; k++) {
        u32 *slot = exec_slot(warp, sum->slots[k]);
        EXEC_FOR_LANES slot[l] = keeps >> l & 1 ? slot[l] : 0;
    }
    return EXEC_GO;
}

/* A matrix descriptor, in bytes. PTX ISA 9.0, 9.7.15.5.1, "Shared Memory Matrix Layout". */
struct descriptor {
    u32 start, leading, stride;
    u32 base;  /* where the swizzle's repeating pattern begins, in units of 128 bytes */
    u32 width; /* of the swizzle; 16: there is none */
};

static struct descriptor read_descriptor(u64 bits)
{
    static const u32 widths[] = {16, 128, 64, 32};
    enum { FIELD = 0x3fff, UNIT = 16 };
    return (struct descriptor){.start = (u32)(bits & FIELD) * UNIT,
                               .leading = (u32)(bits >> 16 & FIELD) * UNIT,
                               .stride = (u32)(bits >> 32 & FIELD) * UNIT,
                               .base = (u32)(bits >> 49 & 7),
                               .width = widths[bits >> 62]};
}

/* Returns an element's offset in shared memory. Without swizzle groups of 8 by 16 bytes are
 * contiguous, with swizzle groups of 8 by its width, in whose lines chunks of 16 bytes are
 * permuted. */
static u64 find_in_group(const struct descriptor *d, bool by_depth, u32 across, u32 depth,
                         u32 bytes)
{
    const bool swizzled = d->width != 16;
    const u32 line = by_depth ? across : depth, inside = (by_depth ? depth : across) * bytes;
    const u32 lines = swizzled || by_depth ? d->stride : d->leading;
    const u32 beside = swizzled || by_depth ? d->leading : d->stride;
    const u32 at = d->start + line % ROWS * d->width + line / ROWS * lines + inside % d->width +
                   inside / d->width * beside;
    const u32 phase = swizzled ? (at / 128 - d->base) & (d->width / 16 - 1) : 0;
    return (at ^ phase * 16) & 0x3ffffu;
}

static int op_group_address(struct exec_warp *warp, const struct exec_inst *inst)
{
    const struct exec_group_element *element = inst->extra;
    const struct descriptor descriptor =
        read_descriptor(((const u64 *)exec_slot(warp, inst->a))[__builtin_ctz(warp->mask)]);
    const u32 before = element->first ? warp->index % EXEC_GROUP_WARPS * GROUP_ROWS : 0;
    const u32 bytes = element->by_depth ? 4 : element->bytes; /* that the lane reads */
    u64 *d = exec_slot(warp, inst->d);
    EXEC_FOR_LANES
    {
        const u32 across = before + of_lane(element->across, l);
        const u32 depth = of_lane(element->depth, l);
        d[l] = find_in_group(&descriptor, element->by_depth, across, depth, element->bytes);
        exec_proxy_reads(warp, inst, l, d[l], bytes);
        exec_products_reads(warp, d[l]);
    }
    return EXEC_GO;
}

/* Slot d = the address that lane l of ldmatrix or stmatrix accesses, in rows of 16 bytes. */
static int op_row(struct exec_warp *warp, const struct exec_inst *inst)
{
    enum { BYTES = 16 };
    const u64 *rows = exec_slot(warp, inst->a);
    u64 *d = exec_slot(warp, inst->d);
    const u32 first = (u32)(inst->imm & EXEC_ROW_MATRIX) * ROWS;
    const u32 half = (inst->imm & EXEC_ROW_HALF) != 0;
    const bool generic = (inst->imm & EXEC_ROW_GENERIC) != 0;
    for (unsigned l = first; l < first + ROWS; l++) {
        if (generic && (rows[l] & EXEC_WINDOW_MASK) != EXEC_WINDOW_SHARED)
            return exec_stop(
                warp, inst, EXEC_WRONG_SPACE, l,
                &(struct exec_reason){.finding = FINDING_MATRIX_NOT_SHARED, .numbers = {rows[l]}});
        if (rows[l] % BYTES)
            return exec_stop_access(warp, inst, l, rows[l], BYTES,
                                    inst->imm & EXEC_ROW_STORE ? EXEC_STORE : EXEC_LOAD, true);
    }
    const u64 window = generic ? EXEC_WINDOW_SHARED : 0;
    for (unsigned l = 0; l < EXEC_LANES; l++)
        d[l] = (inst->imm & EXEC_ROW_TRANSPOSED ? rows[first + l % 4 * 2 + half] + l / 4 * 2
                                                : rows[first + l / 4] + l % 4 * 4) -
               window;
    return EXEC_GO;
}

/* movmatrix: lane l has elements l % 4 * 2 and the next of row l / 4. */
static int op_transpose(struct exec_warp *warp, const struct exec_inst *inst)
{
    const u32 *a = exec_slot(warp, inst->a);
    u32 *d = exec_slot(warp, inst->d), result[EXEC_LANES];
    for (unsigned l = 0; l < EXEC_LANES; l++) {
        const u32 row = l / 4, column = l % 4 * 2;
        const u32 low = a[column * 4 + row / 2], high = a[(column + 1) * 4 + row / 2];
        result[l] = (low >> (16 * (row % 2)) & 0xffffu) | high >> (16 * (row % 2)) << 16;
    }
    memcpy(d, result, sizeof result);
    return EXEC_GO;
}

const struct exec_row EXEC_TABLE(exec_tensor_rows)[] = {
#define FLOAT(name, keys, M, N, K, A, B, C, D) {keys, op_##name, ""},
#define INTEGER(name, keys, M, N, K, A, B, op) {keys, op_##name, ""},
#define BYTES(name, keys, M, N, K, A, B, D) {keys, op_##name, ""},
#define SPARSE(name, keys, K, A, B, C, D, add) {keys, op_##name, ""},
#include "emulator/exec/ops/tensor.def"
    {"movmatrix.sync.m8n8.b16", op_transpose, ""},
    {"matrix.sync", op_sync, ""},
    {"matrix.together", op_together, ""},
    {"matrix.element", op_element, ""},
    {"matrix.row", op_row, ""},
    {"wgmma.begin", op_begin, ""},
    {"wgmma.address", op_group_address, ""},
    {NULL, NULL, NULL}};
