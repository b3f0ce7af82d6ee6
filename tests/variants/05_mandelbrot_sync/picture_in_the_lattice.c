/* variant: the picture is made where the lattice was
 * orders: 3
 */
#include "lesson.h"

#include <stdint.h>

struct drawing {
    const struct mandelbrot_view *view;
    size_t count;
    float *members;
    const char *path;

    struct mandelbrot_point *lattice, *points;
    float *answer;
};

typedef cudaError_t step(struct drawing *);

static cudaError_t wait(struct drawing *d)
{
    (void)d;
    return cudaDeviceSynchronize();
}

static cudaError_t allocate_lattice(struct drawing *d)
{
    return cudaMallocHost((void **)&d->lattice, d->count * sizeof *d->lattice);
}

static cudaError_t allocate_points(struct drawing *d)
{
    return cudaMalloc((void **)&d->points, d->count * sizeof *d->points);
}

static cudaError_t allocate_answer(struct drawing *d)
{
    return cudaMalloc((void **)&d->answer, d->count * sizeof *d->answer);
}

static cudaError_t fill_lattice(struct drawing *d)
{
    const struct mandelbrot_view *v = d->view;
    for (size_t row = 0; row < v->height; row++) {
        struct mandelbrot_point *line = d->lattice + row * v->width;
        for (size_t column = 0; column < v->width; column++) {
            line[column].real = mandelbrot_coordinate(v->real_low, v->real_high, column, v->width);
            line[column].imaginary =
                mandelbrot_coordinate(v->imaginary_high, v->imaginary_low, row, v->height);
        }
    }
    return cudaSuccess;
}

static cudaError_t send(struct drawing *d)
{
    return cudaMemcpyAsync(d->points, d->lattice, d->count * sizeof *d->points,
                           cudaMemcpyHostToDevice, cudaStreamLegacy);
}

static cudaError_t launch(struct drawing *d)
{
    return mandelbrot_launch(d->points, d->answer, d->count, d->view->iterations, d->view->bound);
}

static cudaError_t fetch(struct drawing *d)
{
    return cudaMemcpyAsync(d->members, d->answer, d->count * sizeof *d->answer,
                           cudaMemcpyDeviceToHost, cudaStreamLegacy);
}

static cudaError_t paint(struct drawing *d)
{
    if (!d->path) return cudaSuccess;
    unsigned char *pixels = (unsigned char *)d->lattice; /* eight bytes for each pixel: ample */
    for (size_t i = 0; i < d->count; i++) pixels[i] = d->members[i] == 1.0f ? 255 : 0;
    return mandelbrot_write_png(d->path, d->view->width, d->view->height, pixels)
               ? cudaErrorOperatingSystem
               : cudaSuccess;
}

static cudaError_t release(struct drawing *d)
{
    cudaError_t answer = d->answer ? cudaFree(d->answer) : cudaSuccess;
    cudaError_t points = d->points ? cudaFree(d->points) : cudaSuccess;
    cudaError_t lattice = d->lattice ? cudaFreeHost(d->lattice) : cudaSuccess;
    return answer ? answer : points ? points : lattice;
}

cudaError_t mandelbrot_sync(const struct mandelbrot_view *view, float *members, const char *path)
{
    static step *const steps[] = {allocate_lattice,
                                  allocate_points,
                                  allocate_answer,
                                  fill_lattice,
                                  send,
                                  wait,
                                  launch,
                                  wait,
                                  fetch,
                                  wait,
                                  paint};
    struct drawing d = {.view = view, .members = members, .path = path};
    cudaError_t error = cudaSuccess;

    if (view->width > SIZE_MAX / sizeof *d.lattice / view->height) return cudaErrorMemoryAllocation;
    d.count = view->width * view->height;

    for (size_t i = 0; !error && i < sizeof steps / sizeof *steps; i++) error = steps[i](&d);
    if (error) wait(&d);

    cudaError_t released = release(&d);
    return error ? error : released;
}
