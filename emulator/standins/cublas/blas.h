/* blas: the stand-in for cuBLAS. A public function (levels*.c) describes what it was asked for as
 * one of the structures of parameters.h; this room looks at the sizes, makes the factors what
 * kernels take, and launches a kernel of kernels.cu in the handle's stream.
 *
 * Results in host memory are waited for, as cuBLAS has it; everything else is asynchronous.
 *
 * Source: cuBLAS 13.1; the reference BLAS (netlib.org/blas) for what each routine computes.
 */
#ifndef OVERLAP_STANDINS_CUBLAS_BLAS_H
#define OVERLAP_STANDINS_CUBLAS_BLAS_H

#include "emulator/standins/cublas/abi.h"
#include "emulator/standins/cublas/parameters.h"
#include "emulator/standins/cublas/shared.h"
#include "emulator/standins/standins.h"

/* What cublasCreate makes; the caller owns it until cublasDestroy. */
struct cublasContext {
    CUstream stream;
    int pointers; /* enum blas_pointers: where alpha, beta and results are */
    int math_mode, atomics_mode, sm_count;
    void *result; /* device memory for one result; made when it is first needed */
};

/* The types of a routine, by the letter in its name. */
enum blas_letter { BLAS_S, BLAS_D, BLAS_C, BLAS_Z };
const char *blas_suffix(enum blas_letter letter); /* of its kernels' names: "f32" */

/* ---- the bracket around a public function -----------------------------------------------------
 */

/* A routine on a handle: `run`, an enum blas_status, is looked at only if there is a handle. */
#define BLAS_ROUTINE(name, run, ...)                                                               \
    STANDIN_PUBLIC int cublas##name(struct cublasContext *handle, __VA_ARGS__)                     \
    {                                                                                              \
        standin_call_begin("cublas" #name, __builtin_return_address(0));                           \
        return blas_call_end(handle == NULL ? BLAS_NOT_INITIALIZED : (run));                       \
    }

/* ---- what routines share -----------------------------------------------------------------------
 */

/* A factor that the caller gave; `real`: by its real type alone, as the factors of cublasCsscal. */
struct blas_scalar blas_scalar(const struct cublasContext *handle, enum blas_letter letter,
                               bool real, const void *factor);
/* A vector of `n` elements; of a negative step it is walked from its end. */
struct blas_vector blas_vector(enum blas_letter letter, const void *first, int64_t n, int64_t step);

/* Launches kernel cublas_<routine>_<suffix> for `x` by `y` threads, `z` times. */
enum blas_status blas_launch(const struct cublasContext *handle, const char *routine,
                             const char *suffix, const struct standin_size *size,
                             const void *parameter);

/* The image that the kernels are loaded from: kernels.cu as PTX. */
extern const char blas_image[];

#endif
