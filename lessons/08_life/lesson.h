/* Lesson 08, life: Conway's Game of Life, generation after generation, in kernels of your own.
 *
 * You write the five functions in life.cu, and the kernels that they launch. This file is the
 * contract. Do not change it.
 *
 * A lattice is width x height cells, row by row: cell (x, y) is cells[y * width + x], 1 when it is
 * alive and 0 when it is dead. It is a torus: left of column 0 is the last column, above row 0 the
 * last row. Each cell has eight neighbours. In the next generation a cell is alive if three of them
 * are alive, or if two are and the cell itself is alive. Width and height are at least 3.
 *
 * In all five functions: `generations` is how many generations to make, at least 0; with 0 nothing
 * is launched. Returns cudaSuccess, or the first error that any call gave; an error of a call
 * before this one, which the runtime still remembers (cudaGetLastError), is not returned.
 *
 * The steps 1, 2, 3 and 5 are asynchronous: the lattices are in device memory, the caller's; all
 * the work goes into `stream`, and the function returns when it is queued, without waiting. Memory
 * that they take they give back in stream order.
 */
#ifndef OVERLAP_LESSONS_08_LIFE_LESSON_H
#define OVERLAP_LESSONS_08_LIFE_LESSON_H

#include <cuda_runtime.h>

#define LIFE_BLOCK_SIDE 32 /* a lattice for one block is at most so wide, and so high */

#ifdef __cplusplus
extern "C" {
#endif

/* Step 1: a launch for each generation. lattice[0] holds generation 0, lattice[1] nothing yet; both
 * have width * height cells. Generation g goes into lattice[g % 2]. Each launch reads a cell at
 * most nine times and writes it once. */
cudaError_t life_launches(int *const lattice[2], int width, int height, int generations,
                          cudaStream_t stream);

/* Step 2: all generations in one launch of one block, in place: `cells` holds generation 0, and in
 * the end generation `generations`. Width and height are at most LIFE_BLOCK_SIDE. */
cudaError_t life_block(int *cells, int width, int height, int generations, cudaStream_t stream);

/* Step 3: the same in shared memory: `cells` is read once and written once, however many
 * generations there are. */
cudaError_t life_shared(int *cells, int width, int height, int generations, cudaStream_t stream);

/* One lattice of step 4. */
struct life_lattice {
    int *cells;        /* page-locked host memory, the caller's */
    int width, height; /* at most LIFE_BLOCK_SIDE each; lattices differ */
};

/* Step 4: lattices[0 .. count), side by side. Each is copied to the device, goes through its
 * generations there in one launch, and is copied back to where it came from, all in a stream of its
 * own. Copies are asynchronous. Streams and device memory are yours: you make and release them, on
 * every path. On return, the results are in host memory and no work of this call is left on the
 * device; also on failure. After an error the lattices have no meaning. Waiting is yours: a wait is
 * not left to cudaFree or its kin. GPUs of today wait there, and nothing promises it. */
cudaError_t life_streams(const struct life_lattice lattices[], int count, int generations);

/* Step 5: all generations in one launch again, of a lattice that no block holds: one cooperative
 * launch, whose blocks wait for each other (grid.sync()). lattice[] as in step 1. A grid that waits
 * for itself has to be on the device as a whole: there may be more cells than threads. */
cudaError_t life_grid(int *const lattice[2], int width, int height, int generations,
                      cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
