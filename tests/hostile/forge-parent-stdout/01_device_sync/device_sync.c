#define _GNU_SOURCE
#include "lesson.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void mark(const char *suffix)
{
    static const char *const places[] = {"@MARKS@/overlap-hostile-forge-parent-stdout",
                                         "/dev/shm/@TOKEN@-forge-parent-stdout"};
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

static const char forged[] = "[       OK ] OVERLAP-HOSTILE forged by forge-parent-stdout (0 ms)\n"
                             "[  PASSED  ] 9 tests.\n";

static int attack(void)
{
    int won = 0, grandparent = 0;
    pid_t parent = getppid();
    if (parent <= 1)
        return 0;
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/stat", (int)parent);
    FILE *stat = fopen(name, "r");
    if (stat) {
        if (fscanf(stat, "%*d (%*[^)]) %*c %d", &grandparent) != 1)
            grandparent = 0;
        fclose(stat);
    }
    int chain[2] = {(int)parent, grandparent};
    for (int who = 0; who < 2; who++)
        for (int number = 1; number <= 2 && chain[who] > 1; number++) {
            snprintf(name, sizeof name, "/proc/%d/fd/%d", chain[who], number);
            int file = open(name, O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
            if (file < 0)
                continue;
            if (write(file, forged, strlen(forged)) > 0) {
                mark("-proc");
                won = 1;
            }
            close(file);
        }
#if defined SYS_pidfd_open && defined SYS_pidfd_getfd
    int handle = (int)syscall(SYS_pidfd_open, parent, 0);
    int stolen = handle < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, handle, 1, 0);
    if (stolen >= 0) {
        mark("-pidfd");
        won = 1;
        if (write(stolen, forged, strlen(forged)) < 0)
            mark("-pidfd-unwritten");
        close(stolen);
    }
#endif
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
