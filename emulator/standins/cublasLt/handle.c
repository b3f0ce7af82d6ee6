/* Handles, and what is asked of the library. */
#include "emulator/standins/cublasLt/lt.h"

#include <stdlib.h>

/* A handle holds nothing. One of cuBLAS is one of cuBLASLt, too. */
static enum blas_status create(void **made)
{
    if (made == NULL) return BLAS_INVALID_VALUE;
    const enum blas_status status = blas_status_of(standin_context());
    if (status != BLAS_SUCCESS) return status;
    *made = malloc(1);
    return *made != NULL ? BLAS_SUCCESS : BLAS_ALLOC_FAILED;
}
LT_ROUTINE(Create, create(made), void **made)

static enum blas_status destroy(void *handle)
{
    if (handle == NULL) return BLAS_NOT_INITIALIZED;
    free(handle);
    return BLAS_SUCCESS;
}
LT_ROUTINE(Destroy, destroy(handle), void *handle)

STANDIN_PUBLIC const char *cublasLtGetStatusName(int status)
{
    return blas_status_name(status);
}

STANDIN_PUBLIC const char *cublasLtGetStatusString(int status)
{
    return blas_status_text(status);
}

STANDIN_PUBLIC size_t cublasLtGetVersion(void)
{
    return (size_t)blas_version();
}

STANDIN_PUBLIC size_t cublasLtGetCudartVersion(void)
{
    return CUDA_VERSION;
}

LT_ROUTINE(GetProperty, blas_property(which, value), int which, int *value)

/* There is no cache of heuristics, and no log; a program may set both. */
static enum blas_status capacity(size_t *value)
{
    if (value == NULL) return BLAS_INVALID_VALUE;
    *value = 0;
    return BLAS_SUCCESS;
}
LT_ROUTINE(HeuristicsCacheGetCapacity, capacity(value), size_t *value)
LT_ROUTINE(HeuristicsCacheSetCapacity, ((void)value, BLAS_SUCCESS), size_t value)
LT_ROUTINE(LoggerSetCallback, ((void)callback, BLAS_SUCCESS), const void *callback)
LT_ROUTINE(LoggerSetFile, ((void)file, BLAS_SUCCESS), const void *file)
LT_ROUTINE(LoggerOpenFile, ((void)file, BLAS_SUCCESS), const char *file)
LT_ROUTINE(LoggerSetLevel, ((void)level, BLAS_SUCCESS), int level)
LT_ROUTINE(LoggerSetMask, ((void)mask, BLAS_SUCCESS), int mask)
LT_ROUTINE(LoggerForceDisable, BLAS_SUCCESS, void)

STANDIN_PUBLIC unsigned cublasLtDisableCpuInstructionsSetMask(unsigned mask)
{
    (void)mask;
    return 0;
}

/* ---- what there is not -------------------------------------------------------------------------
 */

#define ABSENT(name) STANDIN_ABSENT(cublasLt##name, BLAS_NOT_SUPPORTED)
ABSENT(MatrixTransform)
ABSENT(MatrixTransformDescInit_internal)
ABSENT(MatrixTransformDescCreate)
ABSENT(MatrixTransformDescDestroy)
ABSENT(MatrixTransformDescSetAttribute)
ABSENT(MatrixTransformDescGetAttribute)
ABSENT(EmulationDescInit_internal)
ABSENT(EmulationDescCreate)
ABSENT(EmulationDescDestroy)
ABSENT(EmulationDescSetAttribute)
ABSENT(EmulationDescGetAttribute)
