#include "emulator/standins/cublas/blas.h"

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

struct blas_scalar blas_scalar(const struct cublasContext *handle, enum blas_letter letter,
                               bool real, const void *factor)
{
    static const int types[] = {
        [BLAS_S] = BLAS_R_32F, [BLAS_D] = BLAS_R_64F, [BLAS_C] = BLAS_C_32F, [BLAS_Z] = BLAS_C_64F};
    const bool is_double = letter == BLAS_D || letter == BLAS_Z;
    const int type = !real ? types[letter] : is_double ? BLAS_R_64F : BLAS_R_32F;
    return blas_factor(type, handle->pointers == BLAS_ON_DEVICE, factor);
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
    return blas_launch_from(&kernels, "cublas", routine, suffix, handle->stream, size, parameter);
}
