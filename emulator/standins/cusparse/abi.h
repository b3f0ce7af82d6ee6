/* abi: what a program that was compiled with NVIDIA's cusparse.h hands over: the numbers behind the
 * names of its enumerations. tests/standins compares them with that header where there is one.
 * Types of data are those of cuBLAS's abi.h. This header declares no functions and includes nothing
 * of NVIDIA's.
 *
 * Source: cusparse.h of CUDA 13.0 (cuSPARSE 12.6).
 */
#ifndef OVERLAP_STANDINS_CUSPARSE_ABI_H
#define OVERLAP_STANDINS_CUSPARSE_ABI_H

#include "emulator/standins/cublas/abi.h"

enum sparse_status {
    SPARSE_SUCCESS = 0,
    SPARSE_NOT_INITIALIZED = 1,
    SPARSE_ALLOC_FAILED = 2,
    SPARSE_INVALID_VALUE = 3,
    SPARSE_ARCH_MISMATCH = 4,
    SPARSE_MAPPING_ERROR = 5,
    SPARSE_EXECUTION_FAILED = 6,
    SPARSE_INTERNAL_ERROR = 7,
    SPARSE_MATRIX_TYPE_NOT_SUPPORTED = 8,
    SPARSE_ZERO_PIVOT = 9,
    SPARSE_NOT_SUPPORTED = 10,
    SPARSE_INSUFFICIENT_RESOURCES = 11,
};

enum sparse_pointers { SPARSE_ON_HOST = 0, SPARSE_ON_DEVICE = 1 };
enum sparse_action { SPARSE_SYMBOLIC = 0, SPARSE_NUMERIC = 1 };
enum sparse_kind {
    SPARSE_GENERAL = 0,
    SPARSE_SYMMETRIC = 1,
    SPARSE_HERMITIAN = 2,
    SPARSE_TRIANGULAR = 3,
};
enum sparse_fill { SPARSE_LOWER = 0, SPARSE_UPPER = 1 };
enum sparse_diagonal { SPARSE_NON_UNIT = 0, SPARSE_UNIT = 1 };
enum sparse_base { SPARSE_FROM_0 = 0, SPARSE_FROM_1 = 1 };
enum sparse_op { SPARSE_OP_N = 0, SPARSE_OP_T = 1, SPARSE_OP_C = 2 };
enum sparse_direction { SPARSE_ROWS = 0, SPARSE_COLUMNS = 1 };
enum sparse_format { SPARSE_CSR = 1, SPARSE_CSC = 2, SPARSE_COO = 3 };
enum sparse_order { SPARSE_BY_COLUMNS = 1, SPARSE_BY_ROWS = 2 };
enum sparse_index { SPARSE_INDEX_16 = 1, SPARSE_INDEX_32 = 2, SPARSE_INDEX_64 = 3 };
enum sparse_attribute { SPARSE_ATTRIBUTE_FILL = 0, SPARSE_ATTRIBUTE_DIAGONAL = 1 };

/* What cusparseCreateMatDescr makes; the stand-in for cuSOLVER reads it, too. */
struct cusparseMatDescr {
    int kind, fill, diagonal, base;
};

/* The version whose ABI this is. */
enum { SPARSE_MAJOR = 12, SPARSE_MINOR = 6, SPARSE_PATCH = 3 };

#endif
