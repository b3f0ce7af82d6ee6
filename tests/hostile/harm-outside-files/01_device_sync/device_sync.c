#define _GNU_SOURCE
#include "lesson.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void mark(const char *suffix)
{
    static const char *const places[] = {"@MARKS@/overlap-hostile-harm-outside-files",
                                         "/dev/shm/@TOKEN@-harm-outside-files"};
    for (size_t i = 0; i < 2; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s%s", places[i], suffix);
        int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        if (file >= 0)
            close(file);
    }
}

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

#define VICTIM "@MARKS@/overlap-hostile-harm-outside-files-victim"

static int attack(void)
{
    int won = 0;
    const char *places[] = {"/etc/cron.d", "/var/spool/cron/crontabs", "/etc/profile.d",
                            getenv("HOME")};
    int file = open(VICTIM, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (file >= 0) {
        won |= write(file, "taken\n", 6) == 6;
        close(file);
    }
    won |= chmod(VICTIM, 0) == 0;
    won |= rename(VICTIM, VICTIM "-renamed") == 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (!places[i] || strncmp(places[i], "/nowhere", 8) == 0)
            continue;
        file = open(places[i], O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600); /* gone when closed */
        if (file >= 0) {
            mark("-create");
            won = 1;
            close(file);
        }
    }
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
