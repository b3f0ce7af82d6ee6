/* mistake: on an error the whole device is reset, the caller's memory with it
 * fails: MandelbrotSync.EveryErrorIsReturnedAndNothingLeaks
 * finds: nothing, the program does not come to its end
 */
#include "lesson.h"

#include <stdint.h>
#include <stdlib.h>

/* Whatever is still allocated or under way is gone after this. */
static cudaError_t give_up(cudaError_t error)
{
    cudaDeviceReset();
    return error;
}

cudaError_t mandelbrot_sync(const struct mandelbrot_view *view, float *members, const char *path)
{
    struct mandelbrot_point *lattice, *points;
    float *answer;
    cudaError_t error;

    if (view->height > SIZE_MAX / sizeof *points / view->width) return cudaErrorMemoryAllocation;
    const size_t count = view->width * view->height;

    if ((error = cudaMallocHost((void **)&lattice, count * sizeof *lattice))) return give_up(error);
    if ((error = cudaMalloc((void **)&points, count * sizeof *points))) return give_up(error);
    if ((error = cudaMalloc((void **)&answer, count * sizeof *answer))) return give_up(error);

    for (size_t row = 0; row < view->height; row++) {
        const float y =
            mandelbrot_coordinate(view->imaginary_high, view->imaginary_low, row, view->height);
        for (size_t column = 0; column < view->width; column++) {
            lattice[row * view->width + column].real =
                mandelbrot_coordinate(view->real_low, view->real_high, column, view->width);
            lattice[row * view->width + column].imaginary = y;
        }
    }

    if ((error =
             cudaMemcpyAsync(points, lattice, count * sizeof *points, cudaMemcpyHostToDevice, 0)))
        return give_up(error);
    if ((error = cudaDeviceSynchronize())) return give_up(error);
    if ((error = mandelbrot_launch(points, answer, count, view->iterations, view->bound)))
        return give_up(error);
    if ((error = cudaDeviceSynchronize())) return give_up(error);
    if ((error =
             cudaMemcpyAsync(members, answer, count * sizeof *answer, cudaMemcpyDeviceToHost, 0)))
        return give_up(error);
    if ((error = cudaDeviceSynchronize())) return give_up(error);

    if (path) {
        unsigned char *pixels = malloc(count);
        if (!pixels) return give_up(cudaErrorMemoryAllocation);
        for (size_t i = 0; i < count; i++) pixels[i] = members[i] == 1.0f ? 255 : 0;
        int written = mandelbrot_write_png(path, view->width, view->height, pixels);
        free(pixels);
        if (written != 0) return give_up(cudaErrorOperatingSystem);
    }

    if ((error = cudaFree(answer))) return give_up(error);
    if ((error = cudaFree(points))) return give_up(error);
    if ((error = cudaFreeHost(lattice))) return give_up(error);
    return cudaSuccess;
}
