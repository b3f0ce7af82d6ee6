/* variant: the halves of each copy in two streams, an event for each; per-thread default stream
 * as one of them
 */
#include "lesson.h"

#include <stdint.h>
#include <stdlib.h>

struct work {
    struct mandelbrot_point *lattice, *device_lattice;
    float *device_members;
    unsigned char *pixels;
    cudaStream_t stream;
    cudaEvent_t arrived;
};

static void release(struct work *work)
{
    if (work->arrived) cudaEventDestroy(work->arrived);
    if (work->stream) cudaStreamDestroy(work->stream);
    if (work->device_members) cudaFree(work->device_members);
    if (work->device_lattice) cudaFree(work->device_lattice);
    if (work->lattice) cudaFreeHost(work->lattice);
    free(work->pixels);
}

#define TRY(call)                                                                                  \
    do {                                                                                           \
        cudaError_t status = (call);                                                               \
        if (status != cudaSuccess) return status;                                                  \
    } while (0)

static cudaError_t draw(struct work *work, const struct mandelbrot_view *view, float *members,
                        const char *path)
{
    const size_t count = view->width * view->height, half = count / 2;

    TRY(cudaMalloc((void **)&work->device_lattice, count * sizeof(struct mandelbrot_point)));
    TRY(cudaMalloc((void **)&work->device_members, count * sizeof(float)));
    TRY(cudaHostAlloc((void **)&work->lattice, count * sizeof(struct mandelbrot_point),
                      cudaHostAllocDefault));
    TRY(cudaStreamCreateWithFlags(&work->stream, cudaStreamNonBlocking));
    TRY(cudaEventCreateWithFlags(&work->arrived, cudaEventDisableTiming));

    for (size_t i = 0; i < count; i++) {
        work->lattice[i].real =
            mandelbrot_coordinate(view->real_low, view->real_high, i % view->width, view->width);
        work->lattice[i].imaginary = mandelbrot_coordinate(
            view->imaginary_high, view->imaginary_low, i / view->width, view->height);
    }
    TRY(cudaMemcpyAsync(work->device_lattice, work->lattice, half * sizeof(struct mandelbrot_point),
                        cudaMemcpyHostToDevice, work->stream));
    TRY(cudaMemcpyAsync(work->device_lattice + half, work->lattice + half,
                        (count - half) * sizeof(struct mandelbrot_point), cudaMemcpyHostToDevice,
                        cudaStreamPerThread));
    TRY(cudaStreamSynchronize(cudaStreamPerThread));
    TRY(cudaEventRecord(work->arrived, work->stream));
    TRY(cudaEventSynchronize(work->arrived));
    TRY(mandelbrot_launch(work->device_lattice, work->device_members, count, view->iterations,
                          view->bound));
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpyAsync(members, work->device_members, half * sizeof(float), cudaMemcpyDeviceToHost,
                        work->stream));
    TRY(cudaMemcpyAsync(members + half, work->device_members + half, (count - half) * sizeof(float),
                        cudaMemcpyDeviceToHost, cudaStreamPerThread));
    TRY(cudaStreamSynchronize(work->stream));
    TRY(cudaStreamSynchronize(cudaStreamPerThread));
    if (!path) return cudaSuccess;

    work->pixels = malloc(count);
    if (!work->pixels) return cudaErrorMemoryAllocation;
    for (size_t i = 0; i < count; i++) work->pixels[i] = (unsigned char)(255.0f * members[i]);
    return mandelbrot_write_png(path, view->width, view->height, work->pixels)
               ? cudaErrorOperatingSystem
               : cudaSuccess;
}

cudaError_t mandelbrot_sync(const struct mandelbrot_view *view, float *members, const char *path)
{
    if (view->width > SIZE_MAX / sizeof(struct mandelbrot_point) / view->height)
        return cudaErrorMemoryAllocation;
    struct work work = {0};
    cudaError_t error = draw(&work, view, members, path);
    if (error) cudaDeviceSynchronize();
    release(&work);
    return error;
}
