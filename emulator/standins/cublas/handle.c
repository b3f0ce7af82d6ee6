/* Handles: what a program sets once, and asks for. */
#include "emulator/standins/cublas/blas.h"

#include <stdlib.h>

STANDIN_PUBLIC int cublasCreate_v2(struct cublasContext **made)
{
    enum blas_status status = BLAS_INVALID_VALUE;
    standin_call_begin("cublasCreate_v2", __builtin_return_address(0));
    if (made != NULL) status = blas_status_of(standin_context());
    if (status == BLAS_SUCCESS && (*made = calloc(1, sizeof **made)) == NULL)
        status = BLAS_ALLOC_FAILED;
    return blas_call_end(status);
}

static enum blas_status destroy(struct cublasContext *handle)
{
    CUresult error = CUDA_SUCCESS;
    if (handle->result != NULL) error = cuMemFree((CUdeviceptr)(uintptr_t)handle->result);
    free(handle);
    return blas_status_of(error);
}

STANDIN_PUBLIC int cublasDestroy_v2(struct cublasContext *handle)
{
    standin_call_begin("cublasDestroy_v2", __builtin_return_address(0));
    return blas_call_end(handle == NULL ? BLAS_NOT_INITIALIZED : destroy(handle));
}

/* ---- settings ---------------------------------------------------------------------------------
 */

/* Whether the value may be that of a setting; most are kept and change nothing here. */
static enum blas_status set(int *setting, int value, int most)
{
    if (value < 0 || value > most) return BLAS_INVALID_VALUE;
    *setting = value;
    return BLAS_SUCCESS;
}

static enum blas_status get(const int *setting, int *value)
{
    if (value == NULL) return BLAS_INVALID_VALUE;
    *value = *setting;
    return BLAS_SUCCESS;
}

static enum blas_status set_stream(struct cublasContext *handle, CUstream stream)
{
    handle->stream = stream;
    return BLAS_SUCCESS;
}

static enum blas_status get_stream(const struct cublasContext *handle, CUstream *stream)
{
    if (stream == NULL) return BLAS_INVALID_VALUE;
    *stream = handle->stream;
    return BLAS_SUCCESS;
}

enum { MOST_MODES = 1 << 16, MOST_SMS = 1 << 16 };
BLAS_ROUTINE(SetPointerMode_v2, set(&handle->pointers, mode, BLAS_ON_DEVICE), int mode)
BLAS_ROUTINE(GetPointerMode_v2, get(&handle->pointers, mode), int *mode)
BLAS_ROUTINE(SetAtomicsMode, set(&handle->atomics_mode, mode, 1), int mode)
BLAS_ROUTINE(GetAtomicsMode, get(&handle->atomics_mode, mode), int *mode)
BLAS_ROUTINE(SetMathMode, set(&handle->math_mode, mode, MOST_MODES), int mode)
BLAS_ROUTINE(GetMathMode, get(&handle->math_mode, mode), int *mode)
BLAS_ROUTINE(SetSmCountTarget, set(&handle->sm_count, count, MOST_SMS), int count)
BLAS_ROUTINE(GetSmCountTarget, get(&handle->sm_count, count), int *count)
BLAS_ROUTINE(SetStream_v2, set_stream(handle, stream), CUstream stream)
BLAS_ROUTINE(GetStream_v2, get_stream(handle, stream), CUstream *stream)
/* A workspace is for NVIDIA's kernels; these need none. */
BLAS_ROUTINE(SetWorkspace_v2, ((void)workspace, (void)size, BLAS_SUCCESS), void *workspace,
             size_t size)
BLAS_ROUTINE(GetVersion_v2, get(&(int){blas_version()}, version), int *version)

/* ---- of the library ---------------------------------------------------------------------------
 */

STANDIN_PUBLIC int cublasGetProperty(int which, int *value)
{
    return blas_property(which, value);
}

STANDIN_PUBLIC size_t cublasGetCudartVersion(void)
{
    return CUDA_VERSION;
}

STANDIN_PUBLIC const char *cublasGetStatusName(int status)
{
    return blas_status_name(status);
}

STANDIN_PUBLIC const char *cublasGetStatusString(int status)
{
    return blas_status_text(status);
}

STANDIN_PUBLIC int cublasLoggerConfigure(int on, int to_stdout, int to_stderr, const char *file)
{
    (void)on, (void)to_stdout, (void)to_stderr, (void)file; /* there is no log */
    return BLAS_SUCCESS;
}

/* Not in cublas_v2.h. NVIDIA's cuSOLVER for several GPUs is linked to it, and without it would not
 * be loaded, so that nothing could say that it is machine code. */
STANDIN_PUBLIC int cublasSetEnvironmentMode(void)
{
    return BLAS_SUCCESS;
}
