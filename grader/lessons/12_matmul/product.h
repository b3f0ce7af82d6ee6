/* product: products of matrices on the host, and what a wrong one looks like: it is what comes of
 * one of the usual slips. Arithmetic only.
 */
#ifndef OVERLAP_GRADER_LESSONS_12_MATMUL_PRODUCT_H
#define OVERLAP_GRADER_LESSONS_12_MATMUL_PRODUCT_H

#include <stddef.h>
#include <stdint.h>

/* `count` products of m x n by n x p matrices, row by row, one behind the other. */
struct product {
    uint32_t count, m, n, p;
};

/* Elements of all matrices a, b or c. */
size_t product_size_a(const struct product *shape);
size_t product_size_b(const struct product *shape);
size_t product_size_c(const struct product *shape);

/* How many elements of `found` are wrong. The first one's place and what it must be go to *first
 * and to *must, its largest error that rounding explains to *off. Returns SIZE_MAX: no memory. */
size_t product_float(const struct product *shape, const float *a, const float *b,
                     const float *found, size_t *first, double *must, double *off);

/* The same of integers, which wrap around. */
size_t product_integer(const struct product *shape, const int64_t *a, const int64_t *b,
                       const int64_t *found, size_t *first, int64_t *must);

/* A sentence that says how `found`, which is wrong, came to be; NULL: not known. */
const char *product_explain(const struct product *shape, const float *a, const float *b,
                            const float *found, uint32_t tile);

#endif
