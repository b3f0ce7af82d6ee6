/* mistake: an event orders the default stream, and the kernel is in another
 * fails: MandelbrotSync.TheContextIsSynchronised
 * finds: race at "view->bound)"
 */
#include "lesson.h"

#include <stdint.h>
#include <stdlib.h>

static cudaError_t write_picture(const struct mandelbrot_view *view, const float *members,
                                 const char *path)
{
    size_t count = view->width * view->height;
    unsigned char *pixels = malloc(count);
    int written;

    if (!pixels) return cudaErrorMemoryAllocation;
    for (size_t i = 0; i < count; i++) pixels[i] = members[i] == 1.0f ? 255 : 0;
    written = mandelbrot_write_png(path, view->width, view->height, pixels);
    free(pixels);
    return written == 0 ? cudaSuccess : cudaErrorOperatingSystem;
}

cudaError_t mandelbrot_sync(const struct mandelbrot_view *view, float *members, const char *path)
{
    struct mandelbrot_point *lattice = NULL, *points = NULL;
    float *answer = NULL;
    cudaStream_t copies = NULL;
    cudaEvent_t arrived = NULL;
    cudaError_t error, next;
    size_t count, bytes;

    if (view->height > SIZE_MAX / sizeof *lattice / view->width) return cudaErrorMemoryAllocation;
    count = view->width * view->height;
    bytes = count * sizeof *lattice;

    error = cudaMallocHost((void **)&lattice, bytes);
    if (!error) error = cudaMalloc((void **)&points, bytes);
    if (!error) error = cudaMalloc((void **)&answer, count * sizeof *answer);
    if (!error) error = cudaStreamCreate(&copies);
    if (!error) error = cudaEventCreateWithFlags(&arrived, cudaEventDisableTiming);
    if (error) goto out;

    for (size_t r = 0; r < view->height; r++)
        for (size_t c = 0; c < view->width; c++) {
            struct mandelbrot_point *p = &lattice[r * view->width + c];
            p->real = mandelbrot_coordinate(view->real_low, view->real_high, c, view->width);
            p->imaginary =
                mandelbrot_coordinate(view->imaginary_high, view->imaginary_low, r, view->height);
        }

    error = cudaMemcpyAsync(points, lattice, bytes, cudaMemcpyHostToDevice, copies);
    if (!error) error = cudaEventRecord(arrived, copies);
    /* what comes now starts only when the points are there */
    if (!error) error = cudaStreamWaitEvent(NULL, arrived, 0);
    if (!error) error = mandelbrot_launch(points, answer, count, view->iterations, view->bound);
    if (!error) error = cudaDeviceSynchronize();
    if (!error)
        error = cudaMemcpyAsync(members, answer, count * sizeof *answer, cudaMemcpyDeviceToHost,
                                copies);
    if (!error) error = cudaDeviceSynchronize();
    if (!error && path) error = write_picture(view, members, path);
    if (error) cudaDeviceSynchronize();

out:
    next = arrived ? cudaEventDestroy(arrived) : cudaSuccess;
    if (!error) error = next;
    next = copies ? cudaStreamDestroy(copies) : cudaSuccess;
    if (!error) error = next;
    next = cudaFree(answer);
    if (!error) error = next;
    next = cudaFree(points);
    if (!error) error = next;
    next = cudaFreeHost(lattice);
    return error ? error : next;
}
