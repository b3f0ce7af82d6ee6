/* variant: copies of 24 rows at a time, in both directions; the host waits
 * by asking until the answer is yes where it may
 */
#include "lesson.h"

#include <stdint.h>
#include <stdlib.h>

enum { BAND = 24 }; /* rows */

static size_t band(size_t count, size_t at, size_t most)
{
    return count - at < most ? count - at : most;
}

cudaError_t mandelbrot_sync(const struct mandelbrot_view *view, float *members, const char *path)
{
    if (view->width > SIZE_MAX / sizeof(struct mandelbrot_point) / view->height)
        return cudaErrorMemoryAllocation;
    const size_t width = view->width, height = view->height, count = width * height;
    struct mandelbrot_point *lattice = NULL, *lattice_device = NULL;
    float *members_device = NULL;
    unsigned char *pixels = NULL;
    cudaError_t error;

    if ((error = cudaMalloc((void **)&lattice_device, count * sizeof *lattice))) goto done;
    if ((error = cudaMalloc((void **)&members_device, count * sizeof *members))) goto done;
    if ((error = cudaMallocHost((void **)&lattice, count * sizeof *lattice))) goto done;

    for (size_t i = 0; i < count; i++) {
        struct mandelbrot_point point = {
            mandelbrot_coordinate(view->real_low, view->real_high, i % width, width),
            mandelbrot_coordinate(view->imaginary_high, view->imaginary_low, i / width, height)};
        lattice[i] = point;
    }
    for (size_t at = 0; at < count && !error; at += BAND * width)
        error = cudaMemcpyAsync(lattice_device + at, lattice + at,
                                band(count, at, BAND * width) * sizeof *lattice,
                                cudaMemcpyHostToDevice, cudaStreamLegacy);
    if (error) goto done;
    while ((error = cudaStreamQuery(cudaStreamLegacy)) == cudaErrorNotReady) continue;
    if (error) goto done;
    error = mandelbrot_launch(lattice_device, members_device, count, view->iterations, view->bound);
    if (error) goto done;
    if ((error = cudaDeviceSynchronize())) goto done;
    for (size_t at = 0; at < count && !error; at += BAND * width)
        error = cudaMemcpyAsync(members + at, members_device + at,
                                band(count, at, BAND * width) * sizeof *members,
                                cudaMemcpyDeviceToHost, cudaStreamLegacy);
    if (error) goto done;
    if ((error = cudaStreamSynchronize(cudaStreamLegacy))) goto done;

    if (path) {
        pixels = calloc(count, 1);
        for (size_t i = 0; pixels && i < count; i++)
            if (members[i] > 0.5f) pixels[i] = 255;
        if (!pixels || mandelbrot_write_png(path, width, height, pixels))
            error = cudaErrorOperatingSystem;
    }
done:
    if (error) cudaDeviceSynchronize();
    free(pixels);
    cudaFreeHost(lattice);
    cudaFree(members_device);
    cudaFree(lattice_device);
    return error;
}
