/* Products of a sparse matrix with dense ones. */
#include "emulator/standins/cusparse/sparse.h"

#include <stdio.h>

/* C = alpha op(A) op(B) + beta C. */
struct product {
    int op_a, op_b;
    const void *alpha, *beta;
    const struct cusparseSpMatDescr *a;
    const struct cusparseDnMatDescr *b, *c;
    int compute;
};

/* The suffix of the kernels; NULL: none has these types. */
static const char *suffix_of(const struct product *p)
{
    static const struct {
        int a, c, compute;
        const char *suffix;
    } mixed[] = {
        {BLAS_R_16F, BLAS_R_16F, BLAS_R_32F, "f16"},
        {BLAS_R_16F, BLAS_R_32F, BLAS_R_32F, "f16_f32"},
        {BLAS_R_16BF, BLAS_R_16BF, BLAS_R_32F, "bf16"},
        {BLAS_R_16BF, BLAS_R_32F, BLAS_R_32F, "bf16_f32"},
    };
    const int a = p->a->type, c = p->c->type;
    if (a != p->b->type) return NULL;
    if (sparse_is_computed(a)) return c == a && p->compute == a ? sparse_suffix(a) : NULL;
    for (size_t k = 0; k < sizeof mixed / sizeof *mixed; k++)
        if (mixed[k].a == a && mixed[k].c == c && mixed[k].compute == p->compute)
            return mixed[k].suffix;
    return NULL;
}

static enum sparse_status refuse(const struct product *p)
{
    enum { LONGEST = 128 };
    char what[LONGEST];
    snprintf(what, sizeof what,
             "a product of cuSPARSE of these types (cudaDataType of A %d, B %d, C %d, computed in "
             "%d)",
             p->a->type, p->b->type, p->c->type, p->compute);
    return sparse_lacks(what);
}

static int64_t rows_of(const struct cusparseDnMatDescr *m, int op)
{
    return op == SPARSE_OP_N ? m->rows : m->columns;
}
static int64_t columns_of(const struct cusparseDnMatDescr *m, int op)
{
    return op == SPARSE_OP_N ? m->columns : m->rows;
}

static bool is_right(const struct product *p)
{
    if (p->a == NULL || p->b == NULL || p->c == NULL || p->alpha == NULL || p->beta == NULL ||
        !sparse_is_op_of(p->op_a, p->a->type) || !sparse_is_op_of(p->op_b, p->b->type))
        return false;
    const bool is_plain = p->op_a == SPARSE_OP_N;
    return (is_plain ? p->a->rows : p->a->columns) == p->c->rows &&
           (is_plain ? p->a->columns : p->a->rows) == rows_of(p->b, p->op_b) &&
           columns_of(p->b, p->op_b) == p->c->columns;
}

/* Without a row of C for each line of A, C is multiplied by beta first, and then added to. */
static enum sparse_status scatter(const struct cusparseContext *handle, const struct product *p,
                                  const char *suffix, const struct sparse_product *given,
                                  int64_t batch)
{
    const struct sparse_scaling scaling = {
        .c = given->c, .m = p->c->rows, .n = p->c->columns, .beta = given->beta};
    if (sparse_bytes(p->c->type) < sizeof(float)) return refuse(p);
    const enum sparse_status status = sparse_each(handle, "scale", sparse_suffix(p->c->type),
                                                  p->c->rows, p->c->columns, batch, &scaling);
    if (status != SPARSE_SUCCESS) return status;
    return sparse_each(handle, "scatter_product", suffix, given->a.lines, given->n, batch, given);
}

static enum sparse_status multiply(const struct cusparseContext *handle, const struct product *p)
{
    if (!is_right(p)) return SPARSE_INVALID_VALUE;
    const char *suffix = suffix_of(p);
    if (suffix == NULL) return refuse(p);
    const bool is_plain = p->op_a == SPARSE_OP_N, by_columns = p->a->format == SPARSE_CSC;
    const struct sparse_product given = {.a = sparse_matrix(p->a),
                                         .b = sparse_dense(p->b, p->op_b),
                                         .c = sparse_dense(p->c, SPARSE_OP_N),
                                         .n = p->c->columns,
                                         .alpha = sparse_factor(handle, p->compute, p->alpha),
                                         .beta = sparse_factor(handle, p->compute, p->beta),
                                         .conjugate = p->op_a == SPARSE_OP_C,
                                         .to_places = is_plain == by_columns};
    const int64_t batch = p->c->batch;
    if (given.to_places || p->a->format == SPARSE_COO)
        return scatter(handle, p, suffix, &given, batch);
    return sparse_each(handle, "product", suffix, given.a.lines, given.n, batch, &given);
}

static enum sparse_status multiply_vector(const struct cusparseContext *handle, int op,
                                          const void *alpha, const struct cusparseSpMatDescr *a,
                                          const struct cusparseDnVecDescr *x, const void *beta,
                                          const struct cusparseDnVecDescr *y, int compute)
{
    if (x == NULL || y == NULL) return SPARSE_INVALID_VALUE;
    const struct cusparseDnMatDescr b = sparse_column(x), c = sparse_column(y);
    return multiply(handle, &(struct product){.op_a = op,
                                              .alpha = alpha,
                                              .beta = beta,
                                              .a = a,
                                              .b = &b,
                                              .c = &c,
                                              .compute = compute});
}

#define IGNORED (void)algorithm, (void)buffer
#define VECTOR_PARAMETERS                                                                          \
    int op, const void *alpha, const struct cusparseSpMatDescr *a,                                 \
        const struct cusparseDnVecDescr *x, const void *beta, const struct cusparseDnVecDescr *y,  \
        int compute, int algorithm
#define MATRIX_PARAMETERS                                                                          \
    int op_a, int op_b, const void *alpha, const struct cusparseSpMatDescr *a,                     \
        const struct cusparseDnMatDescr *b, const void *beta, const struct cusparseDnMatDescr *c,  \
        int compute, int algorithm
#define NO_VECTOR                                                                                  \
    (void)op, (void)alpha, (void)a, (void)x, (void)beta, (void)y, (void)compute, (void)algorithm
#define NO_MATRIX                                                                                  \
    (void)op_a, (void)op_b, (void)alpha, (void)a, (void)b, (void)beta, (void)c, (void)compute,     \
        (void)algorithm

SPARSE_ROUTINE(SpMV_bufferSize, (NO_VECTOR, sparse_least(size)), VECTOR_PARAMETERS, size_t *size)
SPARSE_ROUTINE(SpMV_preprocess, (NO_VECTOR, (void)buffer, SPARSE_SUCCESS), VECTOR_PARAMETERS,
               void *buffer)
SPARSE_ROUTINE(SpMV, (IGNORED, multiply_vector(handle, op, alpha, a, x, beta, y, compute)),
               VECTOR_PARAMETERS, void *buffer)
SPARSE_ROUTINE(SpMM_bufferSize, (NO_MATRIX, sparse_least(size)), MATRIX_PARAMETERS, size_t *size)
SPARSE_ROUTINE(SpMM_preprocess, (NO_MATRIX, (void)buffer, SPARSE_SUCCESS), MATRIX_PARAMETERS,
               void *buffer)
SPARSE_ROUTINE(SpMM,
               (IGNORED,
                multiply(handle, &(struct product){op_a, op_b, alpha, beta, a, b, c, compute})),
               MATRIX_PARAMETERS, void *buffer)

/* ---- a dense product where a sparse matrix has entries -----------------------------------------
 */

static enum sparse_status sample(const struct cusparseContext *handle, int op_a, int op_b,
                                 const void *alpha, const struct cusparseDnMatDescr *a,
                                 const struct cusparseDnMatDescr *b, const void *beta,
                                 const struct cusparseSpMatDescr *c, int compute)
{
    if (a == NULL || b == NULL || c == NULL || alpha == NULL || beta == NULL ||
        !sparse_is_op_of(op_a, a->type) || !sparse_is_op_of(op_b, b->type) ||
        rows_of(a, op_a) != c->rows || columns_of(b, op_b) != c->columns ||
        columns_of(a, op_a) != rows_of(b, op_b))
        return SPARSE_INVALID_VALUE;
    if (c->format != SPARSE_CSR || !sparse_is_computed(c->type) || a->type != c->type ||
        b->type != c->type || compute != c->type)
        return sparse_lacks("SDDMM of cuSPARSE of this format, or of these types");
    const struct sparse_sampling p = {.c = sparse_matrix(c),
                                      .a = sparse_dense(a, op_a),
                                      .b = sparse_dense(b, op_b),
                                      .k = columns_of(a, op_a),
                                      .alpha = sparse_factor(handle, compute, alpha),
                                      .beta = sparse_factor(handle, compute, beta)};
    return sparse_each(handle, "sample", sparse_suffix(c->type), p.c.lines, 1, c->batch, &p);
}

#define SAMPLE_PARAMETERS                                                                          \
    int op_a, int op_b, const void *alpha, const struct cusparseDnMatDescr *a,                     \
        const struct cusparseDnMatDescr *b, const void *beta, const struct cusparseSpMatDescr *c,  \
        int compute, int algorithm
SPARSE_ROUTINE(SDDMM_bufferSize, (NO_MATRIX, sparse_least(size)), SAMPLE_PARAMETERS, size_t *size)
SPARSE_ROUTINE(SDDMM_preprocess, (NO_MATRIX, (void)buffer, SPARSE_SUCCESS), SAMPLE_PARAMETERS,
               void *buffer)
SPARSE_ROUTINE(SDDMM, (IGNORED, sample(handle, op_a, op_b, alpha, a, b, beta, c, compute)),
               SAMPLE_PARAMETERS, void *buffer)
