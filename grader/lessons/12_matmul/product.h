/* product: products of matrices on the host, and explanations of wrong ones, found by simulating
 * common mistakes. Arithmetic only.
 */
#ifndef OVERLAP_GRADER_LESSONS_12_MATMUL_PRODUCT_H
#define OVERLAP_GRADER_LESSONS_12_MATMUL_PRODUCT_H

#include <stddef.h>
#include <stdint.h>

/* `count` products of m x n by n x p matrices, row-major, one after another. */
struct product {
    uint32_t count, m, n, p;
};

/* Return the number of elements of all matrices a, b or c. */
size_t product_size_a(const struct product *shape);
size_t product_size_b(const struct product *shape);
size_t product_size_c(const struct product *shape);

/* Returns how many elements of `found` are wrong. *first is set to the index of the first one,
 * *must to its right value, *off to its largest error that rounding can explain. Returns SIZE_MAX:
 * no memory. */
size_t product_float(const struct product *shape, const float *a, const float *b,
                     const float *found, size_t *first, double *must, double *off);

/* As product_float, for integers, which wrap around. */
size_t product_integer(const struct product *shape, const int64_t *a, const int64_t *b,
                       const int64_t *found, size_t *first, int64_t *must);

/* Returns a sentence that explains how the wrong matrix `found` came about; NULL: not known. */
const char *product_explain(const struct product *shape, const float *a, const float *b,
                            const float *found, uint32_t tile);

#endif
