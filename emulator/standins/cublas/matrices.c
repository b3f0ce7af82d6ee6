/* Level 2, a matrix and vectors, and what of level 3 is no general product: symmetric, hermitian
 * and triangular matrices, sums, and diagonals. */
#include "emulator/standins/cublas/blas.h"

enum { LINE = 128, TILE_X = 32, TILE_Y = 8 }; /* threads of a block: of a row of them, of a tile */

static struct standin_size line(int64_t threads)
{
    return (struct standin_size){
        .x = threads > 0 ? (uint64_t)threads : 0, .y = 1, .z = 1, .block_x = LINE, .block_y = 1};
}

static struct standin_size tile(int64_t x, int64_t y)
{
    return (struct standin_size){.x = x > 0 ? (uint64_t)x : 0,
                                 .y = y > 0 ? (uint64_t)y : 0,
                                 .z = 1,
                                 .block_x = TILE_X,
                                 .block_y = TILE_Y};
}

/* op(A) of a matrix of which one triangle is stored has the other one, unless it is A itself. */
static bool is_upper(int fill, int op)
{
    return (fill == BLAS_UPPER) == (op == BLAS_OP_N);
}

static bool is_fine(int64_t rows, int64_t ld)
{
    return rows >= 0 && ld >= (rows > 1 ? rows : 1);
}

/* ---- level 2 -----------------------------------------------------------------------------------
 */

/* What the caller gave; zeros and NULL where a routine has no such thing. */
struct given2 {
    enum blas_letter letter;
    int op, fill, unit;
    bool hermitian, real; /* alpha is of the real type */
    int64_t rows, m, n;   /* of A as it is stored, of op(A) */
    const void *alpha, *a;
    int64_t ld;
    const void *x;
    int64_t step_x;
    const void *beta, *y;
    int64_t step_y;
};

static enum blas_status run2(const struct cublasContext *handle, const char *routine,
                             const struct given2 *g, int64_t length_x, int64_t length_y,
                             const struct standin_size *size)
{
    struct blas_level2 p = {.m = g->m,
                            .n = g->n,
                            .a = blas_matrix(g->a, g->ld, g->op),
                            .x = blas_vector(g->letter, g->x, length_x, g->step_x),
                            .y = blas_vector(g->letter, g->y, length_y, g->step_y),
                            .upper = is_upper(g->fill, g->op),
                            .unit = g->unit,
                            .hermitian = g->hermitian};
    if (!is_fine(g->rows, g->ld) || g->m < 0 || g->n < 0 || g->step_x == 0 ||
        (g->y != NULL && g->step_y == 0))
        return BLAS_INVALID_VALUE;
    if (g->alpha != NULL) p.alpha = blas_scalar(handle, g->letter, g->real, g->alpha);
    if (g->beta != NULL) p.beta = blas_scalar(handle, g->letter, false, g->beta);
    return blas_launch(handle, routine, blas_suffix(g->letter), size, &p);
}

static enum blas_status times_vector(const struct cublasContext *handle, const char *routine,
                                     const struct given2 *g)
{
    const struct standin_size size = line(g->m);
    if (g->alpha == NULL || g->beta == NULL) return BLAS_INVALID_VALUE;
    return run2(handle, routine, g, g->n, g->m, &size);
}

static enum blas_status rank_one(const struct cublasContext *handle, const char *routine,
                                 const struct given2 *g)
{
    const struct standin_size size = tile(g->m, g->n);
    if (g->alpha == NULL) return BLAS_INVALID_VALUE;
    return run2(handle, routine, g, g->m, g->n, &size);
}

static enum blas_status triangle(const struct cublasContext *handle, const char *routine,
                                 const struct given2 *g)
{
    const struct standin_size size = {.x = 1, .y = 1, .z = 1, .block_x = 1, .block_y = 1};
    return run2(handle, routine, g, g->n, g->n, &size);
}

#define LEVEL2(name, run, routine, given, ...)                                                     \
    BLAS_ROUTINE(name, run(handle, routine, &(struct given2)given), __VA_ARGS__)
#define LIST(...)                                                                                  \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define TIMES .alpha = alpha, .a = a, .ld = lda, .x = x, .step_x = step_x
#define PLUS .beta = beta, .y = y, .step_y = step_y
#define VECTOR(name, I) const void *name, I step_##name
#define MATRIX(I) const void *a, I lda

#define GEMV(L, suffix, I)                                                                         \
    LEVEL2(L##gemv_v2##suffix, times_vector, "gemv",                                               \
           LIST(.letter = BLAS_##L, .op = op, .rows = m, .m = op == BLAS_OP_N ? m : n,             \
                .n = op == BLAS_OP_N ? n : m, TIMES, PLUS),                                        \
           int op, I m, I n, const void *alpha, MATRIX(I), VECTOR(x, I), const void *beta,         \
           VECTOR(y, I))
#define SYMV(L, name, is_hermitian, suffix, I)                                                     \
    LEVEL2(name##_v2##suffix, times_vector, "symv",                                                \
           LIST(.letter = BLAS_##L, .fill = fill, .hermitian = is_hermitian, .rows = n, .m = n,    \
                .n = n, TIMES, PLUS),                                                              \
           int fill, I n, const void *alpha, MATRIX(I), VECTOR(x, I), const void *beta,            \
           VECTOR(y, I))
#define GER(L, name, conjugates, suffix, I)                                                        \
    LEVEL2(name##_v2##suffix, rank_one, "ger",                                                     \
           LIST(.letter = BLAS_##L, .rows = m, .m = m, .n = n, .hermitian = conjugates,            \
                .alpha = alpha, .a = a, .ld = lda, .x = x, .step_x = step_x, .y = y,               \
                .step_y = step_y),                                                                 \
           I m, I n, const void *alpha, VECTOR(x, I), VECTOR(y, I), void *a, I lda)
#define SYR(L, name, is_hermitian, suffix, I)                                                      \
    LEVEL2(name##_v2##suffix, rank_one, "syr",                                                     \
           LIST(.letter = BLAS_##L, .fill = fill, .hermitian = is_hermitian, .real = is_hermitian, \
                .rows = n, .m = n, .n = n, .alpha = alpha, .a = a, .ld = lda, .x = x,              \
                .step_x = step_x, .y = x, .step_y = step_x),                                       \
           int fill, I n, const void *alpha, VECTOR(x, I), void *a, I lda)
#define SYR2(L, name, is_hermitian, suffix, I)                                                     \
    LEVEL2(name##_v2##suffix, rank_one, "syr2",                                                    \
           LIST(.letter = BLAS_##L, .fill = fill, .hermitian = is_hermitian, .rows = n, .m = n,    \
                .n = n, .alpha = alpha, .a = a, .ld = lda, .x = x, .step_x = step_x, .y = y,       \
                .step_y = step_y),                                                                 \
           int fill, I n, const void *alpha, VECTOR(x, I), VECTOR(y, I), void *a, I lda)
#define TRIANGLE(L, name, routine, suffix, I)                                                      \
    LEVEL2(L##name##_v2##suffix, triangle, routine,                                                \
           LIST(.letter = BLAS_##L, .fill = fill, .op = op, .unit = unit, .rows = n, .m = n,       \
                .n = n, .a = a, .ld = lda, .x = x, .step_x = step_x),                              \
           int fill, int op, int unit, I n, MATRIX(I), void *x, I step_x)
#define OF_TYPE2(L, suffix, I)                                                                     \
    GEMV(L, suffix, I)                                                                             \
    SYMV(L, L##symv, false, suffix, I)                                                             \
    SYR(L, L##syr, false, suffix, I)                                                               \
    SYR2(L, L##syr2, false, suffix, I)                                                             \
    TRIANGLE(L, trmv, "trmv", suffix, I) TRIANGLE(L, trsv, "trsv", suffix, I)
#define LEVEL_2(suffix, I)                                                                         \
    OF_TYPE2(S, suffix, I)                                                                         \
    OF_TYPE2(D, suffix, I)                                                                         \
    OF_TYPE2(C, suffix, I)                                                                         \
    OF_TYPE2(Z, suffix, I)                                                                         \
    GER(S, Sger, false, suffix, I)                                                                 \
    GER(D, Dger, false, suffix, I)                                                                 \
    GER(C, Cgeru, false, suffix, I)                                                                \
    GER(C, Cgerc, true, suffix, I)                                                                 \
    GER(Z, Zgeru, false, suffix, I)                                                                \
    GER(Z, Zgerc, true, suffix, I)                                                                 \
    SYMV(C, Chemv, true, suffix, I)                                                                \
    SYMV(Z, Zhemv, true, suffix, I)                                                                \
    SYR(C, Cher, true, suffix, I)                                                                  \
    SYR(Z, Zher, true, suffix, I) SYR2(C, Cher2, true, suffix, I) SYR2(Z, Zher2, true, suffix, I)
LEVEL_2(, int)
LEVEL_2(_64, int64_t)

/* ---- level 3 -----------------------------------------------------------------------------------
 */

struct given3 {
    enum blas_letter letter;
    int op_a, op_b, fill, unit;
    bool right, hermitian, both;
    bool b_is_vector;           /* ldb is its step, which may be below zero */
    bool real_alpha, real_beta; /* these are of the real type */
    int64_t m, n, k;
    const void *alpha, *beta;
    const void *a;
    int64_t lda;
    const void *b;
    int64_t ldb;
    const void *c; /* NULL: the result takes the place of B */
    int64_t ldc;
    int64_t rows_a, rows_b; /* as they are stored */
};

static enum blas_status run3(const struct cublasContext *handle, const char *routine,
                             const struct given3 *g, const struct standin_size *size)
{
    struct blas_level3 p = {.m = g->m,
                            .n = g->n,
                            .k = g->k,
                            .a = blas_matrix(g->a, g->lda, g->op_a),
                            .b = blas_matrix(g->b, g->ldb, g->op_b),
                            .c = blas_matrix(g->c, g->ldc, BLAS_OP_N),
                            .right = g->right,
                            .upper = is_upper(g->fill, g->op_a),
                            .unit = g->unit,
                            .hermitian = g->hermitian,
                            .both = g->both};
    if (g->m < 0 || g->n < 0 || g->k < 0 || !is_fine(g->rows_a, g->lda) ||
        (!g->b_is_vector && !is_fine(g->rows_b, g->ldb)) ||
        (g->c != NULL && !is_fine(g->m, g->ldc)))
        return BLAS_INVALID_VALUE;
    if (g->alpha != NULL) p.alpha = blas_scalar(handle, g->letter, g->real_alpha, g->alpha);
    if (g->beta != NULL) p.beta = blas_scalar(handle, g->letter, g->real_beta, g->beta);
    return blas_launch(handle, routine, blas_suffix(g->letter), size, &p);
}

/* A thread for each element of the result. */
static enum blas_status by_element(const struct cublasContext *handle, const char *routine,
                                   const struct given3 *g)
{
    const struct standin_size size = tile(g->m, g->n);
    return run3(handle, routine, g, &size);
}

/* A thread for each of the vectors that a triangle is multiplied with, or solved for. */
static enum blas_status by_vector(const struct cublasContext *handle, const char *routine,
                                  const struct given3 *g)
{
    const struct standin_size size = line(g->right ? g->m : g->n);
    return run3(handle, routine, g, &size);
}

/* The same for `k` triangles, each with vectors of its own. */
static enum blas_status by_vector_each(const struct cublasContext *handle, const char *routine,
                                       const struct given3 *g)
{
    enum { MOST = 4096 }; /* in a launch; each is done with several then */
    struct standin_size size = line(g->right ? g->m : g->n);
    size.z = (uint64_t)(g->k < MOST ? g->k : MOST);
    return run3(handle, routine, g, &size);
}

#define LEVEL3(name, run, routine, given, ...)                                                     \
    BLAS_ROUTINE(name, run(handle, routine, &(struct given3)given), __VA_ARGS__)
#define A_AND_C .alpha = alpha, .a = a, .lda = lda, .c = c, .ldc = ldc
#define AND_B .b = b, .ldb = ldb
#define SECOND(I) const void *b, I ldb
#define RESULT(I) void *c, I ldc

#define SYMM(L, name, is_hermitian, suffix, I)                                                     \
    LEVEL3(name##_v2##suffix, by_element, "symm",                                                  \
           LIST(.letter = BLAS_##L, .right = side == BLAS_RIGHT, .fill = fill,                     \
                .hermitian = is_hermitian, .m = m, .n = n, .rows_a = side == BLAS_RIGHT ? n : m,   \
                .rows_b = m, .beta = beta, A_AND_C, AND_B),                                        \
           int side, int fill, I m, I n, const void *alpha, MATRIX(I), SECOND(I),                  \
           const void *beta, RESULT(I))
/* op(A) is n x k. The triangle is that of C, whichever way A is stored. */
#define RANK(L, name, is_hermitian, alpha_is_real, twice, B, second, suffix, I, ...)               \
    LEVEL3(name##suffix, by_element, "rank_k",                                                     \
           LIST(.letter = BLAS_##L, .op_a = op, .op_b = op,                                        \
                .fill = (fill == BLAS_UPPER) == (op == BLAS_OP_N) ? BLAS_UPPER : BLAS_LOWER,       \
                .hermitian = is_hermitian, .real_alpha = alpha_is_real, .real_beta = is_hermitian, \
                .both = twice, .m = n, .n = n, .k = k, .rows_a = op == BLAS_OP_N ? n : k,          \
                .rows_b = op == BLAS_OP_N ? n : k, .beta = beta, A_AND_C, .b = B, .ldb = second),  \
           __VA_ARGS__)
#define RANK_ONE_MATRIX(L, name, is_hermitian, suffix, I)                                          \
    RANK(L, name##_v2, is_hermitian, is_hermitian, false, a, lda, suffix, I, int fill, int op,     \
         I n, I k, const void *alpha, MATRIX(I), const void *beta, RESULT(I))
#define RANK_TWO_MATRICES(L, name, is_hermitian, twice, suffix, I)                                 \
    RANK(L, name, is_hermitian, false, twice, b, ldb, suffix, I, int fill, int op, I n, I k,       \
         const void *alpha, MATRIX(I), SECOND(I), const void *beta, RESULT(I))
#define TRMM(L, suffix, I)                                                                         \
    LEVEL3(L##trmm_v2##suffix, by_vector, "trmm",                                                  \
           LIST(.letter = BLAS_##L, .right = side == BLAS_RIGHT, .fill = fill, .op_a = op,         \
                .unit = unit, .m = m, .n = n, .rows_a = side == BLAS_RIGHT ? n : m, .rows_b = m,   \
                A_AND_C, AND_B),                                                                   \
           int side, int fill, int op, int unit, I m, I n, const void *alpha, MATRIX(I),           \
           SECOND(I), RESULT(I))
#define TRSM(L, suffix, I)                                                                         \
    LEVEL3(L##trsm_v2##suffix, by_vector, "trsm",                                                  \
           LIST(.letter = BLAS_##L, .right = side == BLAS_RIGHT, .fill = fill, .op_a = op,         \
                .unit = unit, .m = m, .n = n, .rows_a = side == BLAS_RIGHT ? n : m, .rows_b = m,   \
                .alpha = alpha, .a = a, .lda = lda, AND_B),                                        \
           int side, int fill, int op, int unit, I m, I n, const void *alpha, MATRIX(I), void *b,  \
           I ldb)
#define TRSM_BATCHED(L, suffix, I)                                                                 \
    LEVEL3(L##trsmBatched##suffix, by_vector_each, "trsm_each",                                    \
           LIST(.letter = BLAS_##L, .right = side == BLAS_RIGHT, .fill = fill, .op_a = op,         \
                .unit = unit, .m = m, .n = n, .k = count, .rows_a = side == BLAS_RIGHT ? n : m,    \
                .rows_b = m, .alpha = alpha, .a = a, .lda = lda, AND_B),                           \
           int side, int fill, int op, int unit, I m, I n, const void *alpha,                      \
           const void *const *a, I lda, void *const *b, I ldb, I count)
#define GEAM(L, suffix, I)                                                                         \
    LEVEL3(L##geam##suffix, by_element, "geam",                                                    \
           LIST(.letter = BLAS_##L, .op_a = op_a, .op_b = op_b, .m = m, .n = n,                    \
                .rows_a = op_a == BLAS_OP_N ? m : n, .rows_b = op_b == BLAS_OP_N ? m : n,          \
                .beta = beta, A_AND_C, AND_B),                                                     \
           int op_a, int op_b, I m, I n, const void *alpha, MATRIX(I), const void *beta,           \
           SECOND(I), RESULT(I))
/* The diagonal is a vector, whose step may be negative; as a matrix it is a row. */
#define DGMM(L, suffix, I)                                                                         \
    LEVEL3(L##dgmm##suffix, by_element, "dgmm",                                                    \
           LIST(.letter = BLAS_##L, .right = side == BLAS_RIGHT, .b_is_vector = true,              \
                .op_b = BLAS_OP_T, .m = m, .n = n, .rows_a = m, .a = a, .lda = lda, .c = c,        \
                .ldc = ldc,                                                                        \
                .b = blas_vector(BLAS_##L, x, side == BLAS_RIGHT ? n : m, step_x).first,           \
                .ldb = step_x),                                                                    \
           int side, I m, I n, MATRIX(I), VECTOR(x, I), RESULT(I))
#define OF_TYPE3(L, suffix, I)                                                                     \
    SYMM(L, L##symm, false, suffix, I)                                                             \
    RANK_ONE_MATRIX(L, L##syrk, false, suffix, I)                                                  \
    RANK_TWO_MATRICES(L, L##syr2k_v2, false, true, suffix, I)                                      \
    RANK_TWO_MATRICES(L, L##syrkx, false, false, suffix, I)                                        \
    TRMM(L, suffix, I)                                                                             \
    TRSM(L, suffix, I) TRSM_BATCHED(L, suffix, I) GEAM(L, suffix, I) DGMM(L, suffix, I)
#define LEVEL_3(suffix, I)                                                                         \
    OF_TYPE3(S, suffix, I)                                                                         \
    OF_TYPE3(D, suffix, I)                                                                         \
    OF_TYPE3(C, suffix, I)                                                                         \
    OF_TYPE3(Z, suffix, I)                                                                         \
    SYMM(C, Chemm, true, suffix, I)                                                                \
    SYMM(Z, Zhemm, true, suffix, I)                                                                \
    RANK_ONE_MATRIX(C, Cherk, true, suffix, I)                                                     \
    RANK_ONE_MATRIX(Z, Zherk, true, suffix, I)                                                     \
    RANK_TWO_MATRICES(C, Cher2k_v2, true, true, suffix, I)                                         \
    RANK_TWO_MATRICES(Z, Zher2k_v2, true, true, suffix, I)                                         \
    RANK_TWO_MATRICES(C, Cherkx, true, false, suffix, I)                                           \
    RANK_TWO_MATRICES(Z, Zherkx, true, false, suffix, I)
LEVEL_3(, int)
LEVEL_3(_64, int64_t)
