/* Descriptions of matrices, sparse and dense. */
#include "emulator/standins/cusparse/sparse.h"

#include <stdlib.h>
#include <string.h>

/* ---- sparse ------------------------------------------------------------------------------------
 */

static enum sparse_status create_sparse(struct cusparseSpMatDescr **made,
                                        const struct cusparseSpMatDescr *as)
{
    if (as->rows < 0 || as->columns < 0 || as->count < 0 || !sparse_is_index(as->start_index) ||
        !sparse_is_index(as->place_index) || as->base < SPARSE_FROM_0 || as->base > SPARSE_FROM_1)
        return SPARSE_INVALID_VALUE;
    if ((*made = malloc(sizeof **made)) == NULL) return SPARSE_ALLOC_FAILED;
    **made = *as;
    (*made)->batch = 1;
    return SPARSE_SUCCESS;
}

#define COMPRESSED(Name, Format, Const, const_)                                                    \
    SPARSE_PLAIN(Create##Const##Name, made != NULL,                                                \
                 create_sparse(made, &(struct cusparseSpMatDescr){.format = Format,                \
                                                                  .rows = rows,                    \
                                                                  .columns = columns,              \
                                                                  .count = count,                  \
                                                                  .starts = NOT_CONST(starts),     \
                                                                  .places = NOT_CONST(places),     \
                                                                  .values = NOT_CONST(values),     \
                                                                  .start_index = start_index,      \
                                                                  .place_index = place_index,      \
                                                                  .base = base,                    \
                                                                  .type = type}),                  \
                 struct cusparseSpMatDescr * *made, int64_t rows, int64_t columns, int64_t count,  \
                 const_ void *starts, const_ void *places, const_ void *values, int start_index,   \
                 int place_index, int base, int type)
#define COORDINATES(Const, const_)                                                                 \
    SPARSE_PLAIN(Create##Const##Coo, made != NULL,                                                 \
                 create_sparse(made, &(struct cusparseSpMatDescr){.format = SPARSE_COO,            \
                                                                  .rows = rows,                    \
                                                                  .columns = columns,              \
                                                                  .count = count,                  \
                                                                  .starts = NOT_CONST(row_of),     \
                                                                  .places = NOT_CONST(places),     \
                                                                  .values = NOT_CONST(values),     \
                                                                  .start_index = index,            \
                                                                  .place_index = index,            \
                                                                  .base = base,                    \
                                                                  .type = type}),                  \
                 struct cusparseSpMatDescr * *made, int64_t rows, int64_t columns, int64_t count,  \
                 const_ void *row_of, const_ void *places, const_ void *values, int index,         \
                 int base, int type)
COMPRESSED(Csr, SPARSE_CSR, , )
COMPRESSED(Csr, SPARSE_CSR, Const, const)
COMPRESSED(Csc, SPARSE_CSC, , )
COMPRESSED(Csc, SPARSE_CSC, Const, const)
COORDINATES(, )
COORDINATES(Const, const)

SPARSE_PLAIN(DestroySpMat, true, (free(m), SPARSE_SUCCESS), struct cusparseSpMatDescr *m)

/* Where an answer goes. */
struct answer {
    int64_t *rows, *columns, *count;
    void **starts, **places, **values;
    int *start_index, *place_index, *base, *type;
};

static enum sparse_status get_sparse(const struct cusparseSpMatDescr *m, int format,
                                     const struct answer *to)
{
    if (m->format != format || to->rows == NULL || to->columns == NULL || to->count == NULL ||
        to->starts == NULL || to->places == NULL || to->values == NULL || to->start_index == NULL ||
        to->place_index == NULL || to->base == NULL || to->type == NULL)
        return SPARSE_INVALID_VALUE;
    *to->rows = m->rows;
    *to->columns = m->columns;
    *to->count = m->count;
    *to->starts = m->starts;
    *to->places = m->places;
    *to->values = m->values;
    *to->start_index = m->start_index;
    *to->place_index = m->place_index;
    *to->base = m->base;
    *to->type = m->type;
    return SPARSE_SUCCESS;
}

#define GET_COMPRESSED(Name, Format)                                                               \
    SPARSE_PLAIN(Name##Get, m != NULL,                                                             \
                 get_sparse(m, Format,                                                             \
                            &(struct answer){rows, columns, count, starts, places, values,         \
                                             start_index, place_index, base, type}),               \
                 const struct cusparseSpMatDescr *m, int64_t *rows, int64_t *columns,              \
                 int64_t *count, void **starts, void **places, void **values, int *start_index,    \
                 int *place_index, int *base, int *type)
#define GET_COORDINATES(Name)                                                                      \
    SPARSE_PLAIN(Name##Get, m != NULL,                                                             \
                 get_sparse(m, SPARSE_COO,                                                         \
                            &(struct answer){rows, columns, count, row_of, places, values, index,  \
                                             NULL, base, type}),                                   \
                 const struct cusparseSpMatDescr *m, int64_t *rows, int64_t *columns,              \
                 int64_t *count, void **row_of, void **places, void **values, int *index,          \
                 int *base, int *type)
GET_COMPRESSED(Csr, SPARSE_CSR)
GET_COMPRESSED(ConstCsr, SPARSE_CSR)
GET_COMPRESSED(Csc, SPARSE_CSC)
GET_COMPRESSED(ConstCsc, SPARSE_CSC)
GET_COORDINATES(Coo)
GET_COORDINATES(ConstCoo)

static enum sparse_status set_pointers(struct cusparseSpMatDescr *m, int format, void *starts,
                                       void *places, void *values)
{
    if (m->format != format || starts == NULL) return SPARSE_INVALID_VALUE;
    m->starts = starts;
    m->places = places;
    m->values = values;
    return SPARSE_SUCCESS;
}

#define SET_POINTERS(Name, Format)                                                                 \
    SPARSE_PLAIN(Name##SetPointers, m != NULL, set_pointers(m, Format, starts, places, values),    \
                 struct cusparseSpMatDescr * m, void *starts, void *places, void *values)
SET_POINTERS(Csr, SPARSE_CSR)
SET_POINTERS(Csc, SPARSE_CSC)
SET_POINTERS(Coo, SPARSE_COO)

SPARSE_PLAIN(SpMatGetFormat, m != NULL && format != NULL, (*format = m->format, SPARSE_SUCCESS),
             const struct cusparseSpMatDescr *m, int *format)
SPARSE_PLAIN(SpMatGetIndexBase, m != NULL && base != NULL, (*base = m->base, SPARSE_SUCCESS),
             const struct cusparseSpMatDescr *m, int *base)
SPARSE_PLAIN(SpMatGetValues, m != NULL && values != NULL, (*values = m->values, SPARSE_SUCCESS),
             const struct cusparseSpMatDescr *m, void **values)
SPARSE_PLAIN(ConstSpMatGetValues, m != NULL && values != NULL,
             (*values = m->values, SPARSE_SUCCESS), const struct cusparseSpMatDescr *m,
             const void **values)
SPARSE_PLAIN(SpMatSetValues, m != NULL, (m->values = values, SPARSE_SUCCESS),
             struct cusparseSpMatDescr *m, void *values)
SPARSE_PLAIN(SpMatGetSize, m != NULL && rows != NULL && columns != NULL && count != NULL,
             (*rows = m->rows, *columns = m->columns, *count = m->count, SPARSE_SUCCESS),
             const struct cusparseSpMatDescr *m, int64_t *rows, int64_t *columns, int64_t *count)
SPARSE_PLAIN(SpMatGetStridedBatch, m != NULL && batch != NULL, (*batch = m->batch, SPARSE_SUCCESS),
             const struct cusparseSpMatDescr *m, int *batch)

static enum sparse_status set_batch(struct cusparseSpMatDescr *m, int batch, int64_t next_start,
                                    int64_t next_entry)
{
    if (batch < 1 || next_start < 0 || next_entry < 0) return SPARSE_INVALID_VALUE;
    m->batch = batch;
    m->next_start = next_start;
    m->next_entry = next_entry;
    return SPARSE_SUCCESS;
}

SPARSE_PLAIN(CooSetStridedBatch, m != NULL && m->format == SPARSE_COO, set_batch(m, batch, 0, next),
             struct cusparseSpMatDescr *m, int batch, int64_t next)
SPARSE_PLAIN(CsrSetStridedBatch, m != NULL && m->format == SPARSE_CSR,
             set_batch(m, batch, next_start, next_entry), struct cusparseSpMatDescr *m, int batch,
             int64_t next_start, int64_t next_entry)

/* The attribute, or NULL where there is none of that name and size. */
static int *attribute_of(struct cusparseSpMatDescr *m, int attribute, const void *data, size_t size)
{
    if (data == NULL || size != sizeof(int)) return NULL;
    if (attribute == SPARSE_ATTRIBUTE_FILL) return &m->fill;
    return attribute == SPARSE_ATTRIBUTE_DIAGONAL ? &m->diagonal : NULL;
}

static enum sparse_status copy_attribute(void *to, const void *from)
{
    if (to == NULL || from == NULL) return SPARSE_INVALID_VALUE;
    memcpy(to, from, sizeof(int));
    return SPARSE_SUCCESS;
}

SPARSE_PLAIN(SpMatSetAttribute, m != NULL,
             copy_attribute(attribute_of(m, attribute, data, size), data),
             struct cusparseSpMatDescr *m, int attribute, const void *data, size_t size)
SPARSE_PLAIN(SpMatGetAttribute, m != NULL,
             copy_attribute(data, attribute_of(NOT_CONST(m), attribute, data, size)),
             const struct cusparseSpMatDescr *m, int attribute, void *data, size_t size)

/* ---- dense -------------------------------------------------------------------------------------
 */

static enum sparse_status create_dense(struct cusparseDnMatDescr **made,
                                       const struct cusparseDnMatDescr *as)
{
    const int64_t least = as->order == SPARSE_BY_COLUMNS ? as->rows : as->columns;
    if (as->rows < 0 || as->columns < 0 || as->ld < least ||
        (as->order != SPARSE_BY_COLUMNS && as->order != SPARSE_BY_ROWS))
        return SPARSE_INVALID_VALUE;
    if ((*made = malloc(sizeof **made)) == NULL) return SPARSE_ALLOC_FAILED;
    **made = *as;
    (*made)->batch = 1;
    return SPARSE_SUCCESS;
}

static enum sparse_status get_dense(const struct cusparseDnMatDescr *m, int64_t *rows,
                                    int64_t *columns, int64_t *ld, void **values, int *type,
                                    int *order)
{
    if (rows == NULL || columns == NULL || ld == NULL || values == NULL || type == NULL ||
        order == NULL)
        return SPARSE_INVALID_VALUE;
    *rows = m->rows;
    *columns = m->columns;
    *ld = m->ld;
    *values = m->values;
    *type = m->type;
    *order = m->order;
    return SPARSE_SUCCESS;
}

#define DENSE(Const, const_)                                                                       \
    SPARSE_PLAIN(Create##Const##DnMat, made != NULL,                                               \
                 create_dense(made, &(struct cusparseDnMatDescr){.rows = rows,                     \
                                                                 .columns = columns,               \
                                                                 .ld = ld,                         \
                                                                 .values = NOT_CONST(values),      \
                                                                 .type = type,                     \
                                                                 .order = order}),                 \
                 struct cusparseDnMatDescr * *made, int64_t rows, int64_t columns, int64_t ld,     \
                 const_ void *values, int type, int order)                                         \
    SPARSE_PLAIN(Const##DnMatGet, m != NULL, get_dense(m, rows, columns, ld, values, type, order), \
                 const struct cusparseDnMatDescr *m, int64_t *rows, int64_t *columns, int64_t *ld, \
                 void **values, int *type, int *order)                                             \
    SPARSE_PLAIN(Const##DnMatGetValues, m != NULL && values != NULL,                               \
                 (*values = m->values, SPARSE_SUCCESS), const struct cusparseDnMatDescr *m,        \
                 const_ void **values)
DENSE(, )
DENSE(Const, const)

SPARSE_PLAIN(DestroyDnMat, true, (free(m), SPARSE_SUCCESS), struct cusparseDnMatDescr *m)
SPARSE_PLAIN(DnMatSetValues, m != NULL, (m->values = values, SPARSE_SUCCESS),
             struct cusparseDnMatDescr *m, void *values)
SPARSE_PLAIN(DnMatSetStridedBatch, m != NULL && batch >= 1 && next >= 0,
             (m->batch = batch, m->next = next, SPARSE_SUCCESS), struct cusparseDnMatDescr *m,
             int batch, int64_t next)
SPARSE_PLAIN(DnMatGetStridedBatch, m != NULL && batch != NULL && next != NULL,
             (*batch = m->batch, *next = m->next, SPARSE_SUCCESS),
             const struct cusparseDnMatDescr *m, int *batch, int64_t *next)
