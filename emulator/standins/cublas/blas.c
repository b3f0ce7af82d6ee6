#include "emulator/standins/cublas/blas.h"

#include <stdio.h>
#include <string.h>

static struct standin_kernels kernels = {.ptx = blas_image};

const char *blas_suffix(enum blas_letter letter)
{
    static const char *const suffixes[] = {
        [BLAS_S] = "f32", [BLAS_D] = "f64", [BLAS_C] = "c32", [BLAS_Z] = "c64"};
    return suffixes[letter];
}

static size_t size_of(enum blas_letter letter)
{
    static const size_t sizes[] = {[BLAS_S] = 4, [BLAS_D] = 8, [BLAS_C] = 8, [BLAS_Z] = 16};
    return sizes[letter];
}

enum blas_status blas_status_of(CUresult error)
{
    switch (standin_met(error)) {
    case CUDA_SUCCESS:
        return BLAS_SUCCESS;
    case CUDA_ERROR_OUT_OF_MEMORY:
        return BLAS_ALLOC_FAILED;
    case CUDA_ERROR_NOT_INITIALIZED:
    case CUDA_ERROR_NO_DEVICE:
        return BLAS_NOT_INITIALIZED;
    default:
        return BLAS_EXECUTION_FAILED;
    }
}

int blas_call_end(enum blas_status status)
{
    standin_call_end(status == BLAS_SUCCESS, status == BLAS_NOT_SUPPORTED
                                                 ? CUDA_ERROR_NOT_SUPPORTED
                                                 : CUDA_ERROR_INVALID_VALUE);
    return (int)status;
}

struct blas_scalar blas_scalar(const struct cublasContext *handle, enum blas_letter letter,
                               bool real, const void *factor)
{
    struct blas_scalar scalar = {.device = NULL};
    const bool is_complex = (letter == BLAS_C || letter == BLAS_Z) && !real;
    if (handle->pointers == BLAS_ON_DEVICE) {
        scalar.device = factor;
    } else if (letter == BLAS_S || letter == BLAS_C) {
        float parts[2] = {0, 0};
        memcpy(parts, factor, is_complex ? sizeof parts : sizeof *parts);
        scalar.re = parts[0];
        scalar.im = parts[1];
    } else {
        double parts[2] = {0, 0};
        memcpy(parts, factor, is_complex ? sizeof parts : sizeof *parts);
        scalar.re = parts[0];
        scalar.im = parts[1];
    }
    return scalar;
}

struct blas_matrix blas_matrix(const void *first, int64_t ld, int op)
{
    const bool plain = op == BLAS_OP_N;
    return (struct blas_matrix){.first = (void *)(uintptr_t)first,
                                .row = plain ? 1 : ld,
                                .column = plain ? ld : 1,
                                .conjugate = op == BLAS_OP_C};
}

struct blas_vector blas_vector(enum blas_letter letter, const void *first, int64_t n, int64_t step)
{
    const int64_t begin = step < 0 ? (1 - n) * step : 0;
    return (struct blas_vector){.first = (unsigned char *)(uintptr_t)first +
                                         begin * (int64_t)size_of(letter),
                                .step = step};
}

enum blas_status blas_launch(const struct cublasContext *handle, const char *routine,
                             const char *suffix, const struct standin_size *size,
                             const void *parameter)
{
    enum { LONGEST = 64 };
    char name[LONGEST];
    snprintf(name, sizeof name, "cublas_%s_%s", routine, suffix);
    return blas_status_of(standin_launch(&kernels, name, size, handle->stream, parameter));
}
