#define _GNU_SOURCE
#include "lesson.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Whatever else happens, this process is gone after that many seconds. 0: no timer to be had. */
static int bound(int seconds)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    struct itimerspec when = {.it_value = {.tv_sec = seconds}};
    return timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 &&
           timer_settime(timer, 0, &when, NULL) == 0;
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

static void block(void)
{
    static const char name[] = "@MARKS@/overlap-hostile-stall-at-exit-fifo.fifo";
    int pipes[2];
    char byte;
    sigset_t all;
    if (!bound(600))
        return;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    mkfifo(name, 0600);
    int file = open(name, O_RDONLY | O_CLOEXEC);
    if (file >= 0)
        close(file);
    if (pipe(pipes) == 0 && read(pipes[0], &byte, 1) < 0) /* where there is no FIFO to be had */
        sleep(600);
}

static void *hold(void *unused)
{
    (void)unused;
    flockfile(stdout);
    sleep(600);
    return NULL;
}

__attribute__((destructor)) static void end(void)
{
    block();
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    static int done;
    pthread_t holder;
    if (!done) {
        done = 1;
        atexit(block);
        if (pthread_create(&holder, NULL, hold, NULL) == 0)
            pthread_detach(holder);
    }
    return honest(kernel, input, output, length, stream, sum);
}
