/* Solutions under sparse triangles and of bands, and incomplete factors. */
#include "emulator/standins/cusparse/sparse.h"

#include <stdlib.h>

/* ---- under a triangle --------------------------------------------------------------------------
 */

/* What cusparseSpSV_createDescr and cusparseSpSM_createDescr make. Nothing is found out beforehand:
 * an analysis is asked for because NVIDIA's library needs it. */
struct solution_descr {
    bool is_analysed;
};

/* X = alpha op(A)^-1 op(B). */
struct solution {
    int op_a, op_b;
    const void *alpha;
    const struct cusparseSpMatDescr *a;
    const struct cusparseDnMatDescr *b, *x;
    int compute;
    struct solution_descr *descr;
};

static bool is_right(const struct solution *s)
{
    return s->a != NULL && s->b != NULL && s->x != NULL && s->alpha != NULL && s->descr != NULL &&
           sparse_is_op_of(s->op_a, s->a->type) && sparse_is_op_of(s->op_b, s->b->type) &&
           s->a->rows == s->a->columns && s->x->rows == s->a->rows &&
           (s->op_b == SPARSE_OP_N ? s->b->rows : s->b->columns) == s->x->rows &&
           (s->op_b == SPARSE_OP_N ? s->b->columns : s->b->rows) == s->x->columns;
}

static enum sparse_status look(const struct solution *s)
{
    if (!is_right(s)) return SPARSE_INVALID_VALUE;
    if (s->a->format == SPARSE_CSC) return SPARSE_NOT_SUPPORTED; /* nor in NVIDIA's library */
    if (!sparse_is_computed(s->a->type) || s->b->type != s->a->type || s->x->type != s->a->type ||
        s->compute != s->a->type || s->a->batch != 1)
        return sparse_lacks("a solution of cuSPARSE of these types, or in batches");
    return SPARSE_SUCCESS;
}

static enum sparse_status analyse(const struct solution *s)
{
    const enum sparse_status status = look(s);
    if (status == SPARSE_SUCCESS) s->descr->is_analysed = true;
    return status;
}

static enum sparse_status need(const struct solution *s, size_t *size)
{
    const enum sparse_status status = look(s);
    return status == SPARSE_SUCCESS ? sparse_least(size) : status;
}

static enum sparse_status solve(const struct cusparseContext *handle, const struct solution *s)
{
    const enum sparse_status status = look(s);
    if (status != SPARSE_SUCCESS) return status;
    if (!s->descr->is_analysed) return SPARSE_NOT_INITIALIZED;
    const struct sparse_solution p = {.a = sparse_matrix(s->a),
                                      .b = sparse_dense(s->b, s->op_b),
                                      .x = sparse_dense(s->x, SPARSE_OP_N),
                                      .n = s->x->columns,
                                      .alpha = sparse_factor(handle, s->compute, s->alpha),
                                      .conjugate = s->op_a == SPARSE_OP_C,
                                      .unit = s->a->diagonal == SPARSE_UNIT,
                                      .lower = s->a->fill == SPARSE_LOWER,
                                      .turned = s->op_a != SPARSE_OP_N};
    return sparse_each(handle, "solve", sparse_suffix(s->a->type), p.n, 1, 1, &p);
}

static enum sparse_status create_descr(struct solution_descr **made)
{
    if (made == NULL) return SPARSE_INVALID_VALUE;
    *made = calloc(1, sizeof **made);
    return *made != NULL ? SPARSE_SUCCESS : SPARSE_ALLOC_FAILED;
}

#define DESCR(Name)                                                                                \
    SPARSE_PLAIN(Name##_createDescr, true, create_descr(made), struct solution_descr **made)       \
    SPARSE_PLAIN(Name##_destroyDescr, true, (free(descr), SPARSE_SUCCESS),                         \
                 struct solution_descr *descr)
DESCR(SpSV)
DESCR(SpSM)

typedef const struct cusparseDnVecDescr *dense_vector;
typedef const struct cusparseDnMatDescr *dense_matrix;

static enum sparse_status of_vectors(const struct cusparseContext *handle, const struct solution *s,
                                     dense_vector b, dense_vector x, size_t *size,
                                     enum sparse_status (*run)(const struct cusparseContext *,
                                                               const struct solution *, size_t *))
{
    if (b == NULL || x == NULL) return SPARSE_INVALID_VALUE;
    const struct cusparseDnMatDescr of_b = sparse_column(b), of_x = sparse_column(x);
    struct solution with = *s;
    with.b = &of_b;
    with.x = &of_x;
    return run(handle, &with, size);
}

static enum sparse_status run_need(const struct cusparseContext *handle, const struct solution *s,
                                   size_t *size)
{
    (void)handle;
    return need(s, size);
}
static enum sparse_status run_analyse(const struct cusparseContext *handle,
                                      const struct solution *s, size_t *size)
{
    (void)handle, (void)size;
    return analyse(s);
}
static enum sparse_status run_solve(const struct cusparseContext *handle, const struct solution *s,
                                    size_t *size)
{
    (void)size;
    return solve(handle, s);
}

#define ONE_VECTOR                                                                                 \
    &(struct solution)                                                                             \
    {                                                                                              \
        .op_a = op_a, .alpha = alpha, .a = a, .compute = compute, .descr = descr                   \
    }
#define VECTOR_PARAMETERS                                                                          \
    int op_a, const void *alpha, const struct cusparseSpMatDescr *a, dense_vector b,               \
        dense_vector x, int compute, int algorithm, struct solution_descr *descr
#define MATRICES                                                                                   \
    &(struct solution)                                                                             \
    {                                                                                              \
        op_a, op_b, alpha, a, b, x, compute, descr                                                 \
    }
#define MATRIX_PARAMETERS                                                                          \
    int op_a, int op_b, const void *alpha, const struct cusparseSpMatDescr *a, dense_matrix b,     \
        dense_matrix x, int compute, int algorithm, struct solution_descr *descr

SPARSE_ROUTINE(SpSV_bufferSize,
               ((void)algorithm, of_vectors(handle, ONE_VECTOR, b, x, size, run_need)),
               VECTOR_PARAMETERS, size_t *size)
SPARSE_ROUTINE(SpSV_analysis,
               ((void)algorithm, (void)buffer,
                of_vectors(handle, ONE_VECTOR, b, x, NULL, run_analyse)),
               VECTOR_PARAMETERS, void *buffer)
SPARSE_ROUTINE(SpSV_solve, ((void)algorithm, of_vectors(handle, ONE_VECTOR, b, x, NULL, run_solve)),
               VECTOR_PARAMETERS)
SPARSE_ROUTINE(SpSM_bufferSize, ((void)algorithm, need(MATRICES, size)), MATRIX_PARAMETERS,
               size_t *size)
SPARSE_ROUTINE(SpSM_analysis, ((void)algorithm, (void)buffer, analyse(MATRICES)), MATRIX_PARAMETERS,
               void *buffer)
SPARSE_ROUTINE(SpSM_solve, ((void)algorithm, solve(handle, MATRICES)), MATRIX_PARAMETERS)

/* ---- three diagonals ---------------------------------------------------------------------------
 */

enum { COPIES_OF_A_BAND = 5 };

static enum sparse_status bands_need(int64_t m, int64_t n, int64_t count, int type, size_t *size)
{
    if (m < 1 || n < 0 || count < 0 || size == NULL) return SPARSE_INVALID_VALUE;
    *size = (size_t)(COPIES_OF_A_BAND * m * (count > 1 ? count : 1)) * sparse_bytes(type);
    return SPARSE_SUCCESS;
}

/* Systems that NVIDIA's library solves without exchanging rows are solved as all others: the answer
 * is the same, but for its rounding. */
static enum sparse_status solve_bands(const struct cusparseContext *handle, int type,
                                      const struct sparse_bands *p)
{
    if (p->m < 1 || p->n < 0 || p->count < 0 || p->ld < p->m || p->work == NULL)
        return SPARSE_INVALID_VALUE;
    const char *suffix = sparse_suffix(type);
    const enum sparse_status status = sparse_each(handle, "eliminate", suffix, p->count, 1, 1, p);
    if (status != SPARSE_SUCCESS) return status;
    return sparse_each(handle, "substitute", suffix, p->n * p->count, 1, 1, p);
}

#define OF_ONE                                                                                     \
    &(struct sparse_bands)                                                                         \
    {                                                                                              \
        .lower = lower, .middle = middle, .upper = upper, .right = right, .m = m, .n = n,          \
        .ld = ld, .count = 1, .work = work                                                         \
    }
#define OF_MANY                                                                                    \
    &(struct sparse_bands)                                                                         \
    {                                                                                              \
        .lower = lower, .middle = middle, .upper = upper, .right = right, .m = m, .n = 1, .ld = m, \
        .count = count, .next = next, .work = work                                                 \
    }
#define DIAGONALS const void *lower, const void *middle, const void *upper
#define NO_DIAGONALS (void)lower, (void)middle, (void)upper, (void)right
#define BANDS(L, type)                                                                             \
    BANDS_OF_ONE(L##gtsv2, type)                                                                   \
    BANDS_OF_ONE(L##gtsv2_nopivot, type)                                                           \
    SPARSE_OLDER(L##gtsv2StridedBatch_bufferSizeExt,                                               \
                 (NO_DIAGONALS, (void)next, bands_need(m, 1, count, type, size)), int m,           \
                 DIAGONALS, const void *right, int count, int next, size_t *size)                  \
    SPARSE_OLDER(L##gtsv2StridedBatch, solve_bands(handle, type, OF_MANY), int m, DIAGONALS,       \
                 void *right, int count, int next, void *work)
#define BANDS_OF_ONE(name, type)                                                                   \
    SPARSE_OLDER(name##_bufferSizeExt, (NO_DIAGONALS, (void)ld, bands_need(m, n, 1, type, size)),  \
                 int m, int n, DIAGONALS, const void *right, int ld, size_t *size)                 \
    SPARSE_OLDER(name, solve_bands(handle, type, OF_ONE), int m, int n, DIAGONALS, void *right,    \
                 int ld, void *work)
BANDS(S, BLAS_R_32F)
BANDS(D, BLAS_R_64F)
BANDS(C, BLAS_C_32F)
BANDS(Z, BLAS_C_64F)

/* ---- incomplete factors ------------------------------------------------------------------------
 */

/* What cusparseCreateCsrilu02Info and cusparseCreateCsric02Info make. */
struct factor_info {
    int32_t *pivot; /* device memory, of sparse_factoring; NULL: nothing was analysed */
    bool boosts;
    struct blas_scalar least, boost;
};

static enum sparse_status create_info(struct factor_info **made)
{
    if (made == NULL) return SPARSE_INVALID_VALUE;
    *made = calloc(1, sizeof **made);
    return *made != NULL ? SPARSE_SUCCESS : SPARSE_ALLOC_FAILED;
}

static enum sparse_status destroy_info(struct factor_info *info)
{
    CUresult error = CUDA_SUCCESS;
    if (info == NULL) return SPARSE_SUCCESS;
    if (info->pivot != NULL) error = cuMemFree((CUdeviceptr)(uintptr_t)info->pivot);
    free(info);
    return sparse_status_of(error);
}

/* No pivot is known to be 0. */
static enum sparse_status forget_pivot(const struct cusparseContext *handle,
                                       struct factor_info *info)
{
    CUdeviceptr made = 0;
    CUresult error = CUDA_SUCCESS;
    if (info->pivot == NULL) {
        error = cuMemAlloc(&made, sizeof *info->pivot);
        if (error == CUDA_SUCCESS) info->pivot = (int32_t *)(uintptr_t)made;
    }
    if (error == CUDA_SUCCESS)
        error =
            cuMemsetD32Async((CUdeviceptr)(uintptr_t)info->pivot, UINT32_MAX, 1, handle->stream);
    return sparse_status_of(error);
}

struct factoring {
    int m, count;
    const struct cusparseMatDescr *description;
    const void *values;
    const int *starts, *places;
    struct factor_info *info;
    void *buffer;
};

static enum sparse_status factors_need(const struct factoring *f, int *size)
{
    if (f->m < 0 || f->count < 0 || f->description == NULL || f->info == NULL || size == NULL)
        return SPARSE_INVALID_VALUE;
    *size = SPARSE_LEAST + f->m * (int)sizeof(int64_t);
    return SPARSE_SUCCESS;
}

/* `routine` NULL: only what is missing is looked for. */
static enum sparse_status factorise(const struct cusparseContext *handle, int type,
                                    const char *routine, const struct factoring *f)
{
    int size;
    enum sparse_status status = factors_need(f, &size);
    if (status == SPARSE_SUCCESS && f->buffer == NULL) status = SPARSE_INVALID_VALUE;
    if (status == SPARSE_SUCCESS) status = forget_pivot(handle, f->info);
    if (status != SPARSE_SUCCESS) return status;
    const struct sparse_factoring p = {
        .a = sparse_csr(f->description, f->m, f->m, f->count, f->values, f->starts, f->places),
        .diagonals = f->buffer,
        .pivot = f->info->pivot,
        .boosts = f->info->boosts,
        .least = f->info->least,
        .boost = f->info->boost};
    status = sparse_each(handle, "find_diagonals", "indices", f->m, 1, 1, &p);
    if (status != SPARSE_SUCCESS || routine == NULL) return status;
    return sparse_alone(handle, routine, sparse_suffix(type), &p);
}

static enum sparse_status find_pivot(const struct cusparseContext *handle,
                                     const struct factor_info *info, int *position)
{
    int32_t pivot = -1;
    enum sparse_status status = SPARSE_SUCCESS;
    if (info == NULL || position == NULL) return SPARSE_INVALID_VALUE;
    if (info->pivot != NULL) status = sparse_copy_out(handle, &pivot, info->pivot, sizeof pivot);
    if (status != SPARSE_SUCCESS) return status;
    if (handle->pointers == SPARSE_ON_HOST)
        *position = pivot;
    else
        status = sparse_status_of(
            cuMemsetD32Async((CUdeviceptr)(uintptr_t)position, (unsigned)pivot, 1, handle->stream));
    return status == SPARSE_SUCCESS && pivot >= 0 ? SPARSE_ZERO_PIVOT : status;
}

static enum sparse_status set_boost(const struct cusparseContext *handle, struct factor_info *info,
                                    int type, int enable, const void *least, const void *boost)
{
    if (info == NULL || (enable && (least == NULL || boost == NULL))) return SPARSE_INVALID_VALUE;
    info->boosts = enable != 0;
    if (!enable) return SPARSE_SUCCESS;
    info->least = sparse_factor(handle, BLAS_R_64F, least);
    info->boost = sparse_factor(handle, type, boost);
    return SPARSE_SUCCESS;
}

#define FACTORING                                                                                  \
    &(struct factoring)                                                                            \
    {                                                                                              \
        m, count, description, values, starts, places, info, buffer                                \
    }
#define FACTOR_PARAMETERS(const_)                                                                  \
    int m, int count, const struct cusparseMatDescr *description, const_ void *values,             \
        const int *starts, const int *places, struct factor_info *info
#define FACTORS(name, kernel, type)                                                                \
    SPARSE_OLDER(name##_bufferSize,                                                                \
                 factors_need(&(struct factoring){.m = m,                                          \
                                                  .count = count,                                  \
                                                  .description = description,                      \
                                                  .values = values,                                \
                                                  .starts = starts,                                \
                                                  .places = places,                                \
                                                  .info = info},                                   \
                              size),                                                               \
                 FACTOR_PARAMETERS(const), int *size)                                              \
    SPARSE_OLDER(name##_analysis, ((void)policy, factorise(handle, type, NULL, FACTORING)),        \
                 FACTOR_PARAMETERS(const), int policy, void *buffer)                               \
    SPARSE_OLDER(name, ((void)policy, factorise(handle, type, kernel, FACTORING)),                 \
                 FACTOR_PARAMETERS(), int policy, void *buffer)
#define INFO(Name, name)                                                                           \
    SPARSE_PLAIN(Create##Name##Info, true, create_info(made), struct factor_info **made)           \
    STANDIN_PUBLIC int cusparseDestroy##Name##Info(struct factor_info *info)                       \
    {                                                                                              \
        standin_call_begin("cusparseDestroy" #Name "Info", __builtin_return_address(0));           \
        return sparse_call_end(destroy_info(info));                                                \
    }                                                                                              \
    SPARSE_OLDER(X##name##_zeroPivot, find_pivot(handle, info, position),                          \
                 const struct factor_info *info, int *position)
INFO(Csrilu02, csrilu02)
INFO(Csric02, csric02)

#define OF_TYPE(L, type)                                                                           \
    FACTORS(L##csrilu02, "factor_lu", type)                                                        \
    FACTORS(L##csric02, "factor_cholesky", type)                                                   \
    SPARSE_OLDER(L##csrilu02_numericBoost, set_boost(handle, info, type, enable, least, boost),    \
                 struct factor_info *info, int enable, const double *least, const void *boost)
OF_TYPE(S, BLAS_R_32F)
OF_TYPE(D, BLAS_R_64F)
OF_TYPE(C, BLAS_C_32F)
OF_TYPE(Z, BLAS_C_64F)
