/* Between dense and sparse matrices, and between the formats of sparse ones. */
#include "emulator/standins/cusparse/sparse.h"

/* ---- dense and sparse --------------------------------------------------------------------------
 */

/* The dense matrix with the sparse one's lines as its rows. */
static struct blas_matrix by_lines(const struct cusparseDnMatDescr *dense, int format)
{
    return sparse_dense(dense, format == SPARSE_CSC ? SPARSE_OP_T : SPARSE_OP_N);
}

static enum sparse_status look(const struct cusparseSpMatDescr *sparse,
                               const struct cusparseDnMatDescr *dense)
{
    if (sparse == NULL || dense == NULL || sparse->rows != dense->rows ||
        sparse->columns != dense->columns || sparse->type != dense->type)
        return SPARSE_INVALID_VALUE;
    if (sparse_suffix(dense->type) == NULL)
        return sparse_lacks("a conversion of cuSPARSE of this type");
    return SPARSE_SUCCESS;
}

static enum sparse_status to_dense(const struct cusparseContext *handle,
                                   const struct cusparseSpMatDescr *a,
                                   const struct cusparseDnMatDescr *b)
{
    enum sparse_status status = look(a, b);
    if (status != SPARSE_SUCCESS) return status;
    const char *suffix = sparse_bytes_suffix(b->type);
    const struct sparse_scaling all = {
        .c = sparse_dense(b, SPARSE_OP_N), .m = b->rows, .n = b->columns};
    const struct sparse_conversion p = {.a = sparse_matrix(a), .b = by_lines(b, a->format)};
    status = sparse_each(handle, "clear", suffix, b->rows, b->columns, 1, &all);
    if (status != SPARSE_SUCCESS) return status;
    return sparse_each(handle, "to_dense", suffix, p.a.lines, 1, 1, &p);
}

static struct sparse_conversion conversion_of(const struct cusparseDnMatDescr *a,
                                              const struct cusparseSpMatDescr *b, void *buffer)
{
    const bool by_columns = b->format == SPARSE_CSC;
    return (struct sparse_conversion){.a = sparse_matrix(b),
                                      .b = by_lines(a, b->format),
                                      .lines = by_columns ? a->columns : a->rows,
                                      .places = by_columns ? a->rows : a->columns,
                                      .counts = buffer};
}

static enum sparse_status to_sparse_need(const struct cusparseDnMatDescr *a,
                                         const struct cusparseSpMatDescr *b, size_t *size)
{
    const enum sparse_status status = look(b, a);
    if (status != SPARSE_SUCCESS || size == NULL)
        return status != SPARSE_SUCCESS ? status : SPARSE_INVALID_VALUE;
    *size = (size_t)(conversion_of(a, b, NULL).lines + 1) * sizeof(int64_t);
    return SPARSE_SUCCESS;
}

static enum sparse_status analyse(const struct cusparseContext *handle,
                                  const struct cusparseDnMatDescr *a, struct cusparseSpMatDescr *b,
                                  void *buffer)
{
    enum sparse_status status = look(b, a);
    if (status != SPARSE_SUCCESS || buffer == NULL)
        return status != SPARSE_SUCCESS ? status : SPARSE_INVALID_VALUE;
    const struct sparse_conversion p = conversion_of(a, b, buffer);
    status = sparse_each(handle, "count_entries", sparse_suffix(a->type), p.lines, 1, 1, &p);
    if (status == SPARSE_SUCCESS) status = sparse_scan(handle, p.counts, p.lines);
    if (status != SPARSE_SUCCESS) return status;
    return sparse_take(handle, p.counts + p.lines, &b->count);
}

static enum sparse_status convert(const struct cusparseContext *handle,
                                  const struct cusparseDnMatDescr *a,
                                  const struct cusparseSpMatDescr *b, void *buffer)
{
    enum sparse_status status = look(b, a);
    if (status != SPARSE_SUCCESS || buffer == NULL)
        return status != SPARSE_SUCCESS ? status : SPARSE_INVALID_VALUE;
    const struct sparse_conversion p = conversion_of(a, b, buffer);
    if (p.a.starts.first != NULL)
        status = sparse_give_starts(handle, p.counts, p.lines, p.a.base, p.a.starts, NULL);
    if (status != SPARSE_SUCCESS) return status;
    return sparse_each(handle, "to_sparse", sparse_suffix(a->type), p.lines, 1, 1, &p);
}

SPARSE_ROUTINE(SparseToDense_bufferSize, ((void)a, (void)b, (void)algorithm, sparse_least(size)),
               const struct cusparseSpMatDescr *a, const struct cusparseDnMatDescr *b,
               int algorithm, size_t *size)
SPARSE_ROUTINE(SparseToDense, ((void)algorithm, (void)buffer, to_dense(handle, a, b)),
               const struct cusparseSpMatDescr *a, const struct cusparseDnMatDescr *b,
               int algorithm, void *buffer)
SPARSE_ROUTINE(DenseToSparse_bufferSize, ((void)algorithm, to_sparse_need(a, b, size)),
               const struct cusparseDnMatDescr *a, const struct cusparseSpMatDescr *b,
               int algorithm, size_t *size)
SPARSE_ROUTINE(DenseToSparse_analysis, ((void)algorithm, analyse(handle, a, b, buffer)),
               const struct cusparseDnMatDescr *a, struct cusparseSpMatDescr *b, int algorithm,
               void *buffer)
SPARSE_ROUTINE(DenseToSparse_convert, ((void)algorithm, convert(handle, a, b, buffer)),
               const struct cusparseDnMatDescr *a, const struct cusparseSpMatDescr *b,
               int algorithm, void *buffer)

/* ---- rows become columns -----------------------------------------------------------------------
 */

static enum sparse_status turn_need(int n, size_t *size)
{
    if (n < 0 || size == NULL) return SPARSE_INVALID_VALUE;
    *size = (size_t)(n + 1) * sizeof(int64_t);
    return SPARSE_SUCCESS;
}

static enum sparse_status turn(const struct cusparseContext *handle, int type, int action,
                               const struct sparse_turning *given)
{
    const char *suffix = sparse_bytes_suffix(type);
    struct sparse_turning p = *given;
    if (p.lines < 0 || p.places < 0 || p.count < 0 || p.cursors == NULL)
        return SPARSE_INVALID_VALUE;
    if (suffix == NULL && type == BLAS_R_8I) return sparse_lacks("csr2csc of cuSPARSE of bytes");
    if (suffix == NULL) return SPARSE_INVALID_VALUE;
    if (action == SPARSE_SYMBOLIC) p.values = NULL;
    return sparse_alone(handle, "turn", suffix, &p);
}

#define TURN_PARAMETERS                                                                            \
    int m, int n, int count, const void *values, const int *starts, const int *places,             \
        void *new_values, int *new_starts, int *new_places, int type, int action, int base,        \
        int algorithm
#define NO_TURN                                                                                    \
    (void)m, (void)count, (void)values, (void)starts, (void)places, (void)new_values,              \
        (void)new_starts, (void)new_places, (void)type, (void)action, (void)base, (void)algorithm
SPARSE_ROUTINE(Csr2cscEx2_bufferSize, (NO_TURN, turn_need(n, size)), TURN_PARAMETERS, size_t *size)
SPARSE_ROUTINE(Csr2cscEx2,
               ((void)algorithm, turn(handle, type, action,
                                      &(struct sparse_turning){.lines = m,
                                                               .places = n,
                                                               .count = count,
                                                               .base = base,
                                                               .starts = starts,
                                                               .at = places,
                                                               .values = values,
                                                               .new_starts = new_starts,
                                                               .new_at = new_places,
                                                               .new_values = new_values,
                                                               .cursors = buffer})),
               TURN_PARAMETERS, void *buffer)

/* ---- rows and their starts ---------------------------------------------------------------------
 */

static enum sparse_status convert_rows(const struct cusparseContext *handle, const char *routine,
                                       int64_t threads, const struct sparse_rows *p)
{
    if (p->rows < 0 || p->count < 0 || p->base < SPARSE_FROM_0 || p->base > SPARSE_FROM_1)
        return SPARSE_INVALID_VALUE;
    return sparse_each(handle, routine, "indices", threads, 1, 1, p);
}

SPARSE_OLDER(Xcoo2csr,
             convert_rows(handle, "starts_of_rows", (int64_t)m + 1,
                          &(struct sparse_rows){m, count, base, starts, NOT_CONST(row_of)}),
             const int *row_of, int count, int m, int *starts, int base)
SPARSE_OLDER(Xcsr2coo,
             convert_rows(handle, "rows_of_starts", m,
                          &(struct sparse_rows){m, count, base, NOT_CONST(starts), row_of}),
             const int *starts, int count, int m, int *row_of, int base)

/* ---- orders ------------------------------------------------------------------------------------
 */

static enum sparse_status sort_all(const struct cusparseContext *handle,
                                   const struct sparse_sorting *p)
{
    if (p->count < 0 || (p->count > 0 && p->order == NULL)) return SPARSE_INVALID_VALUE;
    return sparse_alone(handle, "sort_all", "indices", p);
}

static enum sparse_status sort_lines(const struct cusparseContext *handle,
                                     const struct cusparseMatDescr *description, int lines,
                                     int count, const int *starts, int *places, int *permutation,
                                     void *buffer)
{
    if (description == NULL || lines < 0 || count < 0 || (count > 0 && buffer == NULL))
        return SPARSE_INVALID_VALUE;
    const struct sparse_sorting p = {.lines = lines,
                                     .count = count,
                                     .base = description->base,
                                     .second = places,
                                     .starts = starts,
                                     .permutation = permutation,
                                     .order = buffer};
    return sparse_each(handle, "sort_lines", "indices", lines, 1, 1, &p);
}

static enum sparse_status identity(const struct cusparseContext *handle, int n, int *permutation)
{
    const struct sparse_sorting p = {.count = n, .permutation = permutation};
    if (n < 0) return SPARSE_INVALID_VALUE;
    return sparse_each(handle, "identity", "indices", n, 1, 1, &p);
}

SPARSE_OLDER(CreateIdentityPermutation, identity(handle, n, permutation), int n, int *permutation)

static enum sparse_status sort_need(int count, size_t *size)
{
    if (count < 0 || size == NULL) return SPARSE_INVALID_VALUE;
    *size = SPARSE_LEAST + (size_t)count * sizeof(int32_t);
    return SPARSE_SUCCESS;
}

#define SORT_NEED(name)                                                                            \
    SPARSE_OLDER(name##_bufferSizeExt,                                                             \
                 ((void)m, (void)n, (void)first, (void)second, sort_need(count, size)), int m,     \
                 int n, int count, const int *first, const int *second, size_t *size)
#define SORT_ALL(name, first_, second_)                                                            \
    SPARSE_OLDER(name,                                                                             \
                 ((void)m, (void)n,                                                                \
                  sort_all(handle, &(struct sparse_sorting){.count = count,                        \
                                                            .first = first_,                       \
                                                            .second = second_,                     \
                                                            .permutation = permutation,            \
                                                            .order = buffer})),                    \
                 int m, int n, int count, int *rows, int *columns, int *permutation, void *buffer)
#define SORT_LINES(name, lines)                                                                    \
    SPARSE_OLDER(                                                                                  \
        name,                                                                                      \
        ((void)m, (void)n,                                                                         \
         sort_lines(handle, description, lines, count, starts, places, permutation, buffer)),      \
        int m, int n, int count, const struct cusparseMatDescr *description, const int *starts,    \
        int *places, int *permutation, void *buffer)
SORT_NEED(Xcoosort)
SORT_NEED(Xcsrsort)
SORT_NEED(Xcscsort)
SORT_ALL(XcoosortByRow, rows, columns)
SORT_ALL(XcoosortByColumn, columns, rows)
SORT_LINES(Xcsrsort, m)
SORT_LINES(Xcscsort, n)

/* ---- numbers of entries ------------------------------------------------------------------------
 */

/* Adds up numbers of entries for the caller, and waits if it wants the sum on the host. */
static enum sparse_status give_total(struct cusparseContext *handle, const int *each, int count,
                                     int *total)
{
    const bool on_host = handle->pointers == SPARSE_ON_HOST;
    struct sparse_adding p = {.numbers = each, .count = count, .total = total};
    void *result = total;
    enum sparse_status status = on_host ? sparse_result(handle, &result) : SPARSE_SUCCESS;
    if (status != SPARSE_SUCCESS) return status;
    p.total = result;
    status = sparse_adders(handle, "add_up", "indices", &p);
    if (status != SPARSE_SUCCESS || !on_host) return status;
    return sparse_copy_out(handle, total, result, sizeof *total);
}

static enum sparse_status count_dense(struct cusparseContext *handle, int type, int direction,
                                      int m, int n, const void *a, int ld, int *each, int *total)
{
    const bool of_rows = direction == SPARSE_ROWS;
    if (m < 0 || n < 0 || ld < m || each == NULL || total == NULL ||
        (!of_rows && direction != SPARSE_COLUMNS))
        return SPARSE_INVALID_VALUE;
    const struct sparse_conversion p = {
        .b = {.first = NOT_CONST(a), .row = of_rows ? 1 : ld, .column = of_rows ? ld : 1},
        .lines = of_rows ? m : n,
        .places = of_rows ? n : m,
        .each = each};
    const enum sparse_status status =
        sparse_each(handle, "count_entries", sparse_suffix(type), p.lines, 1, 1, &p);
    if (status != SPARSE_SUCCESS) return status;
    return give_total(handle, each, (int)p.lines, total);
}

static struct sparse_selection selection_of(const struct cusparseMatDescr *description, int m,
                                            int n, int count, const void *a, const int *starts,
                                            const int *places, const double limit[2])
{
    return (struct sparse_selection){.a = sparse_csr(description, m, n, count, a, starts, places),
                                     .re = limit[0],
                                     .im = limit[1]};
}

static enum sparse_status count_larger(struct cusparseContext *handle, int type, int m,
                                       const struct cusparseMatDescr *description, const void *a,
                                       const int *starts, int *each, int *total,
                                       const double limit[2])
{
    if (m < 0 || description == NULL || each == NULL || total == NULL || limit[0] < 0)
        return SPARSE_INVALID_VALUE;
    struct sparse_selection p = selection_of(description, m, 0, 0, a, starts, NULL, limit);
    p.each = each;
    const enum sparse_status status =
        sparse_each(handle, "count_selected", sparse_suffix(type), m, 1, 1, &p);
    return status == SPARSE_SUCCESS ? give_total(handle, each, m, total) : status;
}

static enum sparse_status keep_larger(const struct cusparseContext *handle, int type,
                                      const struct sparse_selection *p, const int *each,
                                      int *starts)
{
    const struct sparse_adding adding = {
        .numbers = each, .count = p->a.lines, .base = p->a.base, .starts = starts};
    if (p->a.lines < 0 || p->re < 0 || each == NULL || starts == NULL) return SPARSE_INVALID_VALUE;
    const enum sparse_status status = sparse_adders(handle, "add_up", "indices", &adding);
    if (status != SPARSE_SUCCESS) return status;
    return sparse_each(handle, "select", sparse_suffix(type), p->a.lines, 1, 1, p);
}

static enum sparse_status compress(const struct cusparseContext *handle, int type, int m, int n,
                                   const struct cusparseMatDescr *description, const void *a,
                                   const int *places, const int *starts, int count, const int *each,
                                   void *c, int *new_places, int *new_starts, const double limit[2])
{
    if (description == NULL) return SPARSE_INVALID_VALUE;
    struct sparse_selection p = selection_of(description, m, n, count, a, starts, places, limit);
    p.c = sparse_csr(description, m, n, count, c, new_starts, new_places);
    return keep_larger(handle, type, &p, each, new_starts);
}

struct complex_float {
    float re, im;
};
struct complex_double {
    double re, im;
};
#define REAL(x) ((const double[2]){x, 0})
#define COMPLEX(x) ((const double[2]){x.re, x.im})
#define COUNTS(L, type, T, LIMIT)                                                                  \
    SPARSE_OLDER(L##nnz,                                                                           \
                 description == NULL                                                               \
                     ? SPARSE_INVALID_VALUE                                                        \
                     : count_dense(handle, type, direction, m, n, a, ld, each, total),             \
                 int direction, int m, int n, const struct cusparseMatDescr *description,          \
                 const void *a, int ld, int *each, int *total)                                     \
    SPARSE_OLDER(L##nnz_compress,                                                                  \
                 count_larger(handle, type, m, description, a, starts, each, total, LIMIT(limit)), \
                 int m, const struct cusparseMatDescr *description, const void *a,                 \
                 const int *starts, int *each, int *total, T limit)                                \
    SPARSE_OLDER(L##csr2csr_compress,                                                              \
                 compress(handle, type, m, n, description, a, places, starts, count, each, c,      \
                          new_places, new_starts, LIMIT(limit)),                                   \
                 int m, int n, const struct cusparseMatDescr *description, const void *a,          \
                 const int *places, const int *starts, int count, const int *each, void *c,        \
                 int *new_places, int *new_starts, T limit)
COUNTS(S, BLAS_R_32F, float, REAL)
COUNTS(D, BLAS_R_64F, double, REAL)
COUNTS(C, BLAS_C_32F, struct complex_float, COMPLEX)
COUNTS(Z, BLAS_C_64F, struct complex_double, COMPLEX)
