/* variant: the pixels are made in the stream, by a host function behind the copy out
 */
#include "lesson.h"

#include <stdint.h>
#include <stdlib.h>

struct work {
    struct mandelbrot_point *lattice, *device_lattice;
    float *device_members;
    unsigned char *pixels;
    cudaStream_t stream;
};

struct pixels {
    const float *members;
    unsigned char *bytes;
    size_t count;
};

static void make_pixels(void *user)
{
    const struct pixels *pixels = user;
    for (size_t i = 0; i < pixels->count; i++)
        pixels->bytes[i] = pixels->members[i] != 0.0f ? 255 : 0;
}

static void release(struct work *work)
{
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
    const size_t count = view->width * view->height;
    struct pixels pixels = {.members = members, .count = count};

    TRY(cudaMalloc((void **)&work->device_lattice, count * sizeof(struct mandelbrot_point)));
    TRY(cudaMalloc((void **)&work->device_members, count * sizeof(float)));
    TRY(cudaHostAlloc((void **)&work->lattice, count * sizeof(struct mandelbrot_point),
                      cudaHostAllocDefault));
    TRY(cudaStreamCreateWithFlags(&work->stream, cudaStreamNonBlocking));

    for (size_t i = 0; i < count; i++) {
        work->lattice[i].real =
            mandelbrot_coordinate(view->real_low, view->real_high, i % view->width, view->width);
        work->lattice[i].imaginary = mandelbrot_coordinate(
            view->imaginary_high, view->imaginary_low, i / view->width, view->height);
    }
    TRY(cudaMemcpyAsync(work->device_lattice, work->lattice,
                        count * sizeof(struct mandelbrot_point), cudaMemcpyHostToDevice,
                        work->stream));
    TRY(cudaStreamSynchronize(work->stream));
    TRY(mandelbrot_launch(work->device_lattice, work->device_members, count, view->iterations,
                          view->bound));
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpyAsync(members, work->device_members, count * sizeof(float),
                        cudaMemcpyDeviceToHost, work->stream));
    if (path) {
        pixels.bytes = work->pixels = malloc(count);
        cudaError_t made = !work->pixels ? cudaErrorMemoryAllocation
                                         : cudaLaunchHostFunc(work->stream, make_pixels, &pixels);
        if (made != cudaSuccess) {
            cudaStreamSynchronize(work->stream);
            return made;
        }
    }
    TRY(cudaStreamSynchronize(work->stream));
    if (!path) return cudaSuccess;
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
