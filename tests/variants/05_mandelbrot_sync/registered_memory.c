/* variant: the lattice in memory from malloc that is page-locked afterwards, copies whose direction
 * is left to the addresses, a blocking stream, a grey buffer that is filled while the device works
 */
#include "lesson.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void place_point(const struct mandelbrot_view *view, struct mandelbrot_point *point,
                        size_t row, size_t column)
{
    point->imaginary =
        mandelbrot_coordinate(view->imaginary_high, view->imaginary_low, row, view->height);
    point->real = mandelbrot_coordinate(view->real_low, view->real_high, column, view->width);
}

cudaError_t mandelbrot_sync(const struct mandelbrot_view *view, float *members, const char *path)
{
    if (view->width > SIZE_MAX / sizeof(struct mandelbrot_point) / view->height)
        return cudaErrorMemoryAllocation;
    size_t count = view->width * view->height;
    struct mandelbrot_point *host = NULL;
    void *device = NULL; /* the lattice, and the members behind it */
    unsigned char *grey = NULL;
    cudaStream_t stream = NULL;
    int registered = 0;

    cudaError_t error = cudaMalloc(&device, count * (sizeof *host + sizeof *members));
    if (!error) error = cudaStreamCreate(&stream);
    if (!error) {
        host = malloc(count * sizeof *host);
        grey = malloc(count);
        if (!host || !grey) error = cudaErrorMemoryAllocation;
    }
    if (!error) {
        error = cudaHostRegister(host, count * sizeof *host, cudaHostRegisterDefault);
        registered = !error;
    }
    if (!error) {
        for (size_t i = 0; i < count; i++)
            place_point(view, &host[i], i / view->width, i % view->width);
        error = cudaMemcpyAsync(device, host, count * sizeof *host, cudaMemcpyDefault, stream);
    }
    float *answer = (float *)((struct mandelbrot_point *)device + count);
    if (!error) error = cudaDeviceSynchronize();
    if (!error) error = mandelbrot_launch(device, answer, count, view->iterations, view->bound);
    if (!error) {
        memset(grey, 0, count);
        error = cudaDeviceSynchronize();
    }
    if (!error)
        error =
            cudaMemcpyAsync(members, answer, count * sizeof *members, cudaMemcpyDefault, stream);
    if (!error) error = cudaDeviceSynchronize();
    if (!error && path) {
        for (size_t i = 0; i < count; i++)
            if (members[i] == 1.0f) grey[i] = 255;
        if (mandelbrot_write_png(path, view->width, view->height, grey))
            error = cudaErrorOperatingSystem;
    }

    if (error) cudaDeviceSynchronize();
    if (registered) cudaHostUnregister(host);
    if (stream) cudaStreamDestroy(stream);
    free(grey);
    free(host);
    cudaFree(device);
    return error;
}
