/* Factorisations of many small matrices, and solutions by them. */
#include "emulator/standins/cublas/blas.h"

enum { THREADS = 64 }; /* of a block, which has one matrix */

/* What the caller gave: arrays of matrices on the device. */
struct given {
    const char *routine;
    int op;
    int64_t n, columns;
    const void *a;
    int64_t lda;
    const void *b; /* NULL: the routine has none */
    int64_t ldb;
    const int *pivots;
    int *info;
    int64_t count;
};

static bool is_fine(const struct given *g)
{
    const int64_t least = g->n > 1 ? g->n : 1;
    return blas_is_op(g->op) && g->n >= 0 && g->columns >= 0 && g->count >= 0 && g->lda >= least &&
           (g->b == NULL || g->ldb >= least);
}

static enum blas_status run(const struct cublasContext *handle, enum blas_letter letter,
                            const struct given *g)
{
    const struct blas_factors p = {.n = g->n,
                                   .columns = g->columns,
                                   .op = g->op,
                                   .a = blas_matrix(g->a, g->lda, BLAS_OP_N),
                                   .b = blas_matrix(g->b, g->ldb, BLAS_OP_N),
                                   .pivots = (int32_t *)(uintptr_t)g->pivots,
                                   .info = g->info};
    const struct standin_size size = {
        .x = (uint64_t)g->count * THREADS, .y = 1, .z = 1, .block_x = THREADS, .block_y = 1};
    if (!is_fine(g)) return BLAS_INVALID_VALUE;
    return blas_launch(handle, g->routine, blas_suffix(letter), &size, &p);
}

/* `info` is on the host, and says which argument is wrong. */
static enum blas_status solve(const struct cublasContext *handle, enum blas_letter letter,
                              const struct given *g, int *info)
{
    if (info == NULL) return BLAS_INVALID_VALUE;
    *info = 0;
    return run(handle, letter, g);
}

static enum blas_status invert(const struct cublasContext *handle, enum blas_letter letter,
                               const struct given *g)
{
    return g->n > BLAS_INVERSE_MOST ? BLAS_INVALID_VALUE : run(handle, letter, g);
}

#define FACTORS(L)                                                                                 \
    BLAS_ROUTINE(L##getrfBatched,                                                                  \
                 run(handle, BLAS_##L,                                                             \
                     &(struct given){.routine = "getrf",                                           \
                                     .n = n,                                                       \
                                     .a = a,                                                       \
                                     .lda = lda,                                                   \
                                     .pivots = pivots,                                             \
                                     .info = info,                                                 \
                                     .count = count}),                                             \
                 int n, void *const *a, int lda, int *pivots, int *info, int count)                \
    BLAS_ROUTINE(                                                                                  \
        L##getrsBatched,                                                                           \
        solve(handle, BLAS_##L,                                                                    \
              &(struct given){"getrs", op, n, columns, a, lda, b, ldb, pivots, NULL, count},       \
              info),                                                                               \
        int op, int n, int columns, const void *const *a, int lda, const int *pivots,              \
        void *const *b, int ldb, int *info, int count)                                             \
    BLAS_ROUTINE(                                                                                  \
        L##geqrfBatched,                                                                           \
        solve(handle, BLAS_##L,                                                                    \
              &(struct given){"geqrf_each", BLAS_OP_N, m, n, a, lda, tau, m, NULL, NULL, count},   \
              info),                                                                               \
        int m, int n, void *const *a, int lda, void *const *tau, int *info, int count)             \
    BLAS_ROUTINE(                                                                                  \
        L##getriBatched,                                                                           \
        run(handle, BLAS_##L,                                                                      \
            &(struct given){"getri", BLAS_OP_N, n, n, a, lda, c, ldc, pivots, info, count}),       \
        int n, const void *const *a, int lda, const int *pivots, void *const *c, int ldc,          \
        int *info, int count)                                                                      \
    BLAS_ROUTINE(L##matinvBatched,                                                                 \
                 invert(handle, BLAS_##L,                                                          \
                        &(struct given){"matinv", BLAS_OP_N, n, n, a, lda, inverse, ldi, NULL,     \
                                        info, count}),                                             \
                 int n, const void *const *a, int lda, void *const *inverse, int ldi, int *info,   \
                 int count)
FACTORS(S)
FACTORS(D)
FACTORS(C)
FACTORS(Z)
