/* variant: a copy for each row, in both directions; the host waits
 * by asking until the answer is yes where it may
 */
#include "lesson.h"

#include <stdlib.h>

cudaError_t mandelbrot_sync(const struct mandelbrot_view *view, float *members, const char *path)
{
    const size_t width = view->width, height = view->height, count = width * height;
    struct mandelbrot_point *lattice = NULL, *lattice_device = NULL;
    float *members_device = NULL;
    unsigned char *pixels = NULL;
    cudaError_t error;

    if ((error = cudaMalloc((void **)&lattice_device, count * sizeof *lattice))) goto done;
    if ((error = cudaMalloc((void **)&members_device, count * sizeof *members))) goto done;
    if ((error = cudaMallocHost((void **)&lattice, count * sizeof *lattice))) goto done;

    for (size_t row = 0; row < height; row++) {
        for (size_t column = 0; column < width; column++) {
            struct mandelbrot_point point = {
                mandelbrot_coordinate(view->real_low, view->real_high, column, width),
                mandelbrot_coordinate(view->imaginary_high, view->imaginary_low, row, height)};
            lattice[row * width + column] = point;
        }
        error = cudaMemcpyAsync(lattice_device + row * width, lattice + row * width,
                                width * sizeof *lattice, cudaMemcpyHostToDevice, cudaStreamLegacy);
        if (error) goto done;
    }
    while ((error = cudaStreamQuery(cudaStreamLegacy)) == cudaErrorNotReady) continue;
    if (error) goto done;
    error = mandelbrot_launch(lattice_device, members_device, count, view->iterations, view->bound);
    if (error) goto done;
    if ((error = cudaDeviceSynchronize())) goto done;
    for (size_t row = 0; row < height && !error; row++)
        error = cudaMemcpyAsync(members + row * width, members_device + row * width,
                                width * sizeof *members, cudaMemcpyDeviceToHost, cudaStreamLegacy);
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
