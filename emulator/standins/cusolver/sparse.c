/* Solutions of sparse systems: the part of cusolverSp that has one call for all of it. */
#include "emulator/standins/cusolver/solver.h"
#include "emulator/standins/cusparse/abi.h"

#include <stdlib.h>

/* What cusolverSpCreate makes: a dense handle, of which only the stream is used. */
struct cusolverSpContext {
    struct cusolverDnContext dense;
};

static enum solver_status create(struct cusolverSpContext **made)
{
    if (made == NULL) return SOLVER_INVALID_VALUE;
    const enum solver_status status = solver_status_of(standin_context());
    if (status != SOLVER_SUCCESS) return status;
    *made = calloc(1, sizeof **made);
    return *made != NULL ? SOLVER_SUCCESS : SOLVER_ALLOC_FAILED;
}

STANDIN_PUBLIC int cusolverSpCreate(struct cusolverSpContext **made)
{
    standin_call_begin("cusolverSpCreate", __builtin_return_address(0));
    return solver_call_end(create(made));
}

STANDIN_PUBLIC int cusolverSpDestroy(struct cusolverSpContext *handle)
{
    free(handle);
    return handle == NULL ? SOLVER_NOT_INITIALIZED : SOLVER_SUCCESS;
}

STANDIN_PUBLIC int cusolverSpSetStream(struct cusolverSpContext *handle, CUstream stream)
{
    if (handle == NULL) return SOLVER_NOT_INITIALIZED;
    handle->dense.stream = stream;
    return SOLVER_SUCCESS;
}

STANDIN_PUBLIC int cusolverSpGetStream(const struct cusolverSpContext *handle, CUstream *stream)
{
    if (handle == NULL) return SOLVER_NOT_INITIALIZED;
    if (stream == NULL) return SOLVER_INVALID_VALUE;
    *stream = handle->dense.stream;
    return SOLVER_SUCCESS;
}

/* What the caller gave. */
struct given {
    int m, count;
    const struct cusparseMatDescr *description;
    const void *values;
    const int *starts, *places;
    const void *b;
    double tolerance;
    int reorder; /* changes how many entries factors have, not what comes out */
    void *x;
    int *singularity; /* on the host */
};

/* Waits: whether a matrix is singular is an answer to the host. */
static enum solver_status run(const struct cusolverSpContext *handle, enum solver_letter letter,
                              const char *routine, const struct given *g, void *work)
{
    const int64_t each = (int64_t)g->m * (g->m + 2);
    int32_t *singularity =
        (int32_t *)((unsigned char *)work + (size_t)each * solver_element(letter));
    const struct solver_sparse p = {.m = g->m,
                                    .values = g->values,
                                    .starts = g->starts,
                                    .places = g->places,
                                    .base = g->description->base,
                                    .b = g->b,
                                    .x = g->x,
                                    .work = {.first = work, .each = each},
                                    .tolerance = g->tolerance,
                                    .singularity = singularity};
    const enum solver_status status = solver_launch(&handle->dense, routine, letter, 1, g->m, &p);
    if (status != SOLVER_SUCCESS) return status;
    CUresult error = cuMemcpyDtoHAsync(g->singularity, (CUdeviceptr)(uintptr_t)singularity,
                                       sizeof *singularity, handle->dense.stream);
    if (error == CUDA_SUCCESS) error = cuStreamSynchronize(handle->dense.stream);
    return solver_status_of(error);
}

static enum solver_status solve(const struct cusolverSpContext *handle, enum solver_letter letter,
                                const char *routine, const struct given *g)
{
    CUdeviceptr work = 0;
    if (g->m < 1 || g->count < 0 || g->description == NULL || g->singularity == NULL ||
        g->reorder < 0)
        return SOLVER_INVALID_VALUE;
    if (g->description->kind != SPARSE_GENERAL) return SOLVER_MATRIX_TYPE_NOT_SUPPORTED;
    const size_t elements = (size_t)g->m * ((size_t)g->m + 2);
    CUresult error = cuMemAlloc(&work, elements * solver_element(letter) + sizeof(int32_t));
    if (error != CUDA_SUCCESS) return solver_status_of(error);
    const enum solver_status status = run(handle, letter, routine, g, (void *)(uintptr_t)work);
    error = cuMemFree(work);
    return status == SOLVER_SUCCESS ? solver_status_of(error) : status;
}

#define SPARSE(name, routine, letter, T)                                                           \
    STANDIN_PUBLIC int cusolverSp##name(                                                           \
        struct cusolverSpContext *handle, int m, int count,                                        \
        const struct cusparseMatDescr *description, const void *values, const int *starts,         \
        const int *places, const void *b, T tolerance, int reorder, void *x, int *singularity)     \
    {                                                                                              \
        standin_call_begin("cusolverSp" #name, __builtin_return_address(0));                       \
        return solver_call_end(                                                                    \
            handle == NULL ? SOLVER_NOT_INITIALIZED                                                \
                           : solve(handle, letter, routine,                                        \
                                   &(struct given){m, count, description, values, starts, places,  \
                                                   b, tolerance, reorder, x, singularity}));       \
    }
#define OF_TYPE(L, T)                                                                              \
    SPARSE(L##csrlsvqr, "sparse_qr", SOLVER_##L, T)                                                \
    SPARSE(L##csrlsvchol, "sparse_cholesky", SOLVER_##L, T)
OF_TYPE(S, float)
OF_TYPE(D, double)
OF_TYPE(C, float)
OF_TYPE(Z, double)
