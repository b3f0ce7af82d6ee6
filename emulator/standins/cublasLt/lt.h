/* lt: the stand-in for cuBLASLt. structures.c has what a program fills in before a product, by
 * tables of their attributes; algorithms.c answers which algorithms there are, which is one;
 * products.c checks a product and launches it, by kernels of kernels.cu, in the stream it is given.
 *
 * A product needs no workspace and never waits. Of the calls that cublasLt.h declares, those that
 * convert layouts (cublasLtMatrixTransform) or emulate precisions name themselves, and so do
 * orders other than by columns and by rows, planar complex numbers, and types without a kernel.
 *
 * Source: cuBLAS 13.1, "Using the cuBLASLt API".
 */
#ifndef OVERLAP_STANDINS_CUBLASLT_LT_H
#define OVERLAP_STANDINS_CUBLASLT_LT_H

#include "emulator/standins/cublas/shared.h"
#include "emulator/standins/cublasLt/abi.h"
#include "emulator/standins/cublasLt/parameters.h"
#include "emulator/standins/standins.h"

/* How a matrix lies in memory. */
struct lt_layout {
    int32_t type;  /* enum blas_type */
    int32_t order; /* enum lt_order */
    uint64_t rows, columns;
    int64_t ld;
    int64_t next;  /* from one matrix of a batch to the next */
    int64_t plane; /* from real to imaginary parts, in bytes; 0: they are together */
    int32_t count;
    uint32_t batch; /* enum lt_batch */
};

/* What is to be done with the matrices. */
struct lt_operation {
    int32_t compute; /* enum blas_compute */
    int32_t scale;   /* enum blas_type, of alpha and beta */
    int32_t pointers;
    int32_t op_a, op_b, op_c, fill;
    uint32_t epilogue;
    const void *bias;
    int64_t bias_next;
    void *auxiliary;
    int64_t auxiliary_ld, auxiliary_next;
    int64_t alpha_next;
    const void *a_scale, *b_scale, *c_scale, *d_scale, *d_most;
    const void *auxiliary_scale, *auxiliary_most;
    int32_t sm_count;
    int32_t auxiliary_type, bias_type; /* enum blas_type; -1: the type of D */
    int8_t fast_sums;
};

/* What an algorithm is looked for by. All have the one that there is. */
struct lt_preference {
    uint64_t workspace, implementations;
    uint32_t search, reductions, align_a, align_b, align_c, align_d;
    float waves;
};

struct lt_algorithm {
    int32_t id; /* LT_ONLY_ALGORITHM */
    int32_t split_k;
    uint32_t tile, reduction, swizzle, custom, stages;
    uint16_t shape, cluster;
};
enum { LT_ONLY_ALGORITHM = 1 };

_Static_assert(sizeof(struct lt_layout) <= LT_LAYOUT_ROOM, "the program's room for it");
_Static_assert(sizeof(struct lt_operation) <= LT_OPERATION_ROOM, "the program's room for it");
_Static_assert(sizeof(struct lt_preference) <= LT_PREFERENCE_ROOM, "the program's room for it");
_Static_assert(sizeof(struct lt_algorithm) <= LT_ALGORITHM_ROOM, "the program's room for it");

/* ---- attributes --------------------------------------------------------------------------------
 */

/* Where an attribute is in its structure, and its size, in bytes. */
struct lt_attribute {
    int number;
    size_t offset, size;
};
#define LT_ATTRIBUTE(number, type, member)                                                         \
    {                                                                                              \
        number, offsetof(struct type, member), sizeof(((struct type *)NULL)->member)               \
    }
struct lt_attributes {
    const struct lt_attribute *rows;
    size_t count;
};
#define LT_ATTRIBUTES(table)                                                                       \
    (struct lt_attributes)                                                                         \
    {                                                                                              \
        table, sizeof(table) / sizeof *(table)                                                     \
    }

/* Errors: BLAS_INVALID_VALUE for an object or value that is NULL, an attribute that there is not,
 * and a size that is not its own. A size of 0 asks how large the value is; `written` may otherwise
 * be NULL. */
enum blas_status lt_set(struct lt_attributes attributes, void *object, int number,
                        const void *value, size_t size);
enum blas_status lt_get(struct lt_attributes attributes, const void *object, int number,
                        void *value, size_t size, size_t *written);

/* A public function cublasLt<name>; `run` is an enum blas_status. */
#define LT_ROUTINE(name, run, ...)                                                                 \
    STANDIN_PUBLIC int cublasLt##name(__VA_ARGS__)                                                 \
    {                                                                                              \
        standin_call_begin("cublasLt" #name, __builtin_return_address(0));                         \
        return blas_call_end(run);                                                                 \
    }

/* ---- products ----------------------------------------------------------------------------------
 */

/* One product as the caller has it. */
struct lt_call {
    const struct lt_operation *operation;
    const struct lt_layout *a, *b, *c, *d;
};

/* Whether it can be computed.
 * Errors: BLAS_INVALID_VALUE where the parts do not fit each other; BLAS_NOT_SUPPORTED, with a
 * finding. */
enum blas_status lt_check(const struct lt_call *call);

/* The image that the kernels are loaded from: kernels.cu as PTX. */
extern const char lt_image[];

#endif
