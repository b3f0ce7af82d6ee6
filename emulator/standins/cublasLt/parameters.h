/* parameters: what the kernels of kernels.cu are given. C and CUDA share it. Sizes, steps and
 * leading dimensions are in elements, as in cuBLAS's parameters.h. */
#ifndef OVERLAP_STANDINS_CUBLASLT_PARAMETERS_H
#define OVERLAP_STANDINS_CUBLASLT_PARAMETERS_H

#include "emulator/standins/cublas/parameters.h"

/* The bits of cublasLtEpilogue_t. */
enum lt_epilogue {
    LT_PLAIN = 1,
    LT_RELU = 2,
    LT_BIAS = 4,
    LT_RELU_GRADIENT = 8,
    LT_BIAS_GRADIENT = 16,
    LT_GELU = 32,
    LT_GELU_GRADIENT = 64,
    LT_AUXILIARY = 128,
    LT_BIAS_GRADIENT_OF_A = 256,
    LT_BIAS_GRADIENT_OF_B = 512,
};

/* D = epilogue(alpha op(A) op(B) + beta C), `product.count` times. A factor in device memory is one
 * for all rows, or a vector of them with one for each row of D. */
struct lt_matmul {
    struct blas_gemm product;
    struct blas_matrix d;
    int32_t alpha_of_row, beta_of_row;
    int64_t alpha_next; /* from one product's vector of alphas to the next's */
    int32_t epilogue;   /* enum lt_epilogue */
    const void *bias;   /* one for each row of D */
    int64_t bias_next;
    /* One for each element of D, by columns: what went into GELU, or, in bits, whether what went
     * into RELU was positive. */
    void *auxiliary;
    int64_t auxiliary_column, auxiliary_next;
};

/* The sums of a matrix's rows, `count` times. */
struct lt_sums {
    int64_t rows, columns;
    struct blas_matrix matrix;
    void *sums;
    int64_t sums_next;
};

#endif
