/* multiply_divide: the lessons' long kernel. Every element is doubled and halved 50 times and then
 * receives a mark, so that the kernel takes long, moves little data, and leaves a result that can
 * be checked. One block of 64 threads processes a whole array, whatever its length, so the kernel
 * occupies one multiprocessor and leaves the rest of the device free.
 *
 * The mark tells a launch from no launch, and one launch from two. Without it (as in the programs
 * that the lessons come from) the kernel would return its input, and a program that never launches
 * it would pass.
 *
 * It allocates nothing, waits for nothing, and never accesses elements beyond `length`.
 */
#ifndef OVERLAP_KERNELS_MULTIPLY_DIVIDE_H
#define OVERLAP_KERNELS_MULTIPLY_DIVIDE_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#define MULTIPLY_DIVIDE_ROUNDS 50
#define MULTIPLY_DIVIDE_THREADS 64
#define MULTIPLY_DIVIDE_NAME "multiply_divide"

/* The mark of element `index`: a whole number from 1 to 1009. The period is a prime, so that an
 * element displaced by a power of two has the wrong mark. */
#define MULTIPLY_DIVIDE_MARK(index) ((float)(1u + (unsigned)(index) % 1009u))

#ifdef __cplusplus
extern "C" {
#endif

/* Launches the kernel on array[0 .. length), floats in device memory of the current device, in
 * `stream`; length 0 leaves the array unchanged. Returns the launch's error; an error of the
 * running kernel is returned by a later call. Magnitudes up to 2^126 are returned exactly. */
cudaError_t multiply_divide_launch(float *array, size_t length, cudaStream_t stream);

/* Another kernel: each element receives twice its mark. */
cudaError_t multiply_divide_twice_launch(float *array, size_t length, cudaStream_t stream);

/* The result of the first kernel, after more than ten seconds of the device's own time: on the
 * software device that is a moment, yet longer than ten thousand queries. */
cudaError_t multiply_divide_slow_launch(float *array, size_t length, cudaStream_t stream);

#ifdef __cplusplus
}
#endif

#endif
