/* mistake: the lattice is kept when there is no stream to be had
 * fails: MandelbrotSync.EveryErrorIsReturnedAndNothingLeaks
 * finds: leak at "&lattice,"
 */
#include "lesson.h"

#include <stdint.h>
#include <stdlib.h>

static int save(const char *path, const struct mandelbrot_view *view, const float *members,
                unsigned char *pixels)
{
    for (size_t i = 0; i < view->width * view->height; i++)
        pixels[i] = members[i] == 1.0f ? 255 : 0;
    return mandelbrot_write_png(path, view->width, view->height, pixels);
}

static cudaError_t steps(const struct mandelbrot_view *view, struct mandelbrot_point *lattice,
                         struct mandelbrot_point *points, float *answer, cudaStream_t stream,
                         float *members)
{
    const size_t count = view->width * view->height;
    cudaError_t error;

    for (size_t r = 0; r < view->height; r++)
        for (size_t c = 0; c < view->width; c++) {
            lattice[r * view->width + c].real =
                mandelbrot_coordinate(view->real_low, view->real_high, c, view->width);
            lattice[r * view->width + c].imaginary =
                mandelbrot_coordinate(view->imaginary_high, view->imaginary_low, r, view->height);
        }

    error =
        cudaMemcpyAsync(points, lattice, count * sizeof *points, cudaMemcpyHostToDevice, stream);
    if (error) return error;
    if ((error = cudaDeviceSynchronize())) return error;
    error = mandelbrot_launch(points, answer, count, view->iterations, view->bound);
    if (error) return error;
    if ((error = cudaDeviceSynchronize())) return error;
    error =
        cudaMemcpyAsync(members, answer, count * sizeof *answer, cudaMemcpyDeviceToHost, stream);
    if (error) return error;
    return cudaDeviceSynchronize();
}

cudaError_t mandelbrot_sync(const struct mandelbrot_view *view, float *members, const char *path)
{
    struct mandelbrot_point *lattice, *points;
    float *answer;
    cudaStream_t stream;
    cudaError_t error, e[4];

    if (view->width > SIZE_MAX / view->height / sizeof *points) return cudaErrorMemoryAllocation;
    const size_t count = view->width * view->height;

    error = cudaMallocHost((void **)&lattice, count * sizeof *lattice);
    if (error) return error;

    error = cudaMalloc((void **)&points, count * sizeof *points);
    if (error) {
        cudaFreeHost(lattice);
        return error;
    }

    error = cudaMalloc((void **)&answer, count * sizeof *answer);
    if (error) {
        cudaFree(points);
        cudaFreeHost(lattice);
        return error;
    }

    error = cudaStreamCreate(&stream);
    if (error) {
        cudaFree(answer);
        cudaFree(points);
        return error;
    }

    error = steps(view, lattice, points, answer, stream, members);
    if (error) cudaDeviceSynchronize();

    if (!error && path) {
        unsigned char *pixels = malloc(count);
        if (!pixels)
            error = cudaErrorMemoryAllocation;
        else if (save(path, view, members, pixels))
            error = cudaErrorOperatingSystem;
        free(pixels);
    }

    e[0] = cudaStreamDestroy(stream);
    e[1] = cudaFree(answer);
    e[2] = cudaFree(points);
    e[3] = cudaFreeHost(lattice);
    for (int i = 0; i < 4; i++)
        if (!error) error = e[i];
    return error;
}
