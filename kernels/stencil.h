/* stencil: one step of a grid of ints. Each cell becomes a mix of itself and its four neighbours,
 * each of which weighs differently, and is then stirred many times, so that the kernel takes long
 * and moves little data. All of it is integer arithmetic, so every device gives the same result.
 *
 * A block works on one row. The kernel allocates nothing and waits for nothing.
 */
#ifndef OVERLAP_KERNELS_STENCIL_H
#define OVERLAP_KERNELS_STENCIL_H

#include <cuda_runtime_api.h>

#define STENCIL_NAME "stencil" /* the kernel's name in traces */
#define STENCIL_THREADS 64     /* in a block; there is a block for each row */

/* A cell is less than the modulus, a prime. Outside a row, left and right, cells are 0. */
#define STENCIL_MODULUS 65537
#define STENCIL_MIX(cell, above, below, left, right)                                               \
    ((2 * (cell) + 3 * (above) + 5 * (below) + 7 * (left) + 11 * (right) + 1) % STENCIL_MODULUS)

/* Stirring keeps different values different. */
#define STENCIL_ROUNDS 32
#define STENCIL_STIR(cell) ((75 * (cell) + 74) % STENCIL_MODULUS)

#ifdef __cplusplus
extern "C" {
#endif

/* Makes one step of `rows` rows. `from` and `to` are two arrays of rows + 2 rows of `columns` ints
 * each, in memory of the device that `stream` belongs to. Of `from` all rows are read: row 0 is the
 * row above, row rows + 1 the row below. Of `to` rows 1 to `rows` are written, and nothing else.
 * With rows 0 nothing is launched.
 *
 * Returns the error of the launch; an error of the running kernel is returned by a later call. */
cudaError_t stencil_launch(const int *from, int *to, int rows, int columns, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
