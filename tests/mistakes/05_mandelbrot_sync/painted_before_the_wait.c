/* mistake: the pixels are made of members before the copy out has been waited for
 * fails: MandelbrotSync.ThePictureIsWritten
 * finds: race at "while ("
 */
#include "lesson.h"

#include <stdint.h>
#include <stdlib.h>

static void lattice_row(const struct mandelbrot_view *view, size_t row,
                        struct mandelbrot_point *points)
{
    float y = mandelbrot_coordinate(view->imaginary_high, view->imaginary_low, row, view->height);
    for (size_t column = 0; column < view->width; column++) {
        points[column].real =
            mandelbrot_coordinate(view->real_low, view->real_high, column, view->width);
        points[column].imaginary = y;
    }
}

static void paint(unsigned char *pixels, const float *members, size_t count)
{
    while (count-- > 0) *pixels++ = *members++ == 1.0f ? 255 : 0;
}

cudaError_t mandelbrot_sync(const struct mandelbrot_view *view, float *members, const char *path)
{
    struct mandelbrot_point *lattice = NULL, *points = NULL;
    unsigned char *pixels = NULL;
    float *answer = NULL;
    cudaStream_t stream = NULL;
    cudaError_t result, r;

    if (view->width > SIZE_MAX / view->height / sizeof *lattice) return cudaErrorMemoryAllocation;
    size_t count = view->width * view->height;

    result = cudaMallocHost((void **)&lattice, count * sizeof *lattice);
    if (result) return result;
    result = cudaMalloc((void **)&points, count * sizeof *points);
    if (result) goto free_lattice;
    result = cudaMalloc((void **)&answer, count * sizeof *answer);
    if (result) goto free_points;
    result = cudaStreamCreate(&stream);
    if (result) goto free_answer;

    for (size_t row = 0; row < view->height; row++)
        lattice_row(view, row, lattice + row * view->width);

    result =
        cudaMemcpyAsync(points, lattice, count * sizeof *points, cudaMemcpyHostToDevice, stream);
    if (!result) result = cudaDeviceSynchronize();
    if (!result) result = mandelbrot_launch(points, answer, count, view->iterations, view->bound);
    if (!result) result = cudaDeviceSynchronize();
    if (!result)
        result = cudaMemcpyAsync(members, answer, count * sizeof *answer, cudaMemcpyDeviceToHost,
                                 stream);
    if (!result && path) {
        pixels = malloc(count);
        if (pixels)
            paint(pixels, members, count);
        else
            result = cudaErrorMemoryAllocation;
    }
    r = cudaDeviceSynchronize();
    if (!result) result = r;
    if (!result && path && mandelbrot_write_png(path, view->width, view->height, pixels))
        result = cudaErrorOperatingSystem;
    free(pixels);

    r = cudaStreamDestroy(stream);
    if (!result) result = r;
free_answer:
    r = cudaFree(answer);
    if (!result) result = r;
free_points:
    r = cudaFree(points);
    if (!result) result = r;
free_lattice:
    r = cudaFreeHost(lattice);
    if (!result) result = r;
    return result;
}
