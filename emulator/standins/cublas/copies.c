/* Vectors and matrices to the device and back: copies of rows, by the runtime. */
#include "emulator/standins/cublas/blas.h"

#include <cuda_runtime_api.h>

/* `rows` rows of `bytes` bytes, at a distance of `from_pitch` and `to_pitch`. */
static enum blas_status copy_rows(void *to, int64_t to_pitch, const void *from, int64_t from_pitch,
                                  int64_t bytes, int64_t rows, enum cudaMemcpyKind kind,
                                  bool asynchronous, cudaStream_t stream)
{
    if (bytes < 0 || rows < 0 || to_pitch < bytes || from_pitch < bytes) return BLAS_INVALID_VALUE;
    if (bytes == 0 || rows == 0) return BLAS_SUCCESS;
    const cudaError_t error =
        asynchronous ? cudaMemcpy2DAsync(to, (size_t)to_pitch, from, (size_t)from_pitch,
                                         (size_t)bytes, (size_t)rows, kind, stream)
                     : cudaMemcpy2D(to, (size_t)to_pitch, from, (size_t)from_pitch, (size_t)bytes,
                                    (size_t)rows, kind);
    blas_status_of((CUresult)error);
    return error == cudaSuccess ? BLAS_SUCCESS : BLAS_MAPPING_ERROR;
}

/* A vector is as many rows of one element; neighbours are one row. */
static enum blas_status copy_vector(void *to, int64_t to_step, const void *from, int64_t from_step,
                                    int64_t element, int64_t n, enum cudaMemcpyKind kind,
                                    bool asynchronous, cudaStream_t stream)
{
    if (to_step <= 0 || from_step <= 0 || element <= 0 || n < 0) return BLAS_INVALID_VALUE;
    const bool whole = to_step == 1 && from_step == 1;
    return copy_rows(to, whole ? n * element : to_step * element, from,
                     whole ? n * element : from_step * element, whole ? n * element : element,
                     whole ? 1 : n, kind, asynchronous, stream);
}

#define COPY(name, run, ...)                                                                       \
    STANDIN_PUBLIC int cublas##name(__VA_ARGS__)                                                   \
    {                                                                                              \
        standin_call_begin("cublas" #name, __builtin_return_address(0));                           \
        const CUresult error = standin_context();                                                  \
        return blas_call_end(error != CUDA_SUCCESS ? blas_status_of(error) : (run));               \
    }
#define VECTORS(direction, kind, suffix, I)                                                        \
    COPY(direction##Vector##suffix,                                                                \
         copy_vector(y, step_y, x, step_x, element, n, kind, false, NULL), I n, I element,         \
         const void *x, I step_x, void *y, I step_y)                                               \
    COPY(direction##VectorAsync##suffix,                                                           \
         copy_vector(y, step_y, x, step_x, element, n, kind, true, stream), I n, I element,        \
         const void *x, I step_x, void *y, I step_y, cudaStream_t stream)                          \
    COPY(direction##Matrix##suffix,                                                                \
         copy_rows(b, ldb *(int64_t)element, a, lda *(int64_t)element, rows *(int64_t)element,     \
                   columns, kind, false, NULL),                                                    \
         I rows, I columns, I element, const void *a, I lda, void *b, I ldb)                       \
    COPY(direction##MatrixAsync##suffix,                                                           \
         copy_rows(b, ldb *(int64_t)element, a, lda *(int64_t)element, rows *(int64_t)element,     \
                   columns, kind, true, stream),                                                   \
         I rows, I columns, I element, const void *a, I lda, void *b, I ldb, cudaStream_t stream)
VECTORS(Set, cudaMemcpyHostToDevice, , int)
VECTORS(Set, cudaMemcpyHostToDevice, _64, int64_t)
VECTORS(Get, cudaMemcpyDeviceToHost, , int)
VECTORS(Get, cudaMemcpyDeviceToHost, _64, int64_t)
