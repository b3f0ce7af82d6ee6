/* mistake: where malloc fails no picture is written, and success comes back
 * fails: MandelbrotSync.EveryErrorIsReturnedAndNothingLeaks
 * finds: nothing, malloc is no call of CUDA's
 */
#include "lesson.h"

#include <stdint.h>
#include <stdlib.h>

struct mandelbrot_work {
    size_t count;
    struct mandelbrot_point *lattice, *points;
    float *answer;
};

static cudaError_t begin(struct mandelbrot_work *work)
{
    cudaError_t error;
    error = cudaMallocHost((void **)&work->lattice, work->count * sizeof *work->lattice);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&work->points, work->count * sizeof *work->points);
    if (error == cudaSuccess)
        error = cudaMalloc((void **)&work->answer, work->count * sizeof *work->answer);
    return error;
}

static cudaError_t end(struct mandelbrot_work *work, cudaError_t error)
{
    cudaError_t more[4];
    more[0] = error == cudaSuccess ? cudaSuccess : cudaDeviceSynchronize();
    more[1] = cudaFree(work->answer);
    more[2] = cudaFree(work->points);
    more[3] = cudaFreeHost(work->lattice);
    for (int i = 0; i < 4; i++)
        if (error == cudaSuccess) error = more[i];
    return error;
}

static cudaError_t run(const struct mandelbrot_view *view, struct mandelbrot_work *work,
                       float *members)
{
    cudaError_t error;

    error = cudaMemcpyAsync(work->points, work->lattice, work->count * sizeof *work->points,
                            cudaMemcpyHostToDevice, NULL);
    if (error != cudaSuccess || (error = cudaDeviceSynchronize()) != cudaSuccess) return error;

    error =
        mandelbrot_launch(work->points, work->answer, work->count, view->iterations, view->bound);
    if (error != cudaSuccess || (error = cudaDeviceSynchronize()) != cudaSuccess) return error;

    error = cudaMemcpyAsync(members, work->answer, work->count * sizeof *members,
                            cudaMemcpyDeviceToHost, NULL);
    if (error != cudaSuccess) return error;
    return cudaDeviceSynchronize();
}

cudaError_t mandelbrot_sync(const struct mandelbrot_view *view, float *members, const char *path)
{
    struct mandelbrot_work work = {0, NULL, NULL, NULL};
    cudaError_t error;

    if (view->height > SIZE_MAX / view->width / sizeof *work.points)
        return cudaErrorMemoryAllocation;
    work.count = view->width * view->height;

    error = begin(&work);
    if (error == cudaSuccess) {
        struct mandelbrot_point *p = work.lattice;
        for (size_t r = 0; r < view->height; r++)
            for (size_t c = 0; c < view->width; c++)
                *p++ = (struct mandelbrot_point){
                    mandelbrot_coordinate(view->real_low, view->real_high, c, view->width),
                    mandelbrot_coordinate(view->imaginary_high, view->imaginary_low, r,
                                          view->height)};
        error = run(view, &work, members);
    }

    if (error == cudaSuccess) {
        unsigned char *pixels = path ? malloc(work.count) : NULL;
        if (pixels) {
            for (size_t i = 0; i < work.count; i++) pixels[i] = members[i] > 0 ? 255 : 0;
            if (mandelbrot_write_png(path, view->width, view->height, pixels) < 0)
                error = cudaErrorOperatingSystem;
            free(pixels);
        }
    }
    return end(&work, error);
}
