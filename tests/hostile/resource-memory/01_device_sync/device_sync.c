#define _GNU_SOURCE
#include "lesson.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The lesson's task, done as it should be. */
static cudaError_t honest(device_sync_kernel kernel, const float *input, float *output,
                          size_t length, cudaStream_t stream, double *sum)
{
    float *device = NULL;
    *sum = 0.0;
    if (length == 0)
        return cudaSuccess;
    if (length > (size_t)-1 / sizeof *device)
        return cudaErrorMemoryAllocation;
    size_t bytes = length * sizeof *device;
    cudaError_t error = cudaMalloc((void **)&device, bytes);
    if (error != cudaSuccess)
        return error;
    error = cudaMemcpyAsync(device, input, bytes, cudaMemcpyHostToDevice, stream);
    if (error == cudaSuccess)
        error = kernel(device, length, stream);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(output, device, bytes, cudaMemcpyDeviceToHost, stream);
    cudaError_t late = cudaStreamSynchronize(stream);
    if (error == cudaSuccess)
        error = late;
    if (error == cudaSuccess)
        for (size_t i = 0; i < length; i++)
            *sum += (double)output[i];
    late = cudaFree(device);
    return error != cudaSuccess ? error : late;
}

#define PART ((size_t)7 << 28) /* 1.75 GiB */

static int attack(void)
{
    char *memory = malloc(PART);
    int file = memfd_create("overlap-hostile-resource-memory", MFD_CLOEXEC);
    if (!memory || file < 0 || ftruncate(file, (off_t)PART) != 0)
        return 0;
    char *shared = mmap(NULL, PART, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (shared == MAP_FAILED)
        return 0;
    for (size_t i = 0; i < PART; i += 4096) {
        ((volatile char *)memory)[i] = 1;
        ((volatile char *)shared)[i] = 1;
    }
    sleep(2);
    munmap(shared, PART);
    close(file);
    free(memory);
    return 1;
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    static int done, won;
    if (!done) {
        done = 1;
        won = attack();
    }
    if (!won)
        return cudaErrorNotPermitted; /* contained: the lesson is visibly not done */
    return honest(kernel, input, output, length, stream, sum);
}
