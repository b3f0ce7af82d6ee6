/* mistake: the picture is written with height and width swapped
 * fails: MandelbrotSync.ThePictureIsWritten
 * finds: nothing, the file is no memory of the device's
 */
#include "lesson.h"

#include <stdint.h>
#include <stdlib.h>

struct taken {
    cudaStream_t stream;
    struct mandelbrot_point *host;
    struct mandelbrot_point *device;
    float *decided;
    unsigned char *pixels;
};

static cudaError_t release(struct taken *t, cudaError_t first)
{
    cudaError_t e;
    if (first) cudaDeviceSynchronize();
    free(t->pixels);
    if (t->stream && (e = cudaStreamDestroy(t->stream)) && !first) first = e;
    if (t->decided && (e = cudaFree(t->decided)) && !first) first = e;
    if (t->device && (e = cudaFree(t->device)) && !first) first = e;
    if (t->host && (e = cudaFreeHost(t->host)) && !first) first = e;
    return first;
}

cudaError_t mandelbrot_sync(const struct mandelbrot_view *view, float *members, const char *path)
{
    struct taken t = {0};
    size_t rows = view->height, columns = view->width, count, size;
    cudaError_t e;

    if (__builtin_mul_overflow(rows, columns, &count) ||
        __builtin_mul_overflow(count, sizeof *t.host, &size))
        return cudaErrorMemoryAllocation;

    if ((e = cudaStreamCreate(&t.stream))) return release(&t, e);
    if ((e = cudaMallocHost((void **)&t.host, size))) return release(&t, e);
    if ((e = cudaMalloc((void **)&t.device, size))) return release(&t, e);
    if ((e = cudaMalloc((void **)&t.decided, count * sizeof(float)))) return release(&t, e);
    if (path && !(t.pixels = malloc(count))) return release(&t, cudaErrorMemoryAllocation);

    for (size_t y = 0; y < rows; y++)
        for (size_t x = 0; x < columns; x++)
            t.host[y * columns + x] = (struct mandelbrot_point){
                .real = mandelbrot_coordinate(view->real_low, view->real_high, x, columns),
                .imaginary =
                    mandelbrot_coordinate(view->imaginary_high, view->imaginary_low, y, rows)};

    if ((e = cudaMemcpyAsync(t.device, t.host, size, cudaMemcpyHostToDevice, t.stream)) ||
        (e = cudaDeviceSynchronize()) ||
        (e = mandelbrot_launch(t.device, t.decided, count, view->iterations, view->bound)) ||
        (e = cudaDeviceSynchronize()) ||
        (e = cudaMemcpyAsync(members, t.decided, count * sizeof(float), cudaMemcpyDeviceToHost,
                             t.stream)) ||
        (e = cudaDeviceSynchronize()))
        return release(&t, e);

    if (path) {
        for (size_t i = 0; i < count; i++) t.pixels[i] = members[i] != 0.0f ? 0xff : 0x00;
        if (mandelbrot_write_png(path, rows, columns, t.pixels)) e = cudaErrorOperatingSystem;
    }
    return release(&t, e);
}
