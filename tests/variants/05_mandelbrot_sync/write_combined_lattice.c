/* variant: write-combined memory for the lattice
 * orders: 3
 */
#include "lesson.h"

#include <stdint.h>
#include <stdlib.h>

/* An asynchronous copy in a stream that lives only for it, and the wait for the context. */
static cudaError_t carry(void *to, const void *from, size_t bytes)
{
    cudaStream_t lane;
    cudaError_t error = cudaStreamCreateWithFlags(&lane, cudaStreamNonBlocking);
    if (error != cudaSuccess) return error;

    error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, lane);
    cudaError_t waited = cudaDeviceSynchronize();
    cudaError_t destroyed = cudaStreamDestroy(lane);
    if (error == cudaSuccess) error = waited;
    return error == cudaSuccess ? destroyed : error;
}

static cudaError_t decide(const struct mandelbrot_view *view, size_t count,
                          const struct mandelbrot_point *lattice, struct mandelbrot_point *points,
                          float *answer, float *members)
{
    cudaError_t error = carry(points, lattice, count * sizeof *points);
    if (error != cudaSuccess) return error;

    error = mandelbrot_launch(points, answer, count, view->iterations, view->bound);
    if (error != cudaSuccess) return error;
    error = cudaDeviceSynchronize();
    if (error != cudaSuccess) return error;

    return carry(members, answer, count * sizeof *answer);
}

/* Row after row and from left to right, each byte once: what write-combined memory is made for. */
static void plot(const struct mandelbrot_view *view, struct mandelbrot_point *to)
{
    for (size_t row = 0; row != view->height; ++row)
        for (size_t column = 0; column != view->width; ++column, ++to) {
            to->real = mandelbrot_coordinate(view->real_low, view->real_high, column, view->width);
            to->imaginary =
                mandelbrot_coordinate(view->imaginary_high, view->imaginary_low, row, view->height);
        }
}

static cudaError_t publish(const struct mandelbrot_view *view, const float *members,
                           const char *path)
{
    const size_t count = view->width * view->height;
    unsigned char *pixels = malloc(count);
    cudaError_t error = cudaErrorMemoryAllocation;
    if (pixels != NULL) {
        for (size_t i = 0; i != count; ++i) pixels[i] = members[i] == 1.0f ? 255 : 0;
        error = mandelbrot_write_png(path, view->width, view->height, pixels) == 0
                    ? cudaSuccess
                    : cudaErrorOperatingSystem;
    }
    free(pixels);
    return error;
}

cudaError_t mandelbrot_sync(const struct mandelbrot_view *view, float *members, const char *path)
{
    struct mandelbrot_point *lattice = NULL, *points = NULL;
    float *answer = NULL;
    size_t count;

    if (__builtin_mul_overflow(view->width, view->height, &count) ||
        count > SIZE_MAX / sizeof *points)
        return cudaErrorMemoryAllocation;

    cudaError_t error =
        cudaHostAlloc((void **)&lattice, count * sizeof *lattice, cudaHostAllocWriteCombined);
    if (error == cudaSuccess) error = cudaMalloc((void **)&points, count * sizeof *points);
    if (error == cudaSuccess) error = cudaMalloc((void **)&answer, count * sizeof *answer);
    if (error == cudaSuccess) {
        plot(view, lattice);
        error = decide(view, count, lattice, points, answer, members);
    }
    if (error == cudaSuccess && path != NULL) error = publish(view, members, path);
    if (error != cudaSuccess) (void)cudaDeviceSynchronize();

    const cudaError_t undone[] = {
        answer ? cudaFree(answer) : cudaSuccess,
        points ? cudaFree(points) : cudaSuccess,
        lattice ? cudaFreeHost(lattice) : cudaSuccess,
    };
    for (size_t i = 0; i < sizeof undone / sizeof *undone; ++i)
        if (error == cudaSuccess) error = undone[i];
    return error;
}
