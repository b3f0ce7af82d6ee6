/* parameters: what the kernels of kernels.cu are given. C and CUDA share it. Sizes, steps and
 * leading dimensions are in elements.
 *
 * Terms. An entry is an element of a sparse matrix that is stored. A line is a row of CSR, a column
 * of CSC; each entry of COO is a line by itself, whose row is `line_of`. The place of an entry is
 * where in its line it is: its column, or of CSC its row.
 */
#ifndef OVERLAP_STANDINS_CUSPARSE_PARAMETERS_H
#define OVERLAP_STANDINS_CUSPARSE_PARAMETERS_H

#include "emulator/standins/cublas/parameters.h"

enum {
    SPARSE_BLOCK = 128, /* threads of a block, but of those that add up: */
    SPARSE_ADDERS = 256,
};

struct sparse_indices {
    void *first;  /* NULL: there are none */
    int32_t wide; /* of 64 bits, not 32 */
};

struct sparse_matrix {
    int64_t rows, columns, lines, count; /* count: entries */
    struct sparse_indices starts;        /* of lines; NULL: COO */
    struct sparse_indices line_of;       /* COO: the row of each entry */
    struct sparse_indices places;
    void *values;
    int64_t next_start, next_entry; /* from one matrix of a batch to the next */
    int32_t base;                   /* what starts, rows and places count from */
};

/* C = alpha op(A) B + beta C, where A is sparse and C has `n` columns. `to_places`: of an entry,
 * its place is a row of C and its line one of B; else the other way round. */
struct sparse_product {
    struct sparse_matrix a;
    struct blas_matrix b, c;
    int64_t n;
    struct blas_scalar alpha, beta;
    int32_t conjugate, to_places;
};

/* C = beta C, m x n; without reading it where beta is 0. */
struct sparse_scaling {
    struct blas_matrix c;
    int64_t m, n;
    struct blas_scalar beta;
};

/* C = alpha A B + beta C where C has entries; A has `k` columns. */
struct sparse_sampling {
    struct sparse_matrix c;
    struct blas_matrix a, b;
    int64_t k;
    struct blas_scalar alpha, beta;
};

/* A sparse vector of `count` entries, X, and a dense one, Y. */
struct sparse_vectors {
    int64_t count, base;
    struct sparse_indices places;
    void *x, *y;
    struct blas_scalar alpha, beta; /* of rot: c and s */
    int32_t conjugate;
    void *result; /* of dot */
};

/* A sparse matrix A and a dense one, B, whose element (line, place) is at line * row + place *
 * column. `counts`: entries of each line, or after a scan those before it; lines + 1 of them. */
struct sparse_conversion {
    struct sparse_matrix a;
    struct blas_matrix b;
    int64_t lines, places; /* of B */
    int64_t *counts;
    int32_t *each; /* counts are wanted here instead; NULL: they are not */
};

/* Each of `count` numbers becomes the sum of those before it, and the one behind them that of all.
 */
struct sparse_scan {
    int64_t *numbers, count;
};

/* The same of ints: `starts` become the sums before each number, plus `base`, and `total` that of
 * all. Either may be NULL. */
struct sparse_adding {
    const int32_t *numbers;
    int64_t count, base;
    int32_t *starts, *total;
};

/* Starts of lines from such sums, plus `base`. `total`: where the last sum goes, as an int; NULL:
 * nowhere. */
struct sparse_starts {
    const int64_t *sums;
    int64_t lines, base;
    struct sparse_indices starts;
    int32_t *total;
};

/* op(A) X = alpha B under a triangle, in `n` columns. */
struct sparse_solution {
    struct sparse_matrix a;
    struct blas_matrix b, x;
    int64_t n;
    struct blas_scalar alpha;
    int32_t conjugate, unit;
    int32_t lower;  /* entries of the triangle have places before their line, else behind it */
    int32_t turned; /* a line has the coefficients of one unknown; else it is an equation */
};

/* C = alpha A B + beta C, all three sparse, by rows. */
struct sparse_square {
    struct sparse_matrix a, b, c;
    struct blas_scalar alpha, beta;
    int64_t *products; /* of each row: how many, or after a scan those before it; rows + 1 */
    int64_t *counts;   /* entries of C, likewise */
    int64_t *columns;  /* of products, or of entries of C from the same place on */
};

/* C = alpha A + beta B, all three sparse, by rows whose places ascend. */
struct sparse_sum {
    struct sparse_matrix a, b, c;
    struct blas_scalar alpha, beta;
    int64_t *counts; /* as in sparse_square */
};

/* Indices to be brought in order: of COO by `first`, then `second`; of the lines of `starts` each
 * by itself, by `second`. */
struct sparse_sorting {
    int64_t lines, count, base;
    int32_t *first, *second;
    const int32_t *starts;
    int32_t *permutation; /* goes along; NULL: there is none */
    int32_t *order;       /* room for `count`: equal indices keep their order */
};

/* Rows become columns: entries of `count` and their values of `size` bytes. */
struct sparse_turning {
    int64_t lines, places, count, base;
    const int32_t *starts, *at;
    const void *values; /* NULL: indices only */
    int32_t *new_starts, *new_at;
    void *new_values;
    int64_t *cursors; /* places + 1 */
    int32_t size;
};

/* Between starts of rows and the row of each entry. */
struct sparse_rows {
    int64_t rows, count, base;
    int32_t *starts, *row_of;
};

/* The entries of A that are larger than a limit become C. */
struct sparse_selection {
    struct sparse_matrix a, c;
    double re, im; /* the limit is its size */
    int32_t *each; /* how many of each line */
};

/* A, by rows whose places ascend, becomes its own incomplete factors. */
struct sparse_factoring {
    struct sparse_matrix a;
    int64_t *diagonals; /* room for one of each row: where it is, or -1 */
    int32_t *pivot;     /* becomes the first row whose pivot is missing or 0, or stays -1 */
    int32_t boosts;     /* smaller pivots than `least` become `boost` */
    struct blas_scalar least, boost;
};

/* `count` systems of `m` equations with three diagonals, and `n` right sides for each. */
struct sparse_bands {
    const void *lower, *middle, *upper;
    void *right;
    int64_t m, n, ld, count, next; /* next: from one system to the next, also in `right` */
    void *work;                    /* 5 m elements for each system */
};

#endif
