/* mandelbrot: the kernel that decides, for each point of a lattice, whether it belongs to the
 * Mandelbrot set, launched the way a closed library does it: in a stream of its own that the caller
 * never sees.
 *
 * It does not wait for its kernel, and it is ordered against nothing that the caller has issued:
 * the stream is non-blocking, so not even the legacy default stream waits for it, or it for that.
 * What the caller has left is to synchronise the context.
 */
#ifndef OVERLAP_KERNELS_MANDELBROT_H
#define OVERLAP_KERNELS_MANDELBROT_H

#include <cuda_runtime_api.h>
#include <stddef.h>

#define MANDELBROT_NAME "mandelbrot" /* the kernel's name in traces */
#define MANDELBROT_THREADS 128       /* per block; one thread for each point */

struct mandelbrot_point {
    float real, imaginary;
};

#ifdef __cplusplus
extern "C" {
#endif

/* members[i] = 1.0f if lattice[i] is taken for a member, 0.0f if it escaped, for i in [0, count):
 * both arrays in device memory of the current device, count > 0.
 *
 * From z = 0, `iterations` times: z = z * z + lattice[i], and then, if abs(z) > bound, the point
 * has escaped. In floats, with each rounding fixed (see mandelbrot.cu), so that every device gives
 * the same answer to the last bit.
 *
 * Returns the error of the launch; what goes wrong while the kernel runs is returned by a later
 * call. */
cudaError_t mandelbrot_launch(const struct mandelbrot_point *lattice, float *members, size_t count,
                              unsigned iterations, float bound);

#ifdef __cplusplus
}
#endif

#endif
