/* Lesson 05: a picture of the Mandelbrot set, with a kernel that runs in a stream you cannot see.
 *
 * You write mandelbrot_sync() in mandelbrot_sync.c. The kernel is given, in a small library
 * (kernels/mandelbrot.h): mandelbrot_launch() asks for it in a stream of the library's own, which
 * is ordered against nothing of yours. What you have left is to synchronise the context.
 */
#ifndef OVERLAP_LESSONS_05_MANDELBROT_SYNC_LESSON_H
#define OVERLAP_LESSONS_05_MANDELBROT_SYNC_LESSON_H

#include "kernels/mandelbrot.h"

#include <cuda_runtime_api.h>
#include <stddef.h>

/* What to draw. Column 0 is at real_low and the last column at real_high, both ends included; row 0
 * is the top of the picture, at imaginary_high, and the last row is at imaginary_low. Both counts
 * are at least 2. */
struct mandelbrot_view {
    size_t width, height; /* pixels */
    double real_low, real_high;
    double imaginary_low, imaginary_high;
    unsigned iterations; /* for mandelbrot_launch */
    float bound;         /* for mandelbrot_launch */
};

/* The coordinate of step `index` of `count` evenly spaced ones, the first at `from`, the last at
 * `to`: reckoned in double and rounded to float once, so that everybody draws the same lattice. */
static inline float mandelbrot_coordinate(double from, double to, size_t index, size_t count)
{
    return (float)(from + (to - from) * (double)index / (double)(count - 1));
}

/* Given. Writes a picture of width x height pixels, one byte each (0 black, 255 white), row 0 at
 * the top, as a greyscale PNG file at `path`. Reads `pixels` before it returns. Returns 0, or -1 if
 * the file could not be written. */
int mandelbrot_write_png(const char *path, size_t width, size_t height,
                         const unsigned char *pixels);

/* Yours. Draws `view` on the current device:
 *
 *   - makes the lattice on the host, in pinned memory, row after row (the point of column c in row
 *     r is lattice[r * width + c]), and copies it to the device with an asynchronous copy;
 *   - calls mandelbrot_launch() on it, once for the whole picture;
 *   - copies the answer to `members` with an asynchronous copy;
 *   - synchronises the context (cudaDeviceSynchronize, or cuCtxSynchronize) wherever one of these
 *     steps needs the one before to be finished, and does not leave the wait to cudaFree or its
 *     kin: GPUs of today wait there, and nothing promises it;
 *   - writes the picture to `path` with mandelbrot_write_png(), a member white (255) and all else
 *     black (0); with `path` NULL it writes none.
 *
 * members  width * height floats of the caller's, in pinned host memory, row after row. Final when
 *          the function returns: the caller reads them at once.
 * Returns cudaSuccess, or the first error that its own calls met; cudaErrorOperatingSystem if the
 * picture could not be written. What the runtime still holds of the caller's (cudaGetLastError) is
 * no error of its own. The view may have more pixels than a stack has bytes. It may have more than
 * any memory holds, and more bytes of points than a size_t counts: that is an error too. On every
 * path it releases all that it took: device memory, pinned memory, streams, events. */
cudaError_t mandelbrot_sync(const struct mandelbrot_view *view, float *members, const char *path);

#endif
