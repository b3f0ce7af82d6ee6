/* mandelbrot: the kernel that decides, for each point of a lattice, whether it belongs to the
 * Mandelbrot set. It is launched as a closed library would launch it: in a stream of its own that
 * the caller never sees.
 *
 * The launch does not wait for the kernel, and nothing orders the kernel against the caller's work:
 * the stream is non-blocking, so there is no implicit synchronisation with the legacy default
 * stream either. The caller can only synchronise the context.
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

/* Sets members[i] = 1.0f if lattice[i] counts as a member, 0.0f if it escaped, for i in [0, count).
 * Both arrays are in device memory of the current device; count > 0.
 *
 * From z = 0, `iterations` times: z = z * z + lattice[i]; if then abs(z) > bound, the point has
 * escaped. Computed in floats with fixed rounding (see mandelbrot.cu), so that every device gives
 * the same result to the last bit.
 *
 * Returns the error of the launch; an error of the running kernel is returned by a later call. */
cudaError_t mandelbrot_launch(const struct mandelbrot_point *lattice, float *members, size_t count,
                              unsigned iterations, float bound);

#ifdef __cplusplus
}
#endif

#endif
