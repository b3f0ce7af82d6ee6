/* variant: host threads fill in the lattice
 * orders: 3
 */
#include "lesson.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

enum { WORKERS = 4 };

struct share {
    const struct mandelbrot_view *view;
    struct mandelbrot_point *lattice;
    size_t first, end; /* rows */
};

static void *fill_share(void *argument)
{
    const struct share *share = argument;
    const struct mandelbrot_view *view = share->view;

    for (size_t row = share->first; row < share->end; row++)
        for (size_t column = 0; column < view->width; column++) {
            struct mandelbrot_point point;
            point.real =
                mandelbrot_coordinate(view->real_low, view->real_high, column, view->width);
            point.imaginary =
                mandelbrot_coordinate(view->imaginary_high, view->imaginary_low, row, view->height);
            share->lattice[row * view->width + column] = point;
        }
    return NULL;
}

static void fill(const struct mandelbrot_view *view, struct mandelbrot_point *lattice)
{
    const size_t rows = (view->height - 1) / WORKERS + 1;
    struct share shares[WORKERS];
    pthread_t threads[WORKERS];
    int started[WORKERS];

    for (size_t i = 0; i < WORKERS; i++) {
        size_t first = i * rows < view->height ? i * rows : view->height;
        size_t end = view->height - first < rows ? view->height : first + rows;
        shares[i] = (struct share){view, lattice, first, end};
        started[i] = pthread_create(&threads[i], NULL, fill_share, &shares[i]) == 0;
        if (!started[i]) fill_share(&shares[i]);
    }
    for (size_t i = 0; i < WORKERS; i++)
        if (started[i]) pthread_join(threads[i], NULL);
}

static cudaError_t launch_and_wait(const struct mandelbrot_view *view, size_t count,
                                   const struct mandelbrot_point *points, float *answer)
{
    cudaError_t error = mandelbrot_launch(points, answer, count, view->iterations, view->bound);
    return error ? error : cudaDeviceSynchronize();
}

static cudaError_t copy_and_wait(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                                 cudaStream_t stream)
{
    cudaError_t error = cudaMemcpyAsync(to, from, bytes, kind, stream);
    return error ? error : cudaDeviceSynchronize();
}

static cudaError_t write_file(const struct mandelbrot_view *view, const float *members,
                              const char *path)
{
    const size_t count = view->width * view->height;
    unsigned char *pixels = calloc(view->height, view->width);
    if (!pixels) return cudaErrorMemoryAllocation;
    for (size_t i = 0; i < count; i++)
        if (members[i] == 1.0f) pixels[i] = 255;
    const int failed = mandelbrot_write_png(path, view->width, view->height, pixels);
    free(pixels);
    return failed ? cudaErrorOperatingSystem : cudaSuccess;
}

cudaError_t mandelbrot_sync(const struct mandelbrot_view *view, float *members, const char *path)
{
    struct mandelbrot_point *lattice, *points;
    float *answer;
    cudaStream_t stream;
    cudaError_t error, later;

    if (view->width > SIZE_MAX / sizeof *points / view->height) return cudaErrorMemoryAllocation;
    const size_t count = view->width * view->height;

    error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (error) return error;
    error = cudaMalloc((void **)&points, count * sizeof *points);
    if (error) goto no_points;
    error = cudaMalloc((void **)&answer, count * sizeof *answer);
    if (error) goto no_answer;
    error = cudaMallocHost((void **)&lattice, count * sizeof *lattice);
    if (error) goto no_lattice;

    fill(view, lattice);
    error = copy_and_wait(points, lattice, count * sizeof *points, cudaMemcpyHostToDevice, stream);
    if (!error) error = launch_and_wait(view, count, points, answer);
    if (!error)
        error =
            copy_and_wait(members, answer, count * sizeof *answer, cudaMemcpyDeviceToHost, stream);
    if (!error && path) error = write_file(view, members, path);
    if (error) cudaDeviceSynchronize();

    later = cudaFreeHost(lattice);
    if (!error) error = later;
no_lattice:
    later = cudaFree(answer);
    if (!error) error = later;
no_answer:
    later = cudaFree(points);
    if (!error) error = later;
no_points:
    later = cudaStreamDestroy(stream);
    return error ? error : later;
}
