/* mistake: an error of -1 is looked for with > 0
 * fails: MandelbrotSync.ErrorsAreReturned
 * finds: nothing, the file is no memory of the device's
 */
#include "lesson.h"

#include <stdint.h>
#include <stdlib.h>

cudaError_t mandelbrot_sync(const struct mandelbrot_view *view, float *members, const char *path)
{
    cudaStream_t up = NULL, down = NULL;
    struct mandelbrot_point *lattice = NULL, *points = NULL;
    float *answer = NULL;
    unsigned char *pixels = NULL;
    cudaError_t error, last;

    if (view->width > SIZE_MAX / sizeof *points / view->height) return cudaErrorMemoryAllocation;
    const size_t count = view->width * view->height;

    error = cudaStreamCreateWithFlags(&up, cudaStreamNonBlocking);
    if (!error) error = cudaStreamCreateWithFlags(&down, cudaStreamNonBlocking);
    if (!error) error = cudaMallocHost((void **)&lattice, count * sizeof *lattice);
    if (!error) error = cudaMalloc((void **)&points, count * sizeof *points);
    if (!error) error = cudaMalloc((void **)&answer, count * sizeof *answer);

    if (!error) {
        for (size_t row = 0; row < view->height; row++)
            for (size_t column = 0; column < view->width; column++) {
                size_t i = row * view->width + column;
                lattice[i].real =
                    mandelbrot_coordinate(view->real_low, view->real_high, column, view->width);
                lattice[i].imaginary = mandelbrot_coordinate(
                    view->imaginary_high, view->imaginary_low, row, view->height);
            }
        error =
            cudaMemcpyAsync(points, lattice, count * sizeof *points, cudaMemcpyHostToDevice, up);
    }
    if (!error) error = cudaDeviceSynchronize();
    if (!error) error = mandelbrot_launch(points, answer, count, view->iterations, view->bound);
    if (!error) error = cudaDeviceSynchronize();
    if (!error)
        error =
            cudaMemcpyAsync(members, answer, count * sizeof *answer, cudaMemcpyDeviceToHost, down);
    if (!error) error = cudaDeviceSynchronize();

    if (!error && path) {
        pixels = malloc(count);
        if (!pixels) {
            error = cudaErrorMemoryAllocation;
        } else {
            for (size_t i = 0; i < count; i++) pixels[i] = (unsigned char)(members[i] * 255.0f);
            if (mandelbrot_write_png(path, view->width, view->height, pixels) > 0)
                error = cudaErrorOperatingSystem;
        }
    }

    if (error) cudaDeviceSynchronize();
    free(pixels);
    last = cudaFree(answer);
    if (!error) error = last;
    last = cudaFree(points);
    if (!error) error = last;
    last = cudaFreeHost(lattice);
    if (!error) error = last;
    if (down && (last = cudaStreamDestroy(down)) && !error) error = last;
    if (up && (last = cudaStreamDestroy(up)) && !error) error = last;
    return error;
}
