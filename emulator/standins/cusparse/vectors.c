/* Descriptions of vectors, and what is computed of a sparse and a dense one. */
#include "emulator/standins/cusparse/sparse.h"

#include <stdlib.h>

/* ---- descriptions ------------------------------------------------------------------------------
 */

static enum sparse_status create_sparse(struct cusparseSpVecDescr **made,
                                        const struct cusparseSpVecDescr *as)
{
    if (as->size < 0 || as->count < 0 || as->count > as->size || !sparse_is_index(as->index) ||
        as->base < SPARSE_FROM_0 || as->base > SPARSE_FROM_1 ||
        (as->count > 0 && (as->places == NULL || as->values == NULL)))
        return SPARSE_INVALID_VALUE;
    if ((*made = malloc(sizeof **made)) == NULL) return SPARSE_ALLOC_FAILED;
    **made = *as;
    return SPARSE_SUCCESS;
}

static enum sparse_status create_dense(struct cusparseDnVecDescr **made,
                                       const struct cusparseDnVecDescr *as)
{
    if (as->size < 0) return SPARSE_INVALID_VALUE;
    if ((*made = malloc(sizeof **made)) == NULL) return SPARSE_ALLOC_FAILED;
    **made = *as;
    return SPARSE_SUCCESS;
}

#define CREATE(Const, const_)                                                                      \
    SPARSE_PLAIN(                                                                                  \
        Create##Const##SpVec, made != NULL,                                                        \
        create_sparse(made, &(struct cusparseSpVecDescr){size, count, NOT_CONST(places),           \
                                                         NOT_CONST(values), index, base, type}),   \
        struct cusparseSpVecDescr * *made, int64_t size, int64_t count, const_ void *places,       \
        const_ void *values, int index, int base, int type)                                        \
    SPARSE_PLAIN(Create##Const##DnVec, made != NULL,                                               \
                 create_dense(made, &(struct cusparseDnVecDescr){size, NOT_CONST(values), type}),  \
                 struct cusparseDnVecDescr * *made, int64_t size, const_ void *values, int type)
CREATE(, )
CREATE(Const, const)

SPARSE_PLAIN(DestroySpVec, true, (free(vector), SPARSE_SUCCESS), struct cusparseSpVecDescr *vector)
SPARSE_PLAIN(DestroyDnVec, true, (free(vector), SPARSE_SUCCESS), struct cusparseDnVecDescr *vector)

static enum sparse_status get_sparse(const struct cusparseSpVecDescr *v, int64_t *size,
                                     int64_t *count, void **places, void **values, int *index,
                                     int *base, int *type)
{
    if (size == NULL || count == NULL || places == NULL || values == NULL || index == NULL ||
        base == NULL || type == NULL)
        return SPARSE_INVALID_VALUE;
    *size = v->size;
    *count = v->count;
    *places = v->places;
    *values = v->values;
    *index = v->index;
    *base = v->base;
    *type = v->type;
    return SPARSE_SUCCESS;
}

static enum sparse_status get_dense(const struct cusparseDnVecDescr *v, int64_t *size,
                                    void **values, int *type)
{
    if (size == NULL || values == NULL || type == NULL) return SPARSE_INVALID_VALUE;
    *size = v->size;
    *values = v->values;
    *type = v->type;
    return SPARSE_SUCCESS;
}

#define VALUES(Name, struct_)                                                                      \
    SPARSE_PLAIN(Name##GetValues, vector != NULL && values != NULL,                                \
                 (*values = vector->values, SPARSE_SUCCESS), const struct struct_ *vector,         \
                 void **values)                                                                    \
    SPARSE_PLAIN(Const##Name##GetValues, vector != NULL && values != NULL,                         \
                 (*values = vector->values, SPARSE_SUCCESS), const struct struct_ *vector,         \
                 const void **values)                                                              \
    SPARSE_PLAIN(Name##SetValues, vector != NULL && values != NULL,                                \
                 (vector->values = values, SPARSE_SUCCESS), struct struct_ * vector, void *values)
VALUES(SpVec, cusparseSpVecDescr)
VALUES(DnVec, cusparseDnVecDescr)

#define GET(Const)                                                                                 \
    SPARSE_PLAIN(Const##SpVecGet, vector != NULL,                                                  \
                 get_sparse(vector, size, count, places, values, index, base, type),               \
                 const struct cusparseSpVecDescr *vector, int64_t *size, int64_t *count,           \
                 void **places, void **values, int *index, int *base, int *type)                   \
    SPARSE_PLAIN(Const##DnVecGet, vector != NULL, get_dense(vector, size, values, type),           \
                 const struct cusparseDnVecDescr *vector, int64_t *size, void **values, int *type)
GET()
GET(Const)

SPARSE_PLAIN(SpVecGetIndexBase, vector != NULL && base != NULL,
             (*base = vector->base, SPARSE_SUCCESS), const struct cusparseSpVecDescr *vector,
             int *base)

/* ---- what is computed --------------------------------------------------------------------------
 */

static struct sparse_vectors vectors_of(const struct cusparseSpVecDescr *x,
                                        const struct cusparseDnVecDescr *y)
{
    return (struct sparse_vectors){.count = x->count,
                                   .base = x->base,
                                   .places = sparse_indices(x->places, x->index),
                                   .x = x->values,
                                   .y = y->values};
}

static bool are_of_a_kind(const struct cusparseSpVecDescr *x, const struct cusparseDnVecDescr *y)
{
    return x != NULL && y != NULL && x->type == y->type && x->size == y->size;
}

/* `suffix` NULL: no kernel has the type. */
static enum sparse_status for_each(const struct cusparseContext *handle, const char *routine,
                                   const char *suffix, const struct sparse_vectors *p)
{
    if (suffix == NULL) return sparse_lacks("a vector of cuSPARSE of this type");
    return sparse_each(handle, routine, suffix, p->count, 1, 1, p);
}

static const char *computed_suffix(int type)
{
    return sparse_is_computed(type) ? sparse_suffix(type) : NULL;
}

static enum sparse_status move(const struct cusparseContext *handle, const char *routine,
                               const struct cusparseSpVecDescr *x,
                               const struct cusparseDnVecDescr *y)
{
    if (!are_of_a_kind(x, y)) return SPARSE_INVALID_VALUE;
    const struct sparse_vectors p = vectors_of(x, y);
    return for_each(handle, routine, sparse_bytes_suffix(x->type), &p);
}

SPARSE_ROUTINE(Gather, move(handle, "gather", x, y), const struct cusparseDnVecDescr *y,
               const struct cusparseSpVecDescr *x)
SPARSE_ROUTINE(Scatter, move(handle, "scatter", x, y), const struct cusparseSpVecDescr *x,
               const struct cusparseDnVecDescr *y)

static enum sparse_status add_scaled(const struct cusparseContext *handle, const void *alpha,
                                     const struct cusparseSpVecDescr *x, const void *beta,
                                     const struct cusparseDnVecDescr *y)
{
    if (!are_of_a_kind(x, y) || alpha == NULL || beta == NULL) return SPARSE_INVALID_VALUE;
    if (computed_suffix(y->type) == NULL) return sparse_lacks("Axpby of cuSPARSE of this type");
    const struct cusparseDnMatDescr column = sparse_column(y);
    const struct sparse_scaling scaling = {.c = sparse_dense(&column, SPARSE_OP_N),
                                           .m = y->size,
                                           .n = 1,
                                           .beta = sparse_factor(handle, y->type, beta)};
    struct sparse_vectors p = vectors_of(x, y);
    p.alpha = sparse_factor(handle, x->type, alpha);
    const enum sparse_status status =
        sparse_each(handle, "scale", sparse_suffix(y->type), y->size, 1, 1, &scaling);
    if (status != SPARSE_SUCCESS) return status;
    return for_each(handle, "axpy", sparse_suffix(x->type), &p);
}

SPARSE_ROUTINE(Axpby, add_scaled(handle, alpha, x, beta, y), const void *alpha,
               const struct cusparseSpVecDescr *x, const void *beta,
               const struct cusparseDnVecDescr *y)

static enum sparse_status rotate(const struct cusparseContext *handle, const void *c, const void *s,
                                 const struct cusparseSpVecDescr *x,
                                 const struct cusparseDnVecDescr *y)
{
    if (!are_of_a_kind(x, y) || c == NULL || s == NULL) return SPARSE_INVALID_VALUE;
    struct sparse_vectors p = vectors_of(x, y);
    p.alpha = sparse_factor(handle, x->type, c);
    p.beta = sparse_factor(handle, x->type, s);
    return for_each(handle, "rotate", computed_suffix(x->type), &p);
}

SPARSE_ROUTINE(Rot, rotate(handle, c, s, x, y), const void *c, const void *s,
               const struct cusparseSpVecDescr *x, const struct cusparseDnVecDescr *y)

static enum sparse_status multiply(struct cusparseContext *handle, int op,
                                   const struct cusparseSpVecDescr *x,
                                   const struct cusparseDnVecDescr *y, void *result, int type)
{
    if (!are_of_a_kind(x, y) || result == NULL || !sparse_is_op_of(op, x->type))
        return SPARSE_INVALID_VALUE;
    if (computed_suffix(x->type) == NULL || type != x->type)
        return sparse_lacks("SpVV of cuSPARSE of these types");
    struct sparse_vectors p = vectors_of(x, y);
    enum sparse_status status = SPARSE_SUCCESS;
    p.conjugate = op == SPARSE_OP_C;
    p.result = result;
    if (handle->pointers == SPARSE_ON_HOST) status = sparse_result(handle, &p.result);
    if (status == SPARSE_SUCCESS) status = sparse_adders(handle, "dot", sparse_suffix(x->type), &p);
    if (status != SPARSE_SUCCESS || handle->pointers == SPARSE_ON_DEVICE) return status;
    return sparse_copy_out(handle, result, p.result, sparse_bytes(x->type));
}

SPARSE_ROUTINE(SpVV_bufferSize,
               ((void)op, (void)x, (void)y, (void)result, (void)type, sparse_least(size)), int op,
               const struct cusparseSpVecDescr *x, const struct cusparseDnVecDescr *y,
               const void *result, int type, size_t *size)
SPARSE_ROUTINE(SpVV, ((void)buffer, multiply(handle, op, x, y, result, type)), int op,
               const struct cusparseSpVecDescr *x, const struct cusparseDnVecDescr *y, void *result,
               int type, void *buffer)
