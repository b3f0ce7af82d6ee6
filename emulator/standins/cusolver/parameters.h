/* parameters: what the kernels of kernels.cu are given. C and CUDA share it. A kernel works on as
 * many problems as it has blocks, a batch; what is said of one here is said of each.
 *
 * Sizes and leading dimensions are in elements. Matrices are stored by columns.
 */
#ifndef OVERLAP_STANDINS_CUSOLVER_PARAMETERS_H
#define OVERLAP_STANDINS_CUSOLVER_PARAMETERS_H

#include <stdint.h>

enum { SOLVER_MOST_THREADS = 256 }; /* of a block; a block has a power of two of them */

struct solver_matrix {
    void *first; /* NULL: there is none; `apart`: an array of pointers to the matrices of a batch */
    int64_t ld;
    int64_t next; /* from one matrix of a batch to the next, unless they are apart */
    int32_t apart;
};

/* Memory of the caller for `each` elements of the matrices' type for each problem. */
struct solver_work {
    void *first;
    int64_t each;
};

/* Factorisations by elimination, and what is solved or inverted with them: A is m x n, B has
 * `columns` columns. */
struct solver_factors {
    int64_t m, n, columns;
    struct solver_matrix a, b, x; /* x: where the solution goes, if not to b */
    struct solver_work work;
    void *pivots;        /* from 1 on; NULL: rows stay where they are */
    int32_t wide_pivots; /* they have 64 bits */
    int32_t op;          /* an enum blas_op, of A */
    int32_t upper, unit; /* of A: which triangle there is; its diagonal is taken for ones */
    int64_t first_row;   /* of the rows that laswp exchanges, from 0 on, ... */
    int64_t end_row;     /* ... and the one behind the last */
    int64_t pivot_step;  /* from one pivot of laswp to the next */
    int32_t *info;       /* one for each problem */
};

/* Factorisations by reflections: A is m x n and has, or is to have, k of them. */
struct solver_reflections {
    int64_t m, n, k, columns; /* columns: of B */
    struct solver_matrix a, b, x;
    void *tau; /* the factors of the reflections */
    struct solver_work work;
    int32_t right; /* Q is on the right side of B */
    int32_t op;    /* an enum blas_op, of Q */
    int32_t *info;
};

/* A X = B, where A is sparse, by rows, of order m. */
struct solver_sparse {
    int64_t m;
    const void *values;
    const int32_t *starts, *places;
    int32_t base; /* what starts and places count from */
    const void *b;
    void *x;
    struct solver_work work; /* m (m + 2) elements */
    double tolerance;        /* a pivot of at most this size is none */
    int32_t *singularity;    /* becomes the first row, from 0 on, that has none; -1: all have one */
};

/* What an iteration has come to: one for all problems of a launch, of the first of them. */
struct solver_report {
    double residual;
    int32_t sweeps;
};

/* When a sequence of sweeps ends. */
struct solver_sweeps {
    double tolerance; /* at most this much is taken for nothing; 0: the type's precision */
    int32_t most;     /* sweeps */
    int32_t unsorted; /* values stay in the order in which they are found */
    struct solver_report *report; /* NULL: not wanted */
};

/* Eigenvalues of a symmetric or hermitian matrix A, of order n. */
struct solver_eigen {
    int64_t n;
    struct solver_matrix a, b; /* b: the other matrix of a generalised problem; NULL: none */
    void *values;              /* real; n for each problem */
    struct solver_work work;
    struct solver_sweeps sweeps;
    int32_t upper, vectors;
    int32_t problem; /* an enum solver_problem */
    int32_t *info;
};

/* Eigenvalues of a square matrix A that need not be symmetric. */
struct solver_general {
    int64_t n;
    struct solver_matrix a, vectors; /* no vectors: they are not wanted */
    void *values;                    /* complex, or, of a real matrix, ... */
    int32_t apart;                   /* ... all real parts, and all imaginary parts behind them */
    struct solver_work work;         /* complex numbers in double, whatever A has */
    int32_t *info;                   /* 0, or how many eigenvalues were not found */
};

/* Singular values of an m x n matrix A. U has `u_columns` columns; V has `v_columns`, and is given
 * as V or as its adjoint. */
struct solver_singular {
    int64_t m, n, u_columns, v_columns;
    struct solver_matrix a, u, v;
    void *values;        /* real; the smaller one of m and n for each problem, ... */
    int64_t values_next; /* ... at this distance */
    struct solver_work work;
    struct solver_sweeps sweeps;
    int32_t v_adjoint;
    int64_t rank;      /* how many values, and columns of V, are wanted at most */
    double *residuals; /* the size of A - U S V', one for each problem; NULL: not wanted */
    int32_t *info;
};

#endif
