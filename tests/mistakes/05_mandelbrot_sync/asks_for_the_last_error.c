/* mistake: the runtime's last error, also the caller's, is taken for one of its own
 * fails: MandelbrotSync.ReturnsSuccess
 * finds: nothing, the error is the caller's
 */
#include "lesson.h"

#include <stdint.h>
#include <stdlib.h>

static int fine(void)
{
    return cudaPeekAtLastError() == cudaSuccess;
}

cudaError_t mandelbrot_sync(const struct mandelbrot_view *view, float *members, const char *path)
{
    struct mandelbrot_point *lattice = NULL, *points = NULL;
    float *answer = NULL;
    cudaError_t result;

    if (view->width > SIZE_MAX / view->height / sizeof *lattice) return cudaErrorMemoryAllocation;
    const size_t count = view->width * view->height;

    if (fine()) cudaMallocHost((void **)&lattice, count * sizeof *lattice);
    if (fine()) cudaMalloc((void **)&points, count * sizeof *points);
    if (fine()) cudaMalloc((void **)&answer, count * sizeof *answer);

    if (fine()) {
        for (size_t row = 0; row < view->height; row++)
            for (size_t column = 0; column < view->width; column++) {
                struct mandelbrot_point *point = lattice + row * view->width + column;
                point->real =
                    mandelbrot_coordinate(view->real_low, view->real_high, column, view->width);
                point->imaginary = mandelbrot_coordinate(view->imaginary_high, view->imaginary_low,
                                                         row, view->height);
            }
        cudaMemcpyAsync(points, lattice, count * sizeof *points, cudaMemcpyHostToDevice, NULL);
    }
    if (fine()) cudaDeviceSynchronize();
    if (fine()) mandelbrot_launch(points, answer, count, view->iterations, view->bound);
    if (fine()) cudaDeviceSynchronize();
    if (fine())
        cudaMemcpyAsync(members, answer, count * sizeof *answer, cudaMemcpyDeviceToHost, NULL);
    if (fine()) cudaDeviceSynchronize();

    result = cudaGetLastError();
    if (result == cudaSuccess && path) {
        unsigned char *pixels = malloc(count);
        if (pixels == NULL) {
            result = cudaErrorMemoryAllocation;
        } else {
            for (size_t i = 0; i < count; i++) pixels[i] = members[i] == 1.0f ? 255 : 0;
            if (mandelbrot_write_png(path, view->width, view->height, pixels))
                result = cudaErrorOperatingSystem;
        }
        free(pixels);
    }

    if (result != cudaSuccess) cudaDeviceSynchronize();
    cudaFree(answer);
    cudaFree(points);
    cudaFreeHost(lattice);
    return result == cudaSuccess ? cudaGetLastError() : result;
}
