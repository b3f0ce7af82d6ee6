/* variant: memory in stream order; what cudaFreeAsync could not free is freed by cudaFree, and the
 * hidden stream is waited for first
 */
#include "lesson.h"

#include <stdint.h>
#include <stdlib.h>

struct canvas {
    cudaStream_t stream;
    cudaError_t first;
};

/* Notes the error if it is the first; true if there is none in this call. */
static int good(struct canvas *canvas, cudaError_t error)
{
    if (canvas->first == cudaSuccess) canvas->first = error;
    return error == cudaSuccess;
}

static void *allocate(struct canvas *canvas, size_t bytes)
{
    void *memory = NULL;
    return good(canvas, cudaMallocAsync(&memory, bytes, canvas->stream)) ? memory : NULL;
}

static void give_back(struct canvas *canvas, void *memory)
{
    if (memory && !good(canvas, cudaFreeAsync(memory, canvas->stream)))
        good(canvas, cudaFree(memory));
}

static void save(struct canvas *canvas, const struct mandelbrot_view *view, const float *members,
                 const char *path)
{
    const size_t count = view->width * view->height;
    unsigned char *pixels = malloc(count);
    if (!pixels) {
        good(canvas, cudaErrorMemoryAllocation);
        return;
    }
    for (size_t i = 0; i < count; i++) pixels[i] = members[i] == 1.0f ? 255 : 0;
    if (mandelbrot_write_png(path, view->width, view->height, pixels))
        good(canvas, cudaErrorOperatingSystem);
    free(pixels);
}

static void draw(struct canvas *canvas, const struct mandelbrot_view *view,
                 struct mandelbrot_point *lattice, float *members, const char *path)
{
    const size_t count = view->width * view->height;

    for (size_t i = 0, row = 0; row < view->height; row++)
        for (size_t column = 0; column < view->width; column++, i++) {
            lattice[i].real =
                mandelbrot_coordinate(view->real_low, view->real_high, column, view->width);
            lattice[i].imaginary =
                mandelbrot_coordinate(view->imaginary_high, view->imaginary_low, row, view->height);
        }

    struct mandelbrot_point *points = allocate(canvas, count * sizeof *points);
    float *answer = points ? allocate(canvas, count * sizeof *answer) : NULL;

    /* The first wait is for the allocations, too: elsewhere they do not exist before it. */
    if (answer &&
        good(canvas, cudaMemcpyAsync(points, lattice, count * sizeof *points,
                                     cudaMemcpyHostToDevice, canvas->stream)) &&
        good(canvas, cudaDeviceSynchronize()) &&
        good(canvas, mandelbrot_launch(points, answer, count, view->iterations, view->bound)) &&
        good(canvas, cudaDeviceSynchronize()) &&
        good(canvas, cudaMemcpyAsync(members, answer, count * sizeof *answer,
                                     cudaMemcpyDeviceToHost, canvas->stream)) &&
        good(canvas, cudaDeviceSynchronize()) && path)
        save(canvas, view, members, path);

    if (canvas->first) cudaDeviceSynchronize();
    give_back(canvas, answer);
    give_back(canvas, points);
    good(canvas, cudaStreamSynchronize(canvas->stream));
}

cudaError_t mandelbrot_sync(const struct mandelbrot_view *view, float *members, const char *path)
{
    struct canvas canvas = {NULL, cudaSuccess};
    struct mandelbrot_point *lattice;

    if (view->width > SIZE_MAX / sizeof *lattice / view->height) return cudaErrorMemoryAllocation;
    const size_t bytes = view->width * view->height * sizeof *lattice;

    if (!good(&canvas, cudaStreamCreateWithFlags(&canvas.stream, cudaStreamNonBlocking)))
        return canvas.first;
    if (good(&canvas, cudaMallocHost((void **)&lattice, bytes))) {
        draw(&canvas, view, lattice, members, path);
        good(&canvas, cudaFreeHost(lattice));
    }
    good(&canvas, cudaStreamDestroy(canvas.stream));
    return canvas.first;
}
