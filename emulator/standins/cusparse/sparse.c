#include "emulator/standins/cusparse/sparse.h"

#include "emulator/standins/cublas/shared.h"

#include <stdio.h>

static struct standin_kernels kernels = {.ptx = sparse_image};

static const struct {
    int type;
    size_t bytes;
    const char *suffix, *bytes_suffix;
    bool is_computed;
} types[] = {
    {BLAS_R_32F, 4, "f32", "4", true},  {BLAS_R_64F, 8, "f64", "8", true},
    {BLAS_C_32F, 8, "c32", "8", true},  {BLAS_C_64F, 16, "c64", "16", true},
    {BLAS_R_16F, 2, "f16", "2", false}, {BLAS_R_16BF, 2, "bf16", "2", false},
};
enum { TYPES = sizeof types / sizeof *types };

static size_t find_type(int type)
{
    size_t k = 0;
    while (k < TYPES && types[k].type != type) k++;
    return k;
}

size_t sparse_bytes(int type)
{
    const size_t at = find_type(type);
    return at < TYPES ? types[at].bytes : 0;
}

const char *sparse_suffix(int type)
{
    const size_t at = find_type(type);
    return at < TYPES ? types[at].suffix : NULL;
}

const char *sparse_bytes_suffix(int type)
{
    const size_t at = find_type(type);
    return at < TYPES ? types[at].bytes_suffix : NULL;
}

bool sparse_is_computed(int type)
{
    const size_t at = find_type(type);
    return at < TYPES && types[at].is_computed;
}

bool sparse_is_index(int type)
{
    return type == SPARSE_INDEX_32 || type == SPARSE_INDEX_64;
}

enum sparse_status sparse_status_of(CUresult error)
{
    switch (standin_met(error)) {
    case CUDA_SUCCESS:
        return SPARSE_SUCCESS;
    case CUDA_ERROR_OUT_OF_MEMORY:
        return SPARSE_ALLOC_FAILED;
    case CUDA_ERROR_NOT_INITIALIZED:
    case CUDA_ERROR_NO_DEVICE:
        return SPARSE_NOT_INITIALIZED;
    default:
        return SPARSE_EXECUTION_FAILED;
    }
}

int sparse_call_end(enum sparse_status status)
{
    /* A pivot that is 0 is an answer, not a failure. */
    standin_call_end(status == SPARSE_SUCCESS || status == SPARSE_ZERO_PIVOT,
                     status == SPARSE_NOT_SUPPORTED ? CUDA_ERROR_NOT_SUPPORTED
                                                    : CUDA_ERROR_INVALID_VALUE);
    return (int)status;
}

enum sparse_status sparse_lacks(const char *what)
{
    standin_lacks(what);
    return SPARSE_NOT_SUPPORTED;
}

/* ---- what kernels take -------------------------------------------------------------------------
 */

bool sparse_is_op(int op)
{
    return op == SPARSE_OP_N || op == SPARSE_OP_T || op == SPARSE_OP_C;
}

bool sparse_is_op_of(int op, int type)
{
    const bool is_complex = type == BLAS_C_32F || type == BLAS_C_64F;
    return sparse_is_op(op) && (op != SPARSE_OP_C || is_complex);
}

struct blas_scalar sparse_factor(const struct cusparseContext *handle, int type, const void *factor)
{
    return blas_factor(type, handle->pointers == SPARSE_ON_DEVICE, factor);
}

struct sparse_indices sparse_indices(void *first, int index)
{
    return (struct sparse_indices){.first = first, .wide = index == SPARSE_INDEX_64};
}

struct sparse_matrix sparse_matrix(const struct cusparseSpMatDescr *m)
{
    const bool is_coo = m->format == SPARSE_COO;
    const struct sparse_indices starts = sparse_indices(m->starts, m->start_index);
    return (struct sparse_matrix){
        .rows = m->rows,
        .columns = m->columns,
        .lines = is_coo                    ? m->count
                 : m->format == SPARSE_CSC ? m->columns
                                           : m->rows,
        .count = m->count,
        .starts = is_coo ? (struct sparse_indices){.first = NULL} : starts,
        .line_of = is_coo ? starts : (struct sparse_indices){.first = NULL},
        .places = sparse_indices(m->places, m->place_index),
        .values = m->values,
        .next_start = m->next_start,
        .next_entry = m->next_entry,
        .base = m->base};
}

struct sparse_matrix sparse_csr(const struct cusparseMatDescr *description, int64_t rows,
                                int64_t columns, int64_t count, const void *values,
                                const int *starts, const int *places)
{
    return (struct sparse_matrix){.rows = rows,
                                  .columns = columns,
                                  .lines = rows,
                                  .count = count,
                                  .starts = {.first = NOT_CONST(starts)},
                                  .places = {.first = NOT_CONST(places)},
                                  .values = NOT_CONST(values),
                                  .base = description->base};
}

struct blas_matrix sparse_dense(const struct cusparseDnMatDescr *m, int op)
{
    const bool by_columns = (m->order == SPARSE_BY_COLUMNS) == (op == SPARSE_OP_N);
    return (struct blas_matrix){.first = m->values,
                                .row = by_columns ? 1 : m->ld,
                                .column = by_columns ? m->ld : 1,
                                .next = m->next,
                                .conjugate = op == SPARSE_OP_C};
}

struct cusparseDnMatDescr sparse_column(const struct cusparseDnVecDescr *v)
{
    return (struct cusparseDnMatDescr){.rows = v->size,
                                       .columns = 1,
                                       .ld = v->size,
                                       .values = v->values,
                                       .type = v->type,
                                       .order = SPARSE_BY_COLUMNS,
                                       .batch = 1};
}

void *sparse_piece(struct sparse_buffer *buffer, int64_t count, size_t bytes)
{
    enum { ALIGNMENT = 16 };
    unsigned char *piece = buffer->first == NULL ? NULL : buffer->first + buffer->taken;
    const size_t size = (size_t)count * bytes;
    buffer->taken += (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return piece;
}

enum sparse_status sparse_least(size_t *size)
{
    if (size == NULL) return SPARSE_INVALID_VALUE;
    *size = SPARSE_LEAST;
    return SPARSE_SUCCESS;
}

/* ---- launches ----------------------------------------------------------------------------------
 */

enum sparse_status sparse_launch(const struct cusparseContext *handle, const char *routine,
                                 const char *suffix, const struct standin_size *size,
                                 const void *parameter)
{
    enum { LONGEST = 64 };
    char name[LONGEST];
    snprintf(name, sizeof name, "cusparse_%s_%s", routine, suffix);
    return sparse_status_of(standin_launch(&kernels, name, size, handle->stream, parameter));
}

enum sparse_status sparse_each(const struct cusparseContext *handle, const char *routine,
                               const char *suffix, int64_t x, int64_t y, int64_t z,
                               const void *parameter)
{
    enum { MOST_Y = 65535 };
    const struct standin_size size = {.x = (uint64_t)x,
                                      .y = (uint64_t)(y < MOST_Y ? y : MOST_Y),
                                      .z = (uint64_t)z,
                                      .block_x = SPARSE_BLOCK,
                                      .block_y = 1};
    return sparse_launch(handle, routine, suffix, &size, parameter);
}

enum sparse_status sparse_alone(const struct cusparseContext *handle, const char *routine,
                                const char *suffix, const void *parameter)
{
    const struct standin_size size = {.x = 1, .y = 1, .z = 1, .block_x = 1, .block_y = 1};
    return sparse_launch(handle, routine, suffix, &size, parameter);
}

enum sparse_status sparse_adders(const struct cusparseContext *handle, const char *routine,
                                 const char *suffix, const void *parameter)
{
    const struct standin_size size = {
        .x = SPARSE_ADDERS, .y = 1, .z = 1, .block_x = SPARSE_ADDERS, .block_y = 1};
    return sparse_launch(handle, routine, suffix, &size, parameter);
}

/* ---- numbers that decide what comes next -------------------------------------------------------
 */

enum sparse_status sparse_scan(const struct cusparseContext *handle, int64_t *numbers,
                               int64_t count)
{
    const struct sparse_scan p = {.numbers = numbers, .count = count};
    return sparse_adders(handle, "scan", "indices", &p);
}

enum sparse_status sparse_copy_out(const struct cusparseContext *handle, void *to, const void *from,
                                   size_t bytes)
{
    CUresult error = cuMemcpyDtoHAsync(to, (CUdeviceptr)(uintptr_t)from, bytes, handle->stream);
    if (error == CUDA_SUCCESS) error = cuStreamSynchronize(handle->stream);
    return sparse_status_of(error);
}

enum sparse_status sparse_take(const struct cusparseContext *handle, const int64_t *number,
                               int64_t *taken)
{
    return sparse_copy_out(handle, taken, number, sizeof *taken);
}

enum sparse_status sparse_give_starts(const struct cusparseContext *handle, const int64_t *sums,
                                      int64_t lines, int64_t base, struct sparse_indices starts,
                                      int *total)
{
    const bool on_device = handle->pointers == SPARSE_ON_DEVICE;
    const struct sparse_starts p = {.sums = sums,
                                    .lines = lines,
                                    .base = base,
                                    .starts = starts,
                                    .total = on_device ? total : NULL};
    int64_t last = 0;
    enum sparse_status status = sparse_each(handle, "write_starts", "indices", lines + 1, 1, 1, &p);
    if (status != SPARSE_SUCCESS || total == NULL || on_device) return status;
    status = sparse_take(handle, sums + lines, &last);
    if (status == SPARSE_SUCCESS) *total = (int)last;
    return status;
}

enum sparse_status sparse_result(struct cusparseContext *handle, void **result)
{
    enum { LARGEST = 16 };
    CUdeviceptr made = 0;
    CUresult error = CUDA_SUCCESS;
    if (handle->result == NULL) {
        error = cuMemAlloc(&made, LARGEST);
        handle->result = (void *)(uintptr_t)made;
    }
    *result = handle->result;
    return sparse_status_of(error);
}
