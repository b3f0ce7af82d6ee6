/* shared: what the stand-ins for cuBLAS and cuBLASLt share on the host: statuses, factors and
 * matrices, from what a caller gives to what kernels take. */
#ifndef OVERLAP_STANDINS_CUBLAS_SHARED_H
#define OVERLAP_STANDINS_CUBLAS_SHARED_H

#include "emulator/standins/cublas/abi.h"
#include "emulator/standins/cublas/parameters.h"
#include "emulator/standins/standins.h"

/* Ends the bracket that standin_call_begin began; returns `status`. */
int blas_call_end(enum blas_status status);
/* A CUDA error as a status; it is remembered for blas_call_end. */
enum blas_status blas_status_of(CUresult error);

/* "CUBLAS_STATUS_SUCCESS", and what it means; never NULL. */
const char *blas_status_name(int status);
const char *blas_status_text(int status);

/* The version whose ABI the stand-ins follow, as one number, and its parts by
 * libraryPropertyType. */
int blas_version(void);
enum blas_status blas_property(int which, int *value);

/* A factor of type `type`, an enum blas_type, in host memory, where it is read now, or in device
 * memory, where kernels read it. */
struct blas_scalar blas_factor(int type, bool on_device, const void *factor);
/* op(M), of a matrix by columns with leading dimension `ld`; `op` is an enum blas_op. */
struct blas_matrix blas_matrix(const void *first, int64_t ld, int op);
bool blas_is_op(int op);
/* The size of a launch that computes an m x n matrix, `count` times, BLAS_COLUMNS elements of a row
 * by each thread. A warp is 32 neighbours of a column. */
struct standin_size blas_product_size(int64_t m, int64_t n, int64_t count);
/* Launches kernel <library>_<routine>_<suffix> of `kernels`. */
enum blas_status blas_launch_from(struct standin_kernels *kernels, const char *library,
                                  const char *routine, const char *suffix, CUstream stream,
                                  const struct standin_size *size, const void *parameter);
/* What sums are of, for an enum blas_compute; an enum blas_type. */
int blas_type_of(int compute);

#endif
