/* mistake: the lattice is freed in a stream that the kernel is not in
 * fails: MandelbrotSync.ReturnsSuccess
 * finds: use after free at "count,"
 */
#include "lesson.h"

#include <stdint.h>
#include <stdlib.h>

static cudaError_t note(cudaError_t *first, cudaError_t error)
{
    if (*first == cudaSuccess) *first = error;
    return error;
}

static void picture(cudaError_t *first, const struct mandelbrot_view *view, const float *members,
                    const char *path)
{
    const size_t count = view->width * view->height;
    unsigned char *pixels = malloc(count);
    if (!pixels) {
        note(first, cudaErrorMemoryAllocation);
        return;
    }
    for (size_t i = 0; i < count; i++) pixels[i] = members[i] != 0.0f ? 255 : 0;
    if (mandelbrot_write_png(path, view->width, view->height, pixels))
        note(first, cudaErrorOperatingSystem);
    free(pixels);
}

cudaError_t mandelbrot_sync(const struct mandelbrot_view *view, float *members, const char *path)
{
    struct mandelbrot_point *lattice = NULL, *points = NULL;
    float *answer = NULL;
    cudaStream_t stream = NULL;
    cudaError_t first = cudaSuccess;

    if (view->width > SIZE_MAX / view->height / sizeof *lattice) return cudaErrorMemoryAllocation;
    const size_t count = view->width * view->height;

    if (note(&first, cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking))) return first;
    if (note(&first, cudaMallocHost((void **)&lattice, count * sizeof *lattice))) goto done;
    if (note(&first, cudaMallocAsync((void **)&points, count * sizeof *points, stream))) {
        points = NULL;
        goto done;
    }
    if (note(&first, cudaMallocAsync((void **)&answer, count * sizeof *answer, stream))) {
        answer = NULL;
        goto done;
    }

    for (size_t row = 0; row < view->height; row++)
        for (size_t column = 0; column < view->width; column++)
            lattice[row * view->width + column] = (struct mandelbrot_point){
                mandelbrot_coordinate(view->real_low, view->real_high, column, view->width),
                mandelbrot_coordinate(view->imaginary_high, view->imaginary_low, row,
                                      view->height)};

    if (note(&first, cudaMemcpyAsync(points, lattice, count * sizeof *points,
                                     cudaMemcpyHostToDevice, stream)))
        goto done;
    if (note(&first, cudaDeviceSynchronize())) goto done;
    if (note(&first, mandelbrot_launch(points, answer, count, view->iterations, view->bound)))
        goto done;
    if (note(&first, cudaFreeAsync(points, stream))) goto done;
    points = NULL;
    if (note(&first, cudaDeviceSynchronize())) goto done;
    if (note(&first, cudaMemcpyAsync(members, answer, count * sizeof *members,
                                     cudaMemcpyDeviceToHost, stream)))
        goto done;
    if (note(&first, cudaDeviceSynchronize())) goto done;

    if (path) picture(&first, view, members, path);

done:
    if (first) cudaDeviceSynchronize();
    if (answer) note(&first, cudaFreeAsync(answer, stream));
    if (points) note(&first, cudaFreeAsync(points, stream));
    note(&first, cudaStreamSynchronize(stream));
    note(&first, cudaStreamDestroy(stream));
    note(&first, cudaFreeHost(lattice));
    return first;
}
