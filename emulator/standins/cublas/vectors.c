/* Level 1: vectors. */
#include "emulator/standins/cublas/blas.h"

#include <stdio.h>
#include <string.h>

enum { THREADS = 256 }; /* of a block; kernels.cu has the same for those that add up */

/* What the caller gave. */
struct vectors {
    enum blas_letter letter;
    int64_t n;
    const void *x;
    int64_t step_x;
    const void *y; /* NULL: there is none */
    int64_t step_y;
};

static struct blas_level1 level1_of(const struct vectors *v)
{
    return (struct blas_level1){.n = v->n,
                                .x = blas_vector(v->letter, v->x, v->n, v->step_x),
                                .y = blas_vector(v->letter, v->y, v->n, v->step_y)};
}

/* ---- every element by itself -------------------------------------------------------------------
 */

static enum blas_status for_each(const struct cublasContext *handle, const char *routine,
                                 const struct vectors *v, const struct blas_level1 *p)
{
    const struct standin_size size = {
        .x = v->n > 0 ? (uint64_t)v->n : 0, .y = 1, .z = 1, .block_x = THREADS, .block_y = 1};
    return blas_launch(handle, routine, blas_suffix(v->letter), &size, p);
}

static enum blas_status move(const struct cublasContext *handle, const char *routine,
                             const struct vectors *v)
{
    const struct blas_level1 p = level1_of(v);
    return for_each(handle, routine, v, &p);
}

static enum blas_status add_scaled(const struct cublasContext *handle, const struct vectors *v,
                                   const void *alpha)
{
    struct blas_level1 p = level1_of(v);
    if (alpha == NULL) return BLAS_INVALID_VALUE;
    p.alpha = blas_scalar(handle, v->letter, false, alpha);
    return for_each(handle, "axpy", v, &p);
}

/* `real`: by a factor of the real type. */
static enum blas_status scale(const struct cublasContext *handle, const struct vectors *v,
                              bool real, const void *alpha)
{
    struct blas_level1 p = level1_of(v);
    if (alpha == NULL) return BLAS_INVALID_VALUE;
    p.alpha = blas_scalar(handle, v->letter, real, alpha);
    return for_each(handle, real ? "scal_real" : "scal", v, &p);
}

/* `real`: the sine of a rotation of complex vectors has the real type too. On the host it is made a
 * complex number; on the device it cannot be. */
static enum blas_status rotate(const struct cublasContext *handle, const struct vectors *v,
                               bool real, const void *cosine, const void *sine)
{
    struct blas_level1 p = level1_of(v);
    if (cosine == NULL || sine == NULL) return BLAS_INVALID_VALUE;
    if (real && handle->pointers == BLAS_ON_DEVICE) return BLAS_NOT_SUPPORTED;
    p.alpha = blas_scalar(handle, v->letter, true, cosine);
    p.beta = blas_scalar(handle, v->letter, real, sine);
    return for_each(handle, "rot", v, &p);
}

#define ONE(L)                                                                                     \
    &(struct vectors)                                                                              \
    {                                                                                              \
        .letter = BLAS_##L, .n = n, .x = x, .step_x = step_x                                       \
    }
#define TWO(L)                                                                                     \
    &(struct vectors)                                                                              \
    {                                                                                              \
        .letter = BLAS_##L, .n = n, .x = x, .step_x = step_x, .y = y, .step_y = step_y             \
    }
#define VECTOR(name, I) const void *name, I step_##name

#define OF_TYPE(L, suffix, I)                                                                      \
    BLAS_ROUTINE(L##copy_v2##suffix, move(handle, "copy", TWO(L)), I n, VECTOR(x, I),              \
                 VECTOR(y, I))                                                                     \
    BLAS_ROUTINE(L##swap_v2##suffix, move(handle, "swap", TWO(L)), I n, VECTOR(x, I),              \
                 VECTOR(y, I))                                                                     \
    BLAS_ROUTINE(L##axpy_v2##suffix, add_scaled(handle, TWO(L), alpha), I n, const void *alpha,    \
                 VECTOR(x, I), VECTOR(y, I))                                                       \
    BLAS_ROUTINE(L##scal_v2##suffix, scale(handle, ONE(L), false, alpha), I n, const void *alpha,  \
                 VECTOR(x, I))                                                                     \
    BLAS_ROUTINE(L##rot_v2##suffix, rotate(handle, TWO(L), false, cosine, sine), I n,              \
                 VECTOR(x, I), VECTOR(y, I), const void *cosine, const void *sine)
#define BY_REAL(L, scaling, rotation, suffix, I)                                                   \
    BLAS_ROUTINE(scaling##_v2##suffix, scale(handle, ONE(L), true, alpha), I n, const void *alpha, \
                 VECTOR(x, I))                                                                     \
    BLAS_ROUTINE(rotation##_v2##suffix, rotate(handle, TWO(L), true, cosine, sine), I n,           \
                 VECTOR(x, I), VECTOR(y, I), const void *cosine, const void *sine)
#define EACH(suffix, I)                                                                            \
    OF_TYPE(S, suffix, I)                                                                          \
    OF_TYPE(D, suffix, I)                                                                          \
    OF_TYPE(C, suffix, I)                                                                          \
    OF_TYPE(Z, suffix, I)                                                                          \
    BY_REAL(C, Csscal, Csrot, suffix, I) BY_REAL(Z, Zdscal, Zdrot, suffix, I)
EACH(, int)
EACH(_64, int64_t)

/* ---- one result --------------------------------------------------------------------------------
 */

/* What else a reduction is told. */
struct reduction {
    const char *routine;
    size_t bytes; /* of the result */
    bool conjugates, wide, smallest;
};

/* One block adds up. A result on the host is waited for; that of no elements is 0. */
static enum blas_status reduce(struct cublasContext *handle, const struct vectors *v,
                               const struct reduction *how, void *result)
{
    enum { ROOM = 16 };
    const struct standin_size size = {
        .x = THREADS, .y = 1, .z = 1, .block_x = THREADS, .block_y = 1};
    const bool on_host = handle->pointers == BLAS_ON_HOST;
    struct blas_level1 p = level1_of(v);
    CUresult error = CUDA_SUCCESS;
    if (result == NULL) return BLAS_INVALID_VALUE;
    if (p.n <= 0 && on_host) {
        memset(result, 0, how->bytes);
        return BLAS_SUCCESS;
    }
    if (on_host && handle->result == NULL)
        error = cuMemAlloc((CUdeviceptr *)(void *)&handle->result, ROOM);
    if (error != CUDA_SUCCESS) return blas_status_of(error);
    p.result = on_host ? handle->result : result;
    p.conjugate = how->conjugates;
    p.wide = how->wide;
    p.smallest = how->smallest;
    const enum blas_status status =
        blas_launch(handle, how->routine, blas_suffix(v->letter), &size, &p);
    if (status != BLAS_SUCCESS || !on_host) return status;
    error = cuMemcpyDtoHAsync(result, (CUdeviceptr)(uintptr_t)handle->result, how->bytes,
                              handle->stream);
    return blas_status_of(error != CUDA_SUCCESS ? error : cuStreamSynchronize(handle->stream));
}

#define HOW(...)                                                                                   \
    &(struct reduction)                                                                            \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define DOT(L, name, size, is_conjugate, suffix, I)                                                \
    BLAS_ROUTINE(name##_v2##suffix,                                                                \
                 reduce(handle, TWO(L),                                                            \
                        HOW(.routine = "dot", .bytes = size, .conjugates = is_conjugate), result), \
                 I n, VECTOR(x, I), VECTOR(y, I), void *result)
#define SUM(L, name, what, size, suffix, I)                                                        \
    BLAS_ROUTINE(name##_v2##suffix,                                                                \
                 reduce(handle, ONE(L), HOW(.routine = what, .bytes = size), result), I n,         \
                 VECTOR(x, I), void *result)
#define INDEX(L, name, is_smallest, suffix, I)                                                     \
    BLAS_ROUTINE(name##_v2##suffix,                                                                \
                 reduce(handle, ONE(L),                                                            \
                        HOW(.routine = "amax", .bytes = sizeof(I), .wide = sizeof(I) == 8,         \
                            .smallest = is_smallest),                                              \
                        result),                                                                   \
                 I n, VECTOR(x, I), I *result)
#define REDUCTIONS(suffix, I)                                                                      \
    DOT(S, Sdot, 4, false, suffix, I)                                                              \
    DOT(D, Ddot, 8, false, suffix, I)                                                              \
    DOT(C, Cdotu, 8, false, suffix, I)                                                             \
    DOT(C, Cdotc, 8, true, suffix, I)                                                              \
    DOT(Z, Zdotu, 16, false, suffix, I)                                                            \
    DOT(Z, Zdotc, 16, true, suffix, I)                                                             \
    SUM(S, Sasum, "asum", 4, suffix, I)                                                            \
    SUM(D, Dasum, "asum", 8, suffix, I)                                                            \
    SUM(C, Scasum, "asum", 4, suffix, I)                                                           \
    SUM(Z, Dzasum, "asum", 8, suffix, I)                                                           \
    SUM(S, Snrm2, "nrm2", 4, suffix, I)                                                            \
    SUM(D, Dnrm2, "nrm2", 8, suffix, I)                                                            \
    SUM(C, Scnrm2, "nrm2", 4, suffix, I)                                                           \
    SUM(Z, Dznrm2, "nrm2", 8, suffix, I)                                                           \
    INDEX(S, Isamax, false, suffix, I)                                                             \
    INDEX(D, Idamax, false, suffix, I)                                                             \
    INDEX(C, Icamax, false, suffix, I)                                                             \
    INDEX(Z, Izamax, false, suffix, I)                                                             \
    INDEX(S, Isamin, true, suffix, I)                                                              \
    INDEX(D, Idamin, true, suffix, I)                                                              \
    INDEX(C, Icamin, true, suffix, I)                                                              \
    INDEX(Z, Izamin, true, suffix, I)
REDUCTIONS(, int)
REDUCTIONS(_64, int64_t)

/* ---- types as arguments ---------------------------------------------------------------------- */

/* Of axpyEx and its kin. */
struct named_types {
    int x, y;  /* of the vectors; y: x again where there is one */
    int other; /* of the factor or the result */
    int execution;
};

static const struct typed {
    int type, real;
    enum blas_letter letter;
    size_t bytes;
} typed[] = {
    {BLAS_R_32F, BLAS_R_32F, BLAS_S, 4},
    {BLAS_R_64F, BLAS_R_64F, BLAS_D, 8},
    {BLAS_C_32F, BLAS_R_32F, BLAS_C, 8},
    {BLAS_C_64F, BLAS_R_64F, BLAS_Z, 16},
};

/* Returns the row of a call that has one type throughout, but for the real result of a norm. Any
 * other call is for half precision: it is named, and NULL is returned. */
static const struct typed *typed_of(const struct named_types *types, bool of_norm)
{
    enum { LONGEST = 160 };
    char what[LONGEST];
    for (size_t i = 0; i < sizeof typed / sizeof *typed; i++) {
        const struct typed *row = &typed[i];
        const int other = of_norm ? row->real : row->type;
        if (types->x == row->type && types->y == row->type && types->other == other &&
            (types->execution == row->type || types->execution == other))
            return row;
    }
    snprintf(
        what, sizeof what,
        "vectors of cuBLAS of these types (cudaDataType %d and %d, of the factor or result %d, "
        "executed as %d)",
        types->x, types->y, types->other, types->execution);
    standin_lacks(what);
    return NULL;
}

static enum blas_status add_scaled_as(const struct cublasContext *handle, struct vectors *v,
                                      const struct named_types *types, const void *alpha)
{
    const struct typed *row = typed_of(types, false);
    if (row == NULL) return BLAS_NOT_SUPPORTED;
    v->letter = row->letter;
    return add_scaled(handle, v, alpha);
}

static enum blas_status scale_as(const struct cublasContext *handle, struct vectors *v,
                                 const struct named_types *types, const void *alpha)
{
    const struct typed *row = typed_of(types, false);
    if (row == NULL) return BLAS_NOT_SUPPORTED;
    v->letter = row->letter;
    return scale(handle, v, false, alpha);
}

static enum blas_status reduce_as(struct cublasContext *handle, struct vectors *v,
                                  const struct named_types *types, bool conjugates, void *result)
{
    const bool of_norm = v->y == NULL;
    const struct typed *row = typed_of(types, of_norm);
    if (row == NULL) return BLAS_NOT_SUPPORTED;
    const bool is_complex = row->type != row->real;
    v->letter = row->letter;
    return reduce(handle, v,
                  HOW(.routine = of_norm ? "nrm2" : "dot",
                      .bytes = of_norm && is_complex ? row->bytes / 2 : row->bytes,
                      .conjugates = conjugates && is_complex),
                  result);
}

#define TYPED(name, I) const void *name, int type_##name, I step_##name
#define TYPES(y, other)                                                                            \
    &(struct named_types)                                                                          \
    {                                                                                              \
        type_x, y, other, execution                                                                \
    }
#define PRODUCT_AS(name, conjugates, suffix, I)                                                    \
    BLAS_ROUTINE(name##suffix,                                                                     \
                 reduce_as(handle, TWO(S), TYPES(type_y, type_result), conjugates, result), I n,   \
                 TYPED(x, I), TYPED(y, I), void *result, int type_result, int execution)
#define BY_TYPES(suffix, I)                                                                        \
    BLAS_ROUTINE(AxpyEx##suffix, add_scaled_as(handle, TWO(S), TYPES(type_y, type_alpha), alpha),  \
                 I n, const void *alpha, int type_alpha, TYPED(x, I), TYPED(y, I), int execution)  \
    BLAS_ROUTINE(ScalEx##suffix, scale_as(handle, ONE(S), TYPES(type_x, type_alpha), alpha), I n,  \
                 const void *alpha, int type_alpha, TYPED(x, I), int execution)                    \
    BLAS_ROUTINE(Nrm2Ex##suffix,                                                                   \
                 reduce_as(handle, ONE(S), TYPES(type_x, type_result), false, result), I n,        \
                 TYPED(x, I), void *result, int type_result, int execution)                        \
    PRODUCT_AS(DotEx, false, suffix, I) PRODUCT_AS(DotcEx, true, suffix, I)
BY_TYPES(, int)
BY_TYPES(_64, int64_t)
