/* mistake: each coordinate is the one before and a step, in float
 * fails: MandelbrotSync.EveryPixelIsRight
 * finds: nothing, rounding is no matter of the device's
 */
#include "lesson.h"

#include <stdint.h>
#include <stdlib.h>

#define CHECK(call)                                                                                \
    do {                                                                                           \
        error = (call);                                                                            \
        if (error != cudaSuccess) goto fail;                                                       \
    } while (0)

static void make_lattice(const struct mandelbrot_view *view, struct mandelbrot_point *lattice)
{
    const float step = (float)((view->real_high - view->real_low) / (double)(view->width - 1));

    for (size_t row = 0; row < view->height; row++) {
        const float imaginary =
            mandelbrot_coordinate(view->imaginary_high, view->imaginary_low, row, view->height);
        float real = (float)view->real_low;
        for (size_t column = 0; column < view->width; column++) {
            lattice->real = real;
            lattice->imaginary = imaginary;
            lattice++;
            real += step;
        }
    }
}

cudaError_t mandelbrot_sync(const struct mandelbrot_view *view, float *members, const char *path)
{
    struct mandelbrot_point *lattice = NULL, *points = NULL;
    unsigned char *pixels = NULL;
    float *answer = NULL;
    cudaError_t error, freed;

    if (view->width > SIZE_MAX / view->height / sizeof *lattice) return cudaErrorMemoryAllocation;
    const size_t count = view->width * view->height;

    CHECK(cudaHostAlloc((void **)&lattice, count * sizeof *lattice, cudaHostAllocDefault));
    CHECK(cudaMalloc((void **)&points, count * sizeof *points));
    CHECK(cudaMalloc((void **)&answer, count * sizeof *answer));

    make_lattice(view, lattice);
    CHECK(cudaMemcpyAsync(points, lattice, count * sizeof *lattice, cudaMemcpyHostToDevice, 0));
    CHECK(cudaDeviceSynchronize());
    CHECK(mandelbrot_launch(points, answer, count, view->iterations, view->bound));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpyAsync(members, answer, count * sizeof *answer, cudaMemcpyDeviceToHost, 0));
    CHECK(cudaDeviceSynchronize());

    if (path) {
        pixels = malloc(count);
        if (!pixels) CHECK(cudaErrorMemoryAllocation);
        for (size_t i = 0; i < count; i++) pixels[i] = members[i] == 1.0f ? 255 : 0;
        if (mandelbrot_write_png(path, view->width, view->height, pixels) != 0)
            CHECK(cudaErrorOperatingSystem);
    }

fail:
    if (error) cudaDeviceSynchronize();
    free(pixels);
    freed = cudaFree(answer);
    if (!error) error = freed;
    freed = cudaFree(points);
    if (!error) error = freed;
    freed = cudaFreeHost(lattice);
    if (!error) error = freed;
    return error;
}
