/* abi: the numbers behind the names of the enumerations in NVIDIA's cublasLt.h, which a program
 * that was compiled with that header passes, and the structures that it has room for.
 * tests/standins compares them with the header where it is installed. Statuses, types and
 * operations are those of cuBLAS's abi.h, epilogues those of parameters.h.
 *
 * Source: cuBLAS 13.1, "Using the cuBLASLt API".
 */
#ifndef OVERLAP_STANDINS_CUBLASLT_ABI_H
#define OVERLAP_STANDINS_CUBLASLT_ABI_H

#include "emulator/standins/cublas/abi.h"

enum lt_order { LT_BY_COLUMNS = 0, LT_BY_ROWS = 1 };
enum lt_batch { LT_STRIDED = 0, LT_APART = 1 };
enum { LT_FULL = 2 }; /* cublasFillMode_t */

enum lt_pointers {
    LT_HOST = 0,
    LT_DEVICE = 1,
    LT_VECTORS = 2,          /* alpha and beta: one for each row of D, in device memory */
    LT_VECTOR_AND_ZERO = 3,  /* alpha so, beta is 0 */
    LT_VECTOR_AND_VALUE = 4, /* alpha so, beta in host memory */
};

/* The attributes of each structure. What is not named here is refused. */
enum lt_layout_attribute {
    LT_LAYOUT_TYPE = 0,
    LT_LAYOUT_ORDER = 1,
    LT_LAYOUT_ROWS = 2,
    LT_LAYOUT_COLUMNS = 3,
    LT_LAYOUT_LD = 4,
    LT_LAYOUT_COUNT = 5,
    LT_LAYOUT_NEXT = 6,
    LT_LAYOUT_PLANE = 7,
    LT_LAYOUT_BATCH = 8,
};
enum lt_operation_attribute {
    LT_COMPUTE_TYPE = 0,
    LT_SCALE_TYPE = 1,
    LT_POINTERS = 2,
    LT_OP_A = 3,
    LT_OP_B = 4,
    LT_OP_C = 5,
    LT_FILL = 6,
    LT_EPILOGUE = 7,
    LT_BIAS_POINTER = 8,
    LT_BIAS_NEXT = 10,
    LT_AUXILIARY_POINTER = 11,
    LT_AUXILIARY_LD = 12,
    LT_AUXILIARY_NEXT = 13,
    LT_ALPHA_NEXT = 14,
    LT_SM_COUNT = 15,
    LT_A_SCALE = 17,
    LT_B_SCALE = 18,
    LT_C_SCALE = 19,
    LT_D_SCALE = 20,
    LT_D_MOST = 21,
    LT_AUXILIARY_TYPE = 22,
    LT_AUXILIARY_SCALE = 23,
    LT_AUXILIARY_MOST = 24,
    LT_FAST_SUMS = 25,
    LT_BIAS_TYPE = 26,
};
enum lt_preference_attribute {
    LT_SEARCH = 0,
    LT_WORKSPACE = 1,
    LT_REDUCTIONS = 3,
    LT_ALIGN_A = 5,
    LT_ALIGN_B = 6,
    LT_ALIGN_C = 7,
    LT_ALIGN_D = 8,
    LT_WAVES = 9,
    LT_IMPLEMENTATIONS = 12,
};
enum lt_algorithm_attribute {
    LT_ALGORITHM_ID = 0,
    LT_ALGORITHM_TILE = 1,
    LT_ALGORITHM_SPLIT_K = 2,
    LT_ALGORITHM_REDUCTION = 3,
    LT_ALGORITHM_SWIZZLE = 4,
    LT_ALGORITHM_CUSTOM = 5,
    LT_ALGORITHM_STAGES = 6,
    LT_ALGORITHM_SHAPE = 7,
    LT_ALGORITHM_CLUSTER = 8,
};
enum lt_capability_attribute {
    LT_CAN_SPLIT_K = 0,
    LT_CAN_REDUCE = 1,
    LT_CAN_SWIZZLE = 2,
    LT_CAN_BATCH = 3,
    LT_CAN_WRITE_APART = 4,
    LT_CAN_FILL = 5,
    LT_CAN_TILE = 6,
    LT_CAN_CUSTOM = 7,
    LT_CAN_ORDER = 10,
    LT_CAN_POINTERS = 11,
    LT_CAN_EPILOGUES = 12,
    LT_CAN_STAGES = 13,
    LT_CAN_LD_NEGATIVE = 14,
    LT_CAN_NUMBERS = 15,
    LT_CAN_ALIGN_A = 16,
    LT_CAN_ALIGN_B = 17,
    LT_CAN_ALIGN_C = 18,
    LT_CAN_ALIGN_D = 19,
    LT_CAN_BATCH_APART = 21,
};

/* cublasLtNumericalImplFlags_t: sums in float, by fused multiplications and additions. */
#define LT_NUMBERS_FLOAT (UINT64_C(1) << 0 | UINT64_C(2) << 8)

/* How much room a program has for each structure, in bytes. */
enum {
    LT_LAYOUT_ROOM = 64,
    LT_OPERATION_ROOM = 256,
    LT_PREFERENCE_ROOM = 64,
    LT_ALGORITHM_ROOM = 64,
};

#endif
