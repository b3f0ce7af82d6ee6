/* Handles, descriptions of matrices of the legacy functions, and what the library says of itself.
 */
#include "emulator/standins/cusparse/sparse.h"

#include <stdlib.h>

STANDIN_PUBLIC int cusparseCreate(struct cusparseContext **made)
{
    enum sparse_status status = SPARSE_INVALID_VALUE;
    standin_call_begin("cusparseCreate", __builtin_return_address(0));
    if (made != NULL) status = sparse_status_of(standin_context());
    if (status == SPARSE_SUCCESS && (*made = calloc(1, sizeof **made)) == NULL)
        status = SPARSE_ALLOC_FAILED;
    return sparse_call_end(status);
}

static enum sparse_status destroy(struct cusparseContext *handle)
{
    CUresult error = CUDA_SUCCESS;
    if (handle->result != NULL) error = cuMemFree((CUdeviceptr)(uintptr_t)handle->result);
    free(handle);
    return sparse_status_of(error);
}

STANDIN_PUBLIC int cusparseDestroy(struct cusparseContext *handle)
{
    standin_call_begin("cusparseDestroy", __builtin_return_address(0));
    return sparse_call_end(handle == NULL ? SPARSE_SUCCESS : destroy(handle));
}

/* ---- settings ---------------------------------------------------------------------------------
 */

static enum sparse_status set(int *setting, int value, int most)
{
    if (value < 0 || value > most) return SPARSE_INVALID_VALUE;
    *setting = value;
    return SPARSE_SUCCESS;
}

static enum sparse_status get(int value, int *to)
{
    if (to == NULL) return SPARSE_INVALID_VALUE;
    *to = value;
    return SPARSE_SUCCESS;
}

static enum sparse_status set_stream(struct cusparseContext *handle, CUstream stream)
{
    handle->stream = stream;
    return SPARSE_SUCCESS;
}

static enum sparse_status get_stream(const struct cusparseContext *handle, CUstream *stream)
{
    if (stream == NULL) return SPARSE_INVALID_VALUE;
    *stream = handle->stream;
    return SPARSE_SUCCESS;
}

enum { VERSION = SPARSE_MAJOR * 1000 + SPARSE_MINOR * 100 + SPARSE_PATCH };

SPARSE_ROUTINE(SetStream, set_stream(handle, stream), CUstream stream)
SPARSE_ROUTINE(GetStream, get_stream(handle, stream), CUstream *stream)
SPARSE_ROUTINE(SetPointerMode, set(&handle->pointers, mode, SPARSE_ON_DEVICE), int mode)
SPARSE_ROUTINE(GetPointerMode, get(handle->pointers, mode), int *mode)
SPARSE_ROUTINE(GetVersion, get(VERSION, version), int *version)

/* ---- descriptions ------------------------------------------------------------------------------
 */

STANDIN_PUBLIC int cusparseCreateMatDescr(struct cusparseMatDescr **made)
{
    if (made == NULL) return SPARSE_INVALID_VALUE;
    *made = calloc(1, sizeof **made);
    return *made != NULL ? SPARSE_SUCCESS : SPARSE_ALLOC_FAILED;
}

STANDIN_PUBLIC int cusparseDestroyMatDescr(struct cusparseMatDescr *description)
{
    free(description);
    return SPARSE_SUCCESS;
}

#define SETTING(Name, field, most)                                                                 \
    SPARSE_PLAIN(SetMat##Name, description != NULL, set(&description->field, value, most),         \
                 struct cusparseMatDescr * description, int value)                                 \
    STANDIN_PUBLIC int cusparseGetMat##Name(const struct cusparseMatDescr *description)            \
    {                                                                                              \
        return description != NULL ? description->field : 0;                                       \
    }
SETTING(Type, kind, SPARSE_TRIANGULAR)
SETTING(FillMode, fill, SPARSE_UPPER)
SETTING(DiagType, diagonal, SPARSE_UNIT)
SETTING(IndexBase, base, SPARSE_FROM_1)

/* ---- of the library ---------------------------------------------------------------------------
 */

static const struct {
    enum sparse_status status;
    const char *name, *text;
} statuses[] = {
    {SPARSE_SUCCESS, "CUSPARSE_STATUS_SUCCESS", "success"},
    {SPARSE_NOT_INITIALIZED, "CUSPARSE_STATUS_NOT_INITIALIZED", "initialization error"},
    {SPARSE_ALLOC_FAILED, "CUSPARSE_STATUS_ALLOC_FAILED", "out of memory"},
    {SPARSE_INVALID_VALUE, "CUSPARSE_STATUS_INVALID_VALUE", "invalid value"},
    {SPARSE_ARCH_MISMATCH, "CUSPARSE_STATUS_ARCH_MISMATCH", "architecture mismatch"},
    {SPARSE_MAPPING_ERROR, "CUSPARSE_STATUS_MAPPING_ERROR", "texture memory mapping error"},
    {SPARSE_EXECUTION_FAILED, "CUSPARSE_STATUS_EXECUTION_FAILED", "kernel launch failure"},
    {SPARSE_INTERNAL_ERROR, "CUSPARSE_STATUS_INTERNAL_ERROR", "internal error"},
    {SPARSE_MATRIX_TYPE_NOT_SUPPORTED, "CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED",
     "matrix type not supported"},
    {SPARSE_ZERO_PIVOT, "CUSPARSE_STATUS_ZERO_PIVOT", "zero pivot"},
    {SPARSE_NOT_SUPPORTED, "CUSPARSE_STATUS_NOT_SUPPORTED", "operation not supported"},
    {SPARSE_INSUFFICIENT_RESOURCES, "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES",
     "insufficient resources"},
};
enum { STATUSES = sizeof statuses / sizeof *statuses };

STANDIN_PUBLIC const char *cusparseGetErrorName(int status)
{
    return status >= 0 && status < STATUSES ? statuses[status].name : "unrecognized error code";
}

STANDIN_PUBLIC const char *cusparseGetErrorString(int status)
{
    return status >= 0 && status < STATUSES ? statuses[status].text : "unrecognized error code";
}

STANDIN_PUBLIC int cusparseGetProperty(int which, int *value)
{
    static const int parts[] = {SPARSE_MAJOR, SPARSE_MINOR, SPARSE_PATCH};
    return which < 0 || which > 2 ? SPARSE_INVALID_VALUE : (int)get(parts[which], value);
}

/* There is no log. */
SPARSE_PLAIN(LoggerSetCallback, true, ((void)callback, SPARSE_SUCCESS), void *callback)
SPARSE_PLAIN(LoggerSetFile, true, ((void)file, SPARSE_SUCCESS), void *file)
SPARSE_PLAIN(LoggerOpenFile, true, ((void)file, SPARSE_SUCCESS), const char *file)
SPARSE_PLAIN(LoggerSetLevel, true, ((void)level, SPARSE_SUCCESS), int level)
SPARSE_PLAIN(LoggerSetMask, true, ((void)mask, SPARSE_SUCCESS), int mask)
SPARSE_PLAIN(LoggerForceDisable, true, SPARSE_SUCCESS, void)
