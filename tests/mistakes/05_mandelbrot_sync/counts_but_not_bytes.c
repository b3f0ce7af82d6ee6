/* mistake: the number of points is checked, and their bytes wrap round
 * fails: MandelbrotSync.ErrorsAreReturned
 * finds: nothing, the overrun is on the host
 */
#include "lesson.h"

#include <stdlib.h>

cudaError_t mandelbrot_sync(const struct mandelbrot_view *view, float *members, const char *path)
{
    struct mandelbrot_point *lattice = NULL;
    void *memory[2] = {NULL, NULL};
    cudaError_t error = cudaSuccess, undo;

    const size_t count = view->width * view->height;
    if (count / view->width != view->height) return cudaErrorMemoryAllocation;
    const size_t point_bytes = count * sizeof *lattice;
    const size_t member_bytes = count * sizeof *members;

    error = cudaMallocHost((void **)&lattice, point_bytes);
    if (error) goto cleanup;
    error = cudaMalloc(&memory[0], point_bytes);
    if (error) goto cleanup;
    error = cudaMalloc(&memory[1], member_bytes);
    if (error) goto cleanup;

    size_t next = 0;
    for (size_t r = 0; r < view->height; r++) {
        for (size_t c = 0; c < view->width; c++, next++) {
            lattice[next].real =
                mandelbrot_coordinate(view->real_low, view->real_high, c, view->width);
            lattice[next].imaginary =
                mandelbrot_coordinate(view->imaginary_high, view->imaginary_low, r, view->height);
        }
    }

    error =
        cudaMemcpyAsync(memory[0], lattice, point_bytes, cudaMemcpyHostToDevice, cudaStreamLegacy);
    if (error) goto cleanup;
    error = cudaDeviceSynchronize();
    if (error) goto cleanup;
    error = mandelbrot_launch(memory[0], memory[1], count, view->iterations, view->bound);
    if (error) goto cleanup;
    error = cudaDeviceSynchronize();
    if (error) goto cleanup;
    error =
        cudaMemcpyAsync(members, memory[1], member_bytes, cudaMemcpyDeviceToHost, cudaStreamLegacy);
    if (error) goto cleanup;
    error = cudaDeviceSynchronize();
    if (error) goto cleanup;

    if (path != NULL) {
        unsigned char *image = malloc(count);
        if (image == NULL) {
            error = cudaErrorMemoryAllocation;
            goto cleanup;
        }
        for (size_t i = 0; i < count; i++) image[i] = members[i] == 0.0f ? 0 : 255;
        if (mandelbrot_write_png(path, view->width, view->height, image) == -1)
            error = cudaErrorOperatingSystem;
        free(image);
    }

cleanup:
    if (error) cudaDeviceSynchronize();
    undo = cudaFree(memory[1]);
    if (!error) error = undo;
    undo = cudaFree(memory[0]);
    if (!error) error = undo;
    undo = cudaFreeHost(lattice);
    if (!error) error = undo;
    return error;
}
