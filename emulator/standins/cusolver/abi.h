/* abi: what a program that was compiled with NVIDIA's cusolverDn.h hands over: the numbers behind
 * the names of its enumerations. tests/standins compares them with that header where there is one.
 * Fill modes, operations and types of data are those of cuBLAS's abi.h. This header declares no
 * functions and includes nothing of NVIDIA's.
 *
 * Source: cusolver_common.h of CUDA 13.0 (cuSOLVER 12.0).
 */
#ifndef OVERLAP_STANDINS_CUSOLVER_ABI_H
#define OVERLAP_STANDINS_CUSOLVER_ABI_H

#include "emulator/standins/cublas/abi.h"

enum solver_status {
    SOLVER_SUCCESS = 0,
    SOLVER_NOT_INITIALIZED = 1,
    SOLVER_ALLOC_FAILED = 2,
    SOLVER_INVALID_VALUE = 3,
    SOLVER_EXECUTION_FAILED = 6,
    SOLVER_INTERNAL_ERROR = 7,
    SOLVER_MATRIX_TYPE_NOT_SUPPORTED = 8,
    SOLVER_NOT_SUPPORTED = 9,
    SOLVER_WRONG_PARAMETERS = 13, /* of gesv and gels */
};

/* A x = w B x, A B x = w x, B A x = w x. */
enum solver_problem { SOLVER_PROBLEM_1 = 1, SOLVER_PROBLEM_2 = 2, SOLVER_PROBLEM_3 = 3 };
enum solver_mode { SOLVER_VALUES = 0, SOLVER_VECTORS = 1 };
enum solver_range { SOLVER_RANGE_ALL = 1001, SOLVER_RANGE_INDEX = 1002, SOLVER_RANGE_VALUE = 1003 };
enum solver_algorithm { SOLVER_ALGORITHM_0 = 0, SOLVER_ALGORITHM_2 = 2 };
enum solver_determinism { SOLVER_DETERMINISTIC = 1, SOLVER_NOT_DETERMINISTIC = 2 };
enum solver_math { SOLVER_DEFAULT_MATH = 1, SOLVER_EMULATED_MATH = 2 };

enum { SOLVER_MAJOR = 12, SOLVER_MINOR = 0, SOLVER_PATCH = 4 };

#endif
