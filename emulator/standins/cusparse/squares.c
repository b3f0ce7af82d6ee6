/* Products and sums of sparse matrices that are sparse themselves. */
#include "emulator/standins/cusparse/sparse.h"

#include <stdlib.h>

/* ---- products ----------------------------------------------------------------------------------
 */

/* What cusparseSpGEMM_createDescr makes. The arrays lie in the caller's buffers. */
struct cusparseSpGEMMDescr {
    int64_t products; /* how many; -1: not known yet */
    int64_t *before;  /* products before each row; rows + 1 */
    int64_t *counts;  /* entries of C before each row, likewise */
    int64_t *columns; /* of the products */
};

struct square {
    int op_a, op_b;
    const struct cusparseSpMatDescr *a, *b;
    struct cusparseSpMatDescr *c;
    int compute;
    struct cusparseSpGEMMDescr *descr;
};

static enum sparse_status look(const struct square *s)
{
    const struct cusparseSpMatDescr *a = s->a, *b = s->b, *c = s->c;
    if (a == NULL || b == NULL || c == NULL || s->descr == NULL || !sparse_is_op(s->op_a) ||
        !sparse_is_op(s->op_b))
        return SPARSE_INVALID_VALUE;
    if (s->op_a != SPARSE_OP_N || s->op_b != SPARSE_OP_N || a->format != SPARSE_CSR ||
        b->format != SPARSE_CSR || c->format != SPARSE_CSR)
        return sparse_lacks("SpGEMM of cuSPARSE of what is not CSR, or is transposed");
    if (!sparse_is_computed(a->type) || b->type != a->type || c->type != a->type ||
        s->compute != a->type)
        return sparse_lacks("SpGEMM of cuSPARSE of these types");
    if (a->rows != c->rows || a->columns != b->rows || b->columns != c->columns)
        return SPARSE_INVALID_VALUE;
    return SPARSE_SUCCESS;
}

static struct sparse_square square_of(const struct square *s)
{
    return (struct sparse_square){.a = sparse_matrix(s->a),
                                  .b = sparse_matrix(s->b),
                                  .c = sparse_matrix(s->c),
                                  .products = s->descr->before,
                                  .counts = s->descr->counts,
                                  .columns = s->descr->columns};
}

static enum sparse_status for_rows(const struct cusparseContext *handle, const char *routine,
                                   const char *suffix, const struct sparse_square *p)
{
    return sparse_each(handle, routine, suffix, p->a.lines, 1, 1, p);
}

/* Without a buffer: how large it is to be. */
static enum sparse_status estimate(const struct cusparseContext *handle, const struct square *s,
                                   size_t *size, void *buffer)
{
    struct sparse_buffer pieces = {.first = buffer};
    enum sparse_status status = look(s);
    if (status != SPARSE_SUCCESS || size == NULL)
        return status != SPARSE_SUCCESS ? status : SPARSE_INVALID_VALUE;
    int64_t *before = sparse_piece(&pieces, s->a->rows + 1, sizeof *before);
    if (buffer == NULL) {
        *size = pieces.taken;
        return SPARSE_SUCCESS;
    }
    s->descr->before = before;
    const struct sparse_square p = square_of(s);
    status = for_rows(handle, "count_products", "indices", &p);
    if (status == SPARSE_SUCCESS) status = sparse_scan(handle, before, s->a->rows);
    if (status != SPARSE_SUCCESS) return status;
    return sparse_take(handle, before + s->a->rows, &s->descr->products);
}

/* Finds where C has entries. `keeps`: the products before each row are kept in the buffer too,
 * because the caller may free the one that they are in. */
static enum sparse_status find_entries(const struct cusparseContext *handle, const struct square *s,
                                       bool keeps, size_t *size, void *buffer)
{
    struct sparse_buffer pieces = {.first = buffer};
    struct cusparseSpGEMMDescr *descr = s->descr;
    enum sparse_status status = look(s);
    if (status != SPARSE_SUCCESS) return status;
    if (size == NULL || descr->products < 0) return SPARSE_INVALID_VALUE;
    const int64_t rows = s->a->rows;
    int64_t *counts = sparse_piece(&pieces, rows + 1, sizeof *counts);
    int64_t *columns = sparse_piece(&pieces, descr->products, sizeof *columns);
    int64_t *before = keeps ? sparse_piece(&pieces, rows + 1, sizeof *before) : NULL;
    if (buffer == NULL) {
        *size = pieces.taken;
        return SPARSE_SUCCESS;
    }
    descr->counts = counts;
    descr->columns = columns;
    if (keeps) {
        const CUresult error =
            cuMemcpyDtoDAsync((CUdeviceptr)(uintptr_t)before, (CUdeviceptr)(uintptr_t)descr->before,
                              (size_t)(rows + 1) * sizeof *before, handle->stream);
        if (error != CUDA_SUCCESS) return sparse_status_of(error);
        descr->before = before;
    }
    const struct sparse_square p = square_of(s);
    status = for_rows(handle, "find_columns", "indices", &p);
    if (status == SPARSE_SUCCESS) status = sparse_scan(handle, counts, rows);
    if (status != SPARSE_SUCCESS) return status;
    return sparse_take(handle, counts + rows, &s->c->count);
}

static enum sparse_status write_entries(const struct cusparseContext *handle,
                                        const struct square *s)
{
    enum sparse_status status = look(s);
    if (status != SPARSE_SUCCESS) return status;
    if (s->descr->columns == NULL || s->c->starts == NULL) return SPARSE_INVALID_VALUE;
    const struct sparse_square p = square_of(s);
    status = sparse_give_starts(handle, p.counts, p.a.lines, p.c.base, p.c.starts, NULL);
    if (status != SPARSE_SUCCESS) return status;
    return for_rows(handle, "write_columns", "indices", &p);
}

static enum sparse_status compute(const struct cusparseContext *handle, const struct square *s,
                                  const void *alpha, const void *beta)
{
    const enum sparse_status status = look(s);
    if (status != SPARSE_SUCCESS) return status;
    if (alpha == NULL || beta == NULL || s->c->starts == NULL) return SPARSE_INVALID_VALUE;
    struct sparse_square p = square_of(s);
    p.alpha = sparse_factor(handle, s->compute, alpha);
    p.beta = sparse_factor(handle, s->compute, beta);
    return for_rows(handle, "square", sparse_suffix(s->c->type), &p);
}

static enum sparse_status write_all(const struct cusparseContext *handle, const struct square *s,
                                    const void *alpha, const void *beta)
{
    const enum sparse_status status = write_entries(handle, s);
    return status == SPARSE_SUCCESS ? compute(handle, s, alpha, beta) : status;
}

static enum sparse_status create_descr(struct cusparseSpGEMMDescr **made)
{
    if (made == NULL) return SPARSE_INVALID_VALUE;
    if ((*made = malloc(sizeof **made)) == NULL) return SPARSE_ALLOC_FAILED;
    **made = (struct cusparseSpGEMMDescr){.products = -1};
    return SPARSE_SUCCESS;
}

static enum sparse_status count_products(const struct cusparseSpGEMMDescr *descr, int64_t *products)
{
    if (descr == NULL || products == NULL || descr->products < 0) return SPARSE_INVALID_VALUE;
    *products = descr->products;
    return SPARSE_SUCCESS;
}

SPARSE_PLAIN(SpGEMM_createDescr, true, create_descr(made), struct cusparseSpGEMMDescr **made)
SPARSE_PLAIN(SpGEMM_destroyDescr, true, (free(descr), SPARSE_SUCCESS),
             struct cusparseSpGEMMDescr *descr)
SPARSE_PLAIN(SpGEMM_getNumProducts, true, count_products(descr, products),
             const struct cusparseSpGEMMDescr *descr, int64_t *products)

#define MATRICES const struct cusparseSpMatDescr *a, const struct cusparseSpMatDescr *b
#define PARAMETERS                                                                                 \
    int op_a, int op_b, const void *alpha, MATRICES, const void *beta,                             \
        struct cusparseSpMatDescr *c, int type, int algorithm, struct cusparseSpGEMMDescr *descr
#define GIVEN                                                                                      \
    &(struct square)                                                                               \
    {                                                                                              \
        op_a, op_b, a, b, c, type, descr                                                           \
    }
#define UNUSED (void)alpha, (void)beta, (void)algorithm

SPARSE_ROUTINE(SpGEMM_workEstimation, (UNUSED, estimate(handle, GIVEN, size, buffer)), PARAMETERS,
               size_t *size, void *buffer)
SPARSE_ROUTINE(SpGEMM_estimateMemory,
               (UNUSED, (void)part,
                buffer == NULL ? sparse_least(size)
                               : find_entries(handle, GIVEN, false, next_size, NULL)),
               PARAMETERS, float part, size_t *size, void *buffer, size_t *next_size)
SPARSE_ROUTINE(SpGEMM_compute, (UNUSED, find_entries(handle, GIVEN, false, size, buffer)),
               PARAMETERS, size_t *size, void *buffer)
SPARSE_ROUTINE(SpGEMM_copy, ((void)algorithm, write_all(handle, GIVEN, alpha, beta)), PARAMETERS)

/* Of what is reused the type is that of the matrices. */
#define REUSE_PARAMETERS                                                                           \
    int op_a, int op_b, MATRICES, struct cusparseSpMatDescr *c, int algorithm,                     \
        struct cusparseSpGEMMDescr *descr
#define REUSED                                                                                     \
    &(struct square)                                                                               \
    {                                                                                              \
        op_a, op_b, a, b, c, c != NULL ? c->type : BLAS_R_32F, descr                               \
    }

/* The caller frees the first two buffers behind this; what is needed lies in the third. */
static enum sparse_status find_for_reuse(const struct cusparseContext *handle,
                                         const struct square *s, size_t *sizes[3], void *third)
{
    if (sizes[0] == NULL || sizes[2] == NULL) return SPARSE_INVALID_VALUE;
    *sizes[0] = *sizes[2] = SPARSE_LEAST;
    return find_entries(handle, s, true, sizes[1], third);
}

static enum sparse_status write_for_reuse(const struct cusparseContext *handle,
                                          const struct square *s, size_t *size, const void *buffer)
{
    return buffer == NULL ? sparse_least(size) : write_entries(handle, s);
}

SPARSE_ROUTINE(SpGEMMreuse_workEstimation,
               ((void)algorithm, estimate(handle, REUSED, size, buffer)), REUSE_PARAMETERS,
               size_t *size, void *buffer)
SPARSE_ROUTINE(SpGEMMreuse_nnz,
               ((void)algorithm, (void)buffer2, (void)buffer4,
                find_for_reuse(handle, REUSED, (size_t *[3]){size2, size3, size4}, buffer3)),
               REUSE_PARAMETERS, size_t *size2, void *buffer2, size_t *size3, void *buffer3,
               size_t *size4, void *buffer4)
SPARSE_ROUTINE(SpGEMMreuse_copy, ((void)algorithm, write_for_reuse(handle, REUSED, size, buffer)),
               REUSE_PARAMETERS, size_t *size, void *buffer)
SPARSE_ROUTINE(SpGEMMreuse_compute, ((void)algorithm, compute(handle, GIVEN, alpha, beta)),
               PARAMETERS)

/* ---- sums --------------------------------------------------------------------------------------
 */

struct term {
    const struct cusparseMatDescr *description;
    int count;
    const void *values;
    const int *starts, *places;
};

static enum sparse_status sum_of(int m, int n, const struct term terms[3], struct sparse_sum *p)
{
    struct sparse_matrix *const of[] = {&p->a, &p->b, &p->c};
    if (m < 0 || n < 0) return SPARSE_INVALID_VALUE;
    for (size_t k = 0; k < 3; k++) {
        const struct term *term = &terms[k];
        if (term->description == NULL || term->count < 0) return SPARSE_INVALID_VALUE;
        *of[k] = sparse_csr(term->description, m, n, term->count, term->values, term->starts,
                            term->places);
    }
    if (p->a.base != p->b.base || p->a.base != p->c.base)
        return sparse_lacks("a sum of cuSPARSE whose matrices count from different numbers, which "
                            "NVIDIA's library adds as if they did not");
    return SPARSE_SUCCESS;
}

static enum sparse_status sum_need(int m, size_t *size)
{
    if (m < 0 || size == NULL) return SPARSE_INVALID_VALUE;
    *size = (size_t)(m + 1) * sizeof(int64_t);
    return SPARSE_SUCCESS;
}

static enum sparse_status count_sum(const struct cusparseContext *handle, int m, int n,
                                    const struct term terms[3], int *total, void *work)
{
    struct sparse_sum p = {.counts = work};
    enum sparse_status status = sum_of(m, n, terms, &p);
    if (status == SPARSE_SUCCESS && (work == NULL || total == NULL || terms[2].starts == NULL))
        status = SPARSE_INVALID_VALUE;
    if (status == SPARSE_SUCCESS)
        status = sparse_each(handle, "count_sums", "indices", m, 1, 1, &p);
    if (status == SPARSE_SUCCESS) status = sparse_scan(handle, p.counts, m);
    if (status != SPARSE_SUCCESS) return status;
    return sparse_give_starts(handle, p.counts, m, p.c.base, p.c.starts, total);
}

static enum sparse_status add(const struct cusparseContext *handle, int type, int m, int n,
                              const void *alpha, const void *beta, const struct term terms[3])
{
    struct sparse_sum p = {.counts = NULL};
    const enum sparse_status status = sum_of(m, n, terms, &p);
    if (status != SPARSE_SUCCESS || alpha == NULL || beta == NULL)
        return status != SPARSE_SUCCESS ? status : SPARSE_INVALID_VALUE;
    p.alpha = sparse_factor(handle, type, alpha);
    p.beta = sparse_factor(handle, type, beta);
    return sparse_each(handle, "sum", sparse_suffix(type), m, 1, 1, &p);
}

#define TERMS(c_count)                                                                             \
    (const struct term[3])                                                                         \
    {                                                                                              \
        {of_a, count_a, a, starts_a, places_a}, {of_b, count_b, b, starts_b, places_b},            \
            {of_c, c_count, c, starts_c, places_c},                                                \
    }
#define OF_VALUES(X)                                                                               \
    const struct cusparseMatDescr *of_##X, int count_##X, const void *X, const int *starts_##X,    \
        const int *places_##X
#define OF_INDICES(X)                                                                              \
    const struct cusparseMatDescr *of_##X, int count_##X, const int *starts_##X,                   \
        const int *places_##X
SPARSE_OLDER(Xcsrgeam2Nnz,
             count_sum(handle, m, n,
                       (const struct term[3]){{of_a, count_a, NULL, starts_a, places_a},
                                              {of_b, count_b, NULL, starts_b, places_b},
                                              {of_c, 0, NULL, starts_c, NULL}},
                       total, work),
             int m, int n, OF_INDICES(a), OF_INDICES(b), const struct cusparseMatDescr *of_c,
             int *starts_c, int *total, void *work)

#define SUM_PARAMETERS                                                                             \
    int m, int n, const void *alpha, OF_VALUES(a), const void *beta, OF_VALUES(b),                 \
        const struct cusparseMatDescr *of_c, const void *c, const int *starts_c,                   \
        const int *places_c
#define NO_SUM (void)n, (void)alpha, (void)beta, (void)TERMS(0)
#define SUMS(L, type)                                                                              \
    SPARSE_OLDER(L##csrgeam2_bufferSizeExt, (NO_SUM, sum_need(m, size)), SUM_PARAMETERS,           \
                 size_t *size)                                                                     \
    SPARSE_OLDER(L##csrgeam2, ((void)work, add(handle, type, m, n, alpha, beta, TERMS(0))),        \
                 SUM_PARAMETERS, void *work)
SUMS(S, BLAS_R_32F)
SUMS(D, BLAS_R_64F)
SUMS(C, BLAS_C_32F)
SUMS(Z, BLAS_C_64F)
