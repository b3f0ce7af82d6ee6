/* abi: what a program that was compiled with NVIDIA's cublas_v2.h hands over: the numbers behind
 * the names of its enumerations. tests/standins compares them with that header where there is one.
 *
 * Source: cuBLAS 13.1, "Using the cuBLAS API".
 */
#ifndef OVERLAP_STANDINS_CUBLAS_ABI_H
#define OVERLAP_STANDINS_CUBLAS_ABI_H

enum blas_status {
    BLAS_SUCCESS = 0,
    BLAS_NOT_INITIALIZED = 1,
    BLAS_ALLOC_FAILED = 3,
    BLAS_INVALID_VALUE = 7,
    BLAS_MAPPING_ERROR = 11,
    BLAS_EXECUTION_FAILED = 13,
    BLAS_INTERNAL_ERROR = 14,
    BLAS_NOT_SUPPORTED = 15,
};

enum blas_op { BLAS_OP_N = 0, BLAS_OP_T = 1, BLAS_OP_C = 2 };
enum blas_fill { BLAS_LOWER = 0, BLAS_UPPER = 1 };
enum blas_diagonal { BLAS_NON_UNIT = 0, BLAS_UNIT = 1 };
enum blas_side { BLAS_LEFT = 0, BLAS_RIGHT = 1 };
enum blas_pointers { BLAS_ON_HOST = 0, BLAS_ON_DEVICE = 1 };

/* cudaDataType, of library_types.h: those that a product may have. */
enum blas_type {
    BLAS_R_32F = 0,
    BLAS_R_64F = 1,
    BLAS_R_16F = 2,
    BLAS_R_8I = 3,
    BLAS_C_32F = 4,
    BLAS_C_64F = 5,
    BLAS_R_32I = 10,
    BLAS_R_16BF = 14,
};

/* cublasComputeType_t. The ones that are not named here compute as their neighbours do. */
enum blas_compute {
    BLAS_COMPUTE_16F = 64,
    BLAS_COMPUTE_16F_PEDANTIC = 65,
    BLAS_COMPUTE_32F = 68,
    BLAS_COMPUTE_32F_PEDANTIC = 69,
    BLAS_COMPUTE_64F = 70,
    BLAS_COMPUTE_64F_PEDANTIC = 71,
    BLAS_COMPUTE_32I = 72,
    BLAS_COMPUTE_32I_PEDANTIC = 73,
    BLAS_COMPUTE_32F_FAST_16F = 74,
    BLAS_COMPUTE_32F_FAST_16BF = 75,
    BLAS_COMPUTE_32F_FAST_TF32 = 77,
    BLAS_COMPUTE_32F_EMULATED_16BFX9 = 78,
    BLAS_COMPUTE_64F_EMULATED_FIXEDPOINT = 79,
};

#endif
