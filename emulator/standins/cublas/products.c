/* Matrix products, one or many at once, of every combination of types that there is a kernel for.
 */
#include "emulator/standins/cublas/blas.h"

#include <stdio.h>

/* Which kernel: by the types of A and B, of C, and what is computed in. */
static const struct kernel {
    int operands, result, factors; /* enum blas_type */
    const char *suffix;
} kernels[] = {
    {BLAS_R_32F, BLAS_R_32F, BLAS_R_32F, "f32"},
    {BLAS_R_64F, BLAS_R_64F, BLAS_R_64F, "f64"},
    {BLAS_C_32F, BLAS_C_32F, BLAS_R_32F, "c32"},
    {BLAS_C_64F, BLAS_C_64F, BLAS_R_64F, "c64"},
    {BLAS_R_16F, BLAS_R_16F, BLAS_R_32F, "f16"},
    {BLAS_R_16F, BLAS_R_32F, BLAS_R_32F, "f16_f32"},
    {BLAS_R_16BF, BLAS_R_16BF, BLAS_R_32F, "bf16"},
    {BLAS_R_16BF, BLAS_R_32F, BLAS_R_32F, "bf16_f32"},
    {BLAS_R_8I, BLAS_R_32I, BLAS_R_32I, "s8_s32"},
    {BLAS_R_8I, BLAS_R_32F, BLAS_R_32F, "s8_f32"},
    {BLAS_R_16F, BLAS_R_16F, BLAS_R_16F, "f16_by_f16"},
};

/* One call, as the caller has it. */
struct product {
    int op_a, op_b;
    int64_t m, n, k;
    const void *alpha, *beta;
    struct operand {
        const void *first; /* or, of those that are apart, an array of pointers on the device */
        int type;
        int64_t ld, next;
    } a, b, c;
    bool apart;
    int64_t count;
    int compute; /* enum blas_compute */
};

static bool is_at_least(int64_t ld, int64_t rows)
{
    return ld >= (rows > 1 ? rows : 1);
}

static bool is_valid(const struct product *p)
{
    return blas_is_op(p->op_a) && blas_is_op(p->op_b) && p->m >= 0 && p->n >= 0 && p->k >= 0 &&
           p->count >= 0 && p->alpha != NULL && p->beta != NULL &&
           is_at_least(p->a.ld, p->op_a == BLAS_OP_N ? p->m : p->k) &&
           is_at_least(p->b.ld, p->op_b == BLAS_OP_N ? p->k : p->n) && is_at_least(p->c.ld, p->m);
}

/* A factor of the type that the product is computed in. */
static struct blas_scalar scalar_of(const struct cublasContext *handle, const struct product *p,
                                    int type, const void *factor)
{
    const bool is_complex = p->c.type == BLAS_C_32F || p->c.type == BLAS_C_64F;
    if (is_complex) type = type == BLAS_R_64F ? BLAS_C_64F : BLAS_C_32F;
    return blas_factor(type, handle->pointers == BLAS_ON_DEVICE, factor);
}

static struct blas_matrix matrix_of(const struct operand *operand, int op)
{
    struct blas_matrix matrix = blas_matrix(operand->first, operand->ld, op);
    matrix.next = operand->next;
    return matrix;
}

/* Names the types that no kernel has. */
static enum blas_status refuse(const struct product *p)
{
    enum { LONGEST = 128 };
    char what[LONGEST];
    snprintf(what, sizeof what,
             "a product of cuBLAS of these types (cudaDataType of A %d, B %d, C %d)", p->a.type,
             p->b.type, p->c.type);
    standin_lacks(what);
    return BLAS_NOT_SUPPORTED;
}

static enum blas_status multiply(const struct cublasContext *handle, const struct product *p)
{
    const int type = blas_type_of(p->compute);
    const char *suffix = NULL;
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels && suffix == NULL; k++)
        if (kernels[k].operands == p->a.type && p->a.type == p->b.type &&
            kernels[k].result == p->c.type && kernels[k].factors == type)
            suffix = kernels[k].suffix;
    if (!is_valid(p)) return BLAS_INVALID_VALUE;
    if (suffix == NULL) return refuse(p);
    const struct blas_gemm gemm = {.m = p->m,
                                   .n = p->n,
                                   .k = p->k,
                                   .alpha = scalar_of(handle, p, type, p->alpha),
                                   .beta = scalar_of(handle, p, type, p->beta),
                                   .a = matrix_of(&p->a, p->op_a),
                                   .b = matrix_of(&p->b, p->op_b),
                                   .c = matrix_of(&p->c, BLAS_OP_N)};
    const struct standin_size size = blas_product_size(p->m, p->n, p->count);
    return blas_launch(handle, p->apart ? "gemm_apart" : "gemm", suffix, &size, &gemm);
}

/* ---- the public functions: those of one type ---------------------------------------------------
 */

enum { TYPE_S = BLAS_R_32F, TYPE_D = BLAS_R_64F, TYPE_C = BLAS_C_32F, TYPE_Z = BLAS_C_64F };
enum { TYPE_H = BLAS_R_16F };
enum {
    COMPUTE_S = BLAS_COMPUTE_32F,
    COMPUTE_D = BLAS_COMPUTE_64F,
    COMPUTE_C = BLAS_COMPUTE_32F,
    COMPUTE_Z = BLAS_COMPUTE_64F,
    COMPUTE_H = BLAS_COMPUTE_16F
};

#define COMMON .op_a = transa, .op_b = transb, .m = m, .n = n, .k = k, .alpha = alpha, .beta = beta
#define OPERAND(name, kind, step)                                                                  \
    {                                                                                              \
        .first = name, .type = kind, .ld = ld##name, .next = step                                  \
    }
#define SIZES(I) int transa, int transb, I m, I n, I k, const void *alpha

#define GEMM(L, name, I)                                                                           \
    BLAS_ROUTINE(name,                                                                             \
                 multiply(handle, &(struct product){COMMON, .a = OPERAND(a, TYPE_##L, 0),          \
                                                    .b = OPERAND(b, TYPE_##L, 0),                  \
                                                    .c = OPERAND(c, TYPE_##L, 0), .count = 1,      \
                                                    .compute = COMPUTE_##L}),                      \
                 SIZES(I), const void *a, I lda, const void *b, I ldb, const void *beta, void *c,  \
                 I ldc)
GEMM(S, Sgemm_v2, int)
GEMM(S, Sgemm_v2_64, int64_t)
GEMM(D, Dgemm_v2, int)
GEMM(D, Dgemm_v2_64, int64_t)
GEMM(C, Cgemm_v2, int)
GEMM(C, Cgemm_v2_64, int64_t)
GEMM(Z, Zgemm_v2, int)
GEMM(Z, Zgemm_v2_64, int64_t)
GEMM(C, Cgemm3m, int)
GEMM(C, Cgemm3m_64, int64_t)
GEMM(Z, Zgemm3m, int)
GEMM(Z, Zgemm3m_64, int64_t)
GEMM(H, Hgemm, int)
GEMM(H, Hgemm_64, int64_t)

#define GEMM_STRIDED(L, suffix, I)                                                                 \
    BLAS_ROUTINE(L##gemmStridedBatched##suffix,                                                    \
                 multiply(handle, &(struct product){COMMON, .a = OPERAND(a, TYPE_##L, next_a),     \
                                                    .b = OPERAND(b, TYPE_##L, next_b),             \
                                                    .c = OPERAND(c, TYPE_##L, next_c),             \
                                                    .count = count, .compute = COMPUTE_##L}),      \
                 SIZES(I), const void *a, I lda, long long next_a, const void *b, I ldb,           \
                 long long next_b, const void *beta, void *c, I ldc, long long next_c, I count)
#define GEMM_BATCHED(L, suffix, I)                                                                 \
    BLAS_ROUTINE(L##gemmBatched##suffix,                                                           \
                 multiply(handle, &(struct product){COMMON, .a = OPERAND(a, TYPE_##L, 0),          \
                                                    .b = OPERAND(b, TYPE_##L, 0),                  \
                                                    .c = OPERAND(c, TYPE_##L, 0), .apart = true,   \
                                                    .count = count, .compute = COMPUTE_##L}),      \
                 SIZES(I), const void *const *a, I lda, const void *const *b, I ldb,               \
                 const void *beta, void *const *c, I ldc, I count)
#define BATCHES(L)                                                                                 \
    GEMM_STRIDED(L, , int)                                                                         \
    GEMM_STRIDED(L, _64, int64_t) GEMM_BATCHED(L, , int) GEMM_BATCHED(L, _64, int64_t)
BATCHES(S)
BATCHES(D)
BATCHES(C)
BATCHES(Z)
BATCHES(H)

/* ---- those that are told the types -------------------------------------------------------------
 */

#define GEMM_EX(suffix, I)                                                                         \
    BLAS_ROUTINE(                                                                                  \
        GemmEx##suffix,                                                                            \
        ((void)algorithm, multiply(handle, &(struct product){COMMON, .a = OPERAND(a, type_a, 0),   \
                                                             .b = OPERAND(b, type_b, 0),           \
                                                             .c = OPERAND(c, type_c, 0),           \
                                                             .count = 1, .compute = compute})),    \
        SIZES(I), const void *a, int type_a, I lda, const void *b, int type_b, I ldb,              \
        const void *beta, void *c, int type_c, I ldc, int compute, int algorithm)
#define GEMM_EX_STRIDED(suffix, I)                                                                 \
    BLAS_ROUTINE(GemmStridedBatchedEx##suffix,                                                     \
                 ((void)algorithm,                                                                 \
                  multiply(handle, &(struct product){COMMON, .a = OPERAND(a, type_a, next_a),      \
                                                     .b = OPERAND(b, type_b, next_b),              \
                                                     .c = OPERAND(c, type_c, next_c),              \
                                                     .count = count, .compute = compute})),        \
                 SIZES(I), const void *a, int type_a, I lda, long long next_a, const void *b,      \
                 int type_b, I ldb, long long next_b, const void *beta, void *c, int type_c,       \
                 I ldc, long long next_c, I count, int compute, int algorithm)
#define GEMM_EX_BATCHED(suffix, I)                                                                 \
    BLAS_ROUTINE(GemmBatchedEx##suffix,                                                            \
                 ((void)algorithm,                                                                 \
                  multiply(handle, &(struct product){COMMON, .a = OPERAND(a, type_a, 0),           \
                                                     .b = OPERAND(b, type_b, 0),                   \
                                                     .c = OPERAND(c, type_c, 0), .apart = true,    \
                                                     .count = count, .compute = compute})),        \
                 SIZES(I), const void *const *a, int type_a, I lda, const void *const *b,          \
                 int type_b, I ldb, const void *beta, void *const *c, int type_c, I ldc, I count,  \
                 int compute, int algorithm)
/* Of float factors, whatever C is of. */
#define GEMM_EX_OF(L, suffix, I)                                                                   \
    BLAS_ROUTINE(                                                                                  \
        L##gemmEx##suffix,                                                                         \
        multiply(handle, &(struct product){COMMON, .a = OPERAND(a, type_a, 0),                     \
                                           .b = OPERAND(b, type_b, 0), .c = OPERAND(c, type_c, 0), \
                                           .count = 1, .compute = COMPUTE_##L}),                   \
        SIZES(I), const void *a, int type_a, I lda, const void *b, int type_b, I ldb,              \
        const void *beta, void *c, int type_c, I ldc)
#define OF_TYPES(suffix, I)                                                                        \
    GEMM_EX(suffix, I)                                                                             \
    GEMM_EX_STRIDED(suffix, I)                                                                     \
    GEMM_EX_BATCHED(suffix, I) GEMM_EX_OF(S, suffix, I) GEMM_EX_OF(C, suffix, I)
OF_TYPES(, int)
OF_TYPES(_64, int64_t)
