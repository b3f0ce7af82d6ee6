/* variant: one block of pinned memory and one of device memory
 * orders: 3
 */
#include "lesson.h"

#include <stdint.h>
#include <stdlib.h>

/* Makes the call unless something has gone wrong already. */
#define STEP(call)                                                                                 \
    do {                                                                                           \
        if (error == cudaSuccess) error = (call);                                                  \
    } while (0)

/* Makes the call in any case; what went wrong before it is what counts. */
#define ALWAYS(call)                                                                               \
    do {                                                                                           \
        cudaError_t always_ = (call);                                                              \
        if (error == cudaSuccess) error = always_;                                                 \
    } while (0)

cudaError_t mandelbrot_sync(const struct mandelbrot_view *view, float *members, const char *path)
{
    const size_t point = sizeof(struct mandelbrot_point), both = point + sizeof(float);
    const size_t width = view->width, height = view->height;
    char *pinned = NULL, *device = NULL;
    unsigned char *pixels = NULL;
    cudaError_t error = cudaSuccess;

    if (height > SIZE_MAX / both / width) return cudaErrorMemoryAllocation;
    const size_t count = width * height;

    STEP(cudaMallocHost((void **)&pinned, count * point));
    STEP(cudaMalloc((void **)&device, count * both));
    if (path && !error && !(pixels = malloc(count))) error = cudaErrorMemoryAllocation;

    struct mandelbrot_point *lattice = (struct mandelbrot_point *)pinned;
    struct mandelbrot_point *points = (struct mandelbrot_point *)device;
    float *answer = device ? (float *)(device + count * point) : NULL;

    for (size_t i = 0; !error && i < count; i++) {
        lattice[i].real = mandelbrot_coordinate(view->real_low, view->real_high, i % width, width);
        lattice[i].imaginary =
            mandelbrot_coordinate(view->imaginary_high, view->imaginary_low, i / width, height);
    }

    STEP(cudaMemcpyAsync(points, lattice, count * point, cudaMemcpyHostToDevice, NULL));
    STEP(cudaDeviceSynchronize());
    STEP(mandelbrot_launch(points, answer, count, view->iterations, view->bound));
    STEP(cudaDeviceSynchronize());
    STEP(cudaMemcpyAsync(members, answer, count * sizeof *answer, cudaMemcpyDeviceToHost, NULL));
    STEP(cudaDeviceSynchronize());

    if (path && !error) {
        for (size_t i = 0; i < count; i++) pixels[i] = members[i] == 1.0f ? 255 : 0;
        if (mandelbrot_write_png(path, width, height, pixels)) error = cudaErrorOperatingSystem;
    }

    if (error) cudaDeviceSynchronize(); /* nothing may use the two blocks any more */
    free(pixels);
    if (device) ALWAYS(cudaFree(device));
    if (pinned) ALWAYS(cudaFreeHost(pinned));
    return error;
}
