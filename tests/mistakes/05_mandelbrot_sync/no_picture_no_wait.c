/* mistake: without a path nobody waits for the copy out
 * fails: MandelbrotSync.EveryPixelIsRight
 * finds: nothing, it is the caller who reads too early
 */
#include "lesson.h"

#include <stdint.h>
#include <stdlib.h>

cudaError_t mandelbrot_sync(const struct mandelbrot_view *view, float *members, const char *path)
{
    const size_t width = view->width, height = view->height;
    struct mandelbrot_point *host = NULL, *device = NULL;
    float *flags = NULL;
    unsigned char *pixels = NULL;
    cudaStream_t stream = NULL;
    cudaError_t status, e;

    if (width > SIZE_MAX / height / sizeof *host) return cudaErrorMemoryAllocation;
    const size_t count = width * height;

    if ((status = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking))) return status;
    if ((status = cudaMallocHost((void **)&host, count * sizeof *host))) goto clean;
    if ((status = cudaMallocAsync((void **)&device, count * sizeof *device, stream))) {
        device = NULL;
        goto clean;
    }
    if ((status = cudaMallocAsync((void **)&flags, count * sizeof *flags, stream))) {
        flags = NULL;
        goto clean;
    }

    for (size_t i = 0; i < count; i++) {
        host[i].real = mandelbrot_coordinate(view->real_low, view->real_high, i % width, width);
        host[i].imaginary =
            mandelbrot_coordinate(view->imaginary_high, view->imaginary_low, i / width, height);
    }

    if ((status =
             cudaMemcpyAsync(device, host, count * sizeof *host, cudaMemcpyHostToDevice, stream)))
        goto clean;
    if ((status = cudaDeviceSynchronize())) goto clean;
    if ((status = mandelbrot_launch(device, flags, count, view->iterations, view->bound)))
        goto clean;
    if ((status = cudaDeviceSynchronize())) goto clean;

    /* The lattice has done its duty on both sides. */
    status = cudaFreeHost(host);
    host = NULL;
    if (status) goto clean;
    status = cudaFreeAsync(device, stream);
    device = NULL;
    if (status) goto clean;

    if ((status = cudaMemcpyAsync(members, flags, count * sizeof *flags, cudaMemcpyDeviceToHost,
                                  stream)))
        goto clean;

    if (path) {
        if ((status = cudaDeviceSynchronize())) goto clean;
        pixels = malloc(count);
        if (!pixels) {
            status = cudaErrorMemoryAllocation;
            goto clean;
        }
        for (size_t i = 0; i < count; i++) pixels[i] = members[i] > 0.5f ? 255 : 0;
        if (mandelbrot_write_png(path, width, height, pixels)) status = cudaErrorOperatingSystem;
    }

clean:
    if (status) cudaDeviceSynchronize();
    free(pixels);
    if (flags && (e = cudaFreeAsync(flags, stream)) && !status) status = e;
    if (device && (e = cudaFreeAsync(device, stream)) && !status) status = e;
    if ((e = cudaStreamDestroy(stream)) && !status) status = e;
    if (host && (e = cudaFreeHost(host)) && !status) status = e;
    return status;
}
