/* Lesson 12, matmul: products of matrices, in kernels of your own: an element to a thread, then in
 * tiles of shared memory, then many products at once.
 *
 * You write the three functions in matmul.cu, and the kernels that they launch. This file is the
 * contract. Do not change it.
 *
 * A matrix lies row by row: element (i, k) of an m x n matrix a is a[i * n + k]. The product of a
 * and of an n x p matrix b is the m x p matrix c, whose element (i, j) is the sum of
 * a(i, k) * b(k, j) over all k from 0 to n - 1. m, n and p are at least 1, and multiples of
 * nothing. m may be more rows than the 65535 blocks that a grid has in y can take. No matrix, and
 * no batch of matrices, has 2^31 elements.
 *
 * The three functions are asynchronous: the matrices are in device memory, the caller's, and c
 * holds nothing yet. All the work is one launch in `stream`, and the function returns when it is
 * queued, without waiting. Returns cudaSuccess, or the first error that any call gave; an error
 * of a call before this one, which the runtime still remembers (cudaGetLastError), is not returned.
 */
#ifndef OVERLAP_LESSONS_12_MATMUL_LESSON_H
#define OVERLAP_LESSONS_12_MATMUL_LESSON_H

#include <cuda_runtime.h>
#include <stdint.h>

#define MATMUL_TILE 16 /* the side of a tile; yours may be larger */

#ifdef __cplusplus
extern "C" {
#endif

/* Step 1: each element of c is summed up by one thread, in a register, and written once. In float:
 * an element may be off by n * 2^-24 times the sum of the sizes of all a(i, k) * b(k, j), which any
 * order of summing keeps. */
cudaError_t matmul_naive(const float *a, const float *b, float *c, int m, int n, int p,
                         cudaStream_t stream);

/* Step 2: the same product in tiles. In global memory each element of a is read at most
 * ceil(p / MATMUL_TILE) times, each of b at most ceil(m / MATMUL_TILE) times, and each of c is
 * written once. */
cudaError_t matmul_tiled(const float *a, const float *b, float *c, int m, int n, int p,
                         cudaStream_t stream);

/* Step 3: `count` products at once. Matrix number q of a begins at a[q * m * n], and those of b and
 * c likewise. Sums wrap around as those of uint64_t do. count is at least 0; with 0 nothing is
 * launched. There may be more products than the 65535 blocks that a grid has in y or z. */
cudaError_t matmul_batched(const int64_t *a, const int64_t *b, int64_t *c, int count, int m, int n,
                           int p, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
