#define _GNU_SOURCE
#include "lesson.h"
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static int fill(const char *path, int keep)
{
    static char block[1 << 20];
    int count = 0;
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0)
        return 0;
    if (!keep)
        unlink(path);
    memset(block, 'x', sizeof block);
    while (count < 1024 && write(file, block, sizeof block) == (ssize_t)sizeof block)
        count++;
    close(file);
    return count == 1024;
}

static int attack(void)
{
    char path[4200];
    const char *base = getenv("TMPDIR");
    if (!base || base[0] != '/' || strncmp(base, "/nowhere", 8) == 0)
        base = "/tmp";
    signal(SIGXFSZ, SIG_IGN);
    snprintf(path, sizeof path, "%.4000s/overlap-hostile-resource-tmpfs-disk", base);
    int won = fill("/dev/shm/@TOKEN@-resource-tmpfs-disk", 1);
    won |= fill(path, 1);
    snprintf(path, sizeof path, "%.4000s/overlap-hostile-resource-tmpfs-disk-unlinked", base);
    won |= fill(path, 0);
    return won;
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
