/* multiply_divide: the lessons' long kernel. Every element is doubled and halved 50 times and then
 * receives a mark, so that the kernel costs much, moves little, and leaves a trace that can be
 * checked. One block of 64 threads does a whole array, whatever its length: the kernel keeps one
 * multiprocessor busy and leaves the rest of the device to others.
 *
 * The programs that the lessons come from stop after the doubling and halving, and so return their
 * input: a program that never launches the kernel passes. The mark is what tells a launch from no
 * launch, and one launch from two.
 *
 * It allocates nothing, waits for nothing, and never looks past `length`.
 */
#ifndef OVERLAP_KERNELS_MULTIPLY_DIVIDE_H
#define OVERLAP_KERNELS_MULTIPLY_DIVIDE_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#define MULTIPLY_DIVIDE_ROUNDS 50
#define MULTIPLY_DIVIDE_THREADS 64
#define MULTIPLY_DIVIDE_NAME "multiply_divide"

/* What element `index` receives: a whole number from 1 to 1009. The period is a prime, so that an
 * element which lands a power of two away from where it belongs has the wrong mark. */
#define MULTIPLY_DIVIDE_MARK(index) ((float)(1u + (unsigned)(index) % 1009u))

#ifdef __cplusplus
extern "C" {
#endif

/* Launches the kernel on array[0 .. length), floats in device memory of the current device, in
 * `stream`; with length 0 it does nothing to the array. Returns the launch's error; what goes wrong
 * while the kernel runs is returned by a later call. Magnitudes up to 2^126 come back exact. */
cudaError_t multiply_divide_launch(float *array, size_t length, cudaStream_t stream);

/* Another kernel: an element receives twice its mark. */
cudaError_t multiply_divide_twice_launch(float *array, size_t length, cudaStream_t stream);

/* The same as the first, after more than ten seconds of the device's own time: on the software
 * device a moment, and longer than ten thousand queries. */
cudaError_t multiply_divide_slow_launch(float *array, size_t length, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
