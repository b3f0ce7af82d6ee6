/* mistake: the picture's bytes are an array on the stack, whatever their number
 * fails: MandelbrotSync.ALargePictureIsRight
 * finds: nothing, the host's stack is no business of the device's
 */
#include "lesson.h"

#include <stdint.h>

static void fill_lattice(const struct mandelbrot_view *view, struct mandelbrot_point *lattice)
{
    for (size_t row = 0; row < view->height; row++) {
        float imaginary =
            mandelbrot_coordinate(view->imaginary_high, view->imaginary_low, row, view->height);
        for (size_t column = 0; column < view->width; column++) {
            struct mandelbrot_point *point = &lattice[row * view->width + column];
            point->real =
                mandelbrot_coordinate(view->real_low, view->real_high, column, view->width);
            point->imaginary = imaginary;
        }
    }
}

static cudaError_t write_picture(const struct mandelbrot_view *view, const float *members,
                                 const char *path)
{
    size_t count = view->width * view->height;
    unsigned char pixels[count];
    for (size_t i = 0; i < count; i++) pixels[i] = members[i] != 0.0f ? 255 : 0;

    int failed = mandelbrot_write_png(path, view->width, view->height, pixels);
    return failed ? cudaErrorOperatingSystem : cudaSuccess;
}

cudaError_t mandelbrot_sync(const struct mandelbrot_view *view, float *members, const char *path)
{
    if (view->width > SIZE_MAX / sizeof(struct mandelbrot_point) / view->height)
        return cudaErrorMemoryAllocation;
    struct mandelbrot_point *lattice = NULL, *lattice_device = NULL;
    float *members_device = NULL;
    size_t count = view->width * view->height;
    size_t lattice_bytes = count * sizeof *lattice;
    size_t members_bytes = count * sizeof *members;

    cudaError_t error = cudaMalloc((void **)&lattice_device, lattice_bytes);
    if (error) goto cleanup;
    error = cudaMalloc((void **)&members_device, members_bytes);
    if (error) goto cleanup;
    error = cudaMallocHost((void **)&lattice, lattice_bytes);
    if (error) goto cleanup;
    fill_lattice(view, lattice);

    error = cudaMemcpyAsync(lattice_device, lattice, lattice_bytes, cudaMemcpyHostToDevice, 0);
    if (error) goto cleanup;
    error = cudaDeviceSynchronize();
    if (error) goto cleanup;

    error = mandelbrot_launch(lattice_device, members_device, count, view->iterations, view->bound);
    if (error) goto cleanup;
    error = cudaDeviceSynchronize();
    if (error) goto cleanup;

    error = cudaMemcpyAsync(members, members_device, members_bytes, cudaMemcpyDeviceToHost, 0);
    if (error) goto cleanup;
    error = cudaDeviceSynchronize();
    if (error) goto cleanup;

    if (path) error = write_picture(view, members, path);

cleanup:
    if (error) (void)cudaDeviceSynchronize();
    cudaFreeHost(lattice);
    cudaFree(members_device);
    cudaFree(lattice_device);
    return error;
}
