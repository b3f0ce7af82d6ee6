/* parameters: what the kernels of kernels.cu are given. C and CUDA share it.
 *
 * Sizes, steps and leading dimensions are in elements. Matrices are stored by columns, as BLAS has
 * them. Element (i, j) of op(M) is at i * row + j * column.
 */
#ifndef OVERLAP_STANDINS_CUBLAS_PARAMETERS_H
#define OVERLAP_STANDINS_CUBLAS_PARAMETERS_H

#include <stdint.h>

enum {
    BLAS_COLUMNS = 8,       /* of a product, that a thread has of one row */
    BLAS_INVERSE_MOST = 32, /* rows of a matrix that is inverted at once */
};

/* A factor: `re` and `im`, or what is in device memory when the kernel runs. */
struct blas_scalar {
    const void *device; /* of the type that the routine computes in; NULL: the two below */
    double re, im;
};

struct blas_matrix {
    void *first; /* element (0, 0); of a batch of matrices apart, an array of pointers to them */
    int64_t row, column;
    int64_t next; /* from one matrix of a batch to the next, unless they are apart */
    int32_t conjugate;
};

struct blas_vector {
    void *first; /* element 0, wherever the others lie */
    int64_t step;
};

/* C = alpha op(A) op(B) + beta C, `count` times. */
struct blas_gemm {
    int64_t m, n, k, count;
    struct blas_scalar alpha, beta;
    struct blas_matrix a, b, c;
};

/* y = alpha op(A) x + beta y, with op(A) m x n; A += alpha x y' and its kin; A in place for those
 * that solve or multiply by a triangle. */
struct blas_level2 {
    int64_t m, n;
    struct blas_scalar alpha, beta;
    struct blas_matrix a;
    struct blas_vector x, y;
    int32_t upper;     /* of op(A): which triangle there is */
    int32_t unit;      /* its diagonal is taken for ones */
    int32_t hermitian; /* the other triangle is the conjugate of this one */
};

/* A triangle or a symmetric matrix times, or under, a full one: C = alpha A B + beta C. */
struct blas_level3 {
    int64_t m, n, k; /* k of many triangles: how many, each with a B of its own */
    struct blas_scalar alpha, beta;
    struct blas_matrix a, b, c;
    int32_t right; /* A is on the right side */
    int32_t upper; /* as in blas_level2 */
    int32_t unit;
    int32_t hermitian;
    int32_t both; /* of a rank-2k update: B op(A) is added as well */
};

/* Factorisations of square matrices, `count` of them, each apart, and what is done with them. */
struct blas_factors {
    int64_t n, columns; /* of A; columns of B */
    int32_t op;         /* an enum blas_op, of A */
    struct blas_matrix a, b;
    int32_t *pivots; /* n for each matrix, from 1 on; NULL: rows stay where they are */
    int32_t *info;   /* one for each matrix: 0, or which pivot, from 1 on, is 0; NULL: not wanted */
};

/* Vectors of n elements. */
struct blas_level1 {
    int64_t n;
    struct blas_scalar alpha, beta;
    struct blas_vector x, y;
    void *result;      /* of a reduction: one element, or an int or int64_t, in device memory */
    int32_t conjugate; /* of x, in a product */
    int32_t wide;      /* the index that is the result has 64 bits */
    int32_t smallest;  /* it is that of the smallest element */
};

#endif
