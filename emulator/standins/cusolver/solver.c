#include "emulator/standins/cusolver/solver.h"

#include <limits.h>
#include <stdio.h>

static struct standin_kernels kernels = {.ptx = solver_image};

static const struct {
    const char *suffix;
    size_t bytes;
    int type, real;
} types[] = {
    [SOLVER_S] = {"f32", 4, BLAS_R_32F, BLAS_R_32F},
    [SOLVER_D] = {"f64", 8, BLAS_R_64F, BLAS_R_64F},
    [SOLVER_C] = {"c32", 8, BLAS_C_32F, BLAS_R_32F},
    [SOLVER_Z] = {"c64", 16, BLAS_C_64F, BLAS_R_64F},
};

size_t solver_element(enum solver_letter letter)
{
    return types[letter].bytes;
}

enum solver_letter solver_letter_of(int type, int compute)
{
    int letter = SOLVER_S;
    while (letter < SOLVER_NO_LETTER && (types[letter].type != type || type != compute)) letter++;
    return (enum solver_letter)letter;
}

int solver_real_type(enum solver_letter letter)
{
    return types[letter].real;
}

enum solver_status solver_status_of(CUresult error)
{
    switch (standin_met(error)) {
    case CUDA_SUCCESS:
        return SOLVER_SUCCESS;
    case CUDA_ERROR_OUT_OF_MEMORY:
        return SOLVER_ALLOC_FAILED;
    case CUDA_ERROR_NOT_INITIALIZED:
    case CUDA_ERROR_NO_DEVICE:
        return SOLVER_NOT_INITIALIZED;
    default:
        return SOLVER_EXECUTION_FAILED;
    }
}

int solver_call_end(enum solver_status status)
{
    standin_call_end(status == SOLVER_SUCCESS, status == SOLVER_NOT_SUPPORTED
                                                   ? CUDA_ERROR_NOT_SUPPORTED
                                                   : CUDA_ERROR_INVALID_VALUE);
    return (int)status;
}

bool solver_is_matrix(int64_t rows, int64_t columns, int64_t ld)
{
    return rows >= 0 && columns >= 0 && ld >= (rows > 1 ? rows : 1);
}

bool solver_is_fill(int fill)
{
    return fill == BLAS_LOWER || fill == BLAS_UPPER;
}

bool solver_is_op(int op)
{
    return op == BLAS_OP_N || op == BLAS_OP_T || op == BLAS_OP_C;
}

enum solver_status solver_room(int64_t elements, int *room)
{
    if (elements < 0 || elements > INT_MAX || room == NULL) return SOLVER_INVALID_VALUE;
    *room = elements > 1 ? (int)elements : 1;
    return SOLVER_SUCCESS;
}

enum solver_status solver_room_bytes(enum solver_letter letter, int64_t elements, size_t *device,
                                     size_t *host)
{
    if (elements < 0 || device == NULL || host == NULL) return SOLVER_INVALID_VALUE;
    *device = (size_t)(elements > 1 ? elements : 1) * solver_element(letter);
    *host = 0;
    return SOLVER_SUCCESS;
}

enum solver_status solver_demands(const struct cusolverDnContext *handle, int *info, size_t count,
                                  const struct solver_demand demands[])
{
    size_t k = 0;
    while (k < count && demands[k].is_met) k++;
    if (k == count) return SOLVER_SUCCESS;
    if (info != NULL && demands[k].parameter != 0) {
        const CUresult error = cuMemsetD32Async((CUdeviceptr)(uintptr_t)info,
                                                (unsigned)-demands[k].parameter, 1, handle->stream);
        if (error != CUDA_SUCCESS) return solver_status_of(error);
    }
    return SOLVER_INVALID_VALUE;
}

/* As many threads as have something to do. */
static unsigned threads_for(int64_t order)
{
    enum { WARP = 32, ROWS_OF_A_WARP = 8 };
    unsigned threads = WARP;
    while (threads < SOLVER_MOST_THREADS && threads / WARP * ROWS_OF_A_WARP < order) threads *= 2;
    return threads;
}

enum solver_status solver_launch(const struct cusolverDnContext *handle, const char *routine,
                                 enum solver_letter letter, int64_t count, int64_t order,
                                 const void *parameter)
{
    enum { LONGEST = 64 };
    char name[LONGEST];
    const unsigned threads = threads_for(order);
    const struct standin_size size = {
        .x = (uint64_t)count * threads, .y = 1, .z = 1, .block_x = threads, .block_y = 1};
    snprintf(name, sizeof name, "cusolver_%s_%s", routine, types[letter].suffix);
    return solver_status_of(standin_launch(&kernels, name, &size, handle->stream, parameter));
}

enum solver_status solver_sweeps_of(struct solver_settings *settings, int64_t count,
                                    struct solver_sweeps *sweeps)
{
    enum { MOST_SWEEPS = 100 };
    CUdeviceptr report = 0;
    CUresult error;
    *sweeps = (struct solver_sweeps){.most = MOST_SWEEPS};
    if (settings == NULL) return SOLVER_SUCCESS;
    sweeps->tolerance = settings->tolerance;
    sweeps->most = settings->most_sweeps;
    sweeps->unsorted = !settings->sorts;
    settings->of_many = count != 1;
    if (count != 1) return SOLVER_SUCCESS;
    if (settings->report == NULL) {
        if ((error = standin_context()) == CUDA_SUCCESS)
            error = cuMemAlloc(&report, sizeof *settings->report);
        if (error != CUDA_SUCCESS) return solver_status_of(error);
        settings->report = (struct solver_report *)(uintptr_t)report;
    }
    sweeps->report = settings->report;
    return SOLVER_SUCCESS;
}
