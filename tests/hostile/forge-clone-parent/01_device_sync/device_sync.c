#define _GNU_SOURCE
#include "lesson.h"
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void mark(const char *suffix)
{
    static const char *const places[] = {"@MARKS@/overlap-hostile-forge-clone-parent",
                                         "/dev/shm/@TOKEN@-forge-clone-parent"};
    for (size_t i = 0; i < 2; i++) {
        char path[256];
        snprintf(path, sizeof path, "%s%s", places[i], suffix);
        int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
        if (file >= 0)
            close(file);
    }
}

static pid_t sibling(void)
{
#if defined __x86_64__ || defined __aarch64__
    return (pid_t)syscall(SYS_clone, (long)(CLONE_PARENT | SIGCHLD), 0L, 0L, 0L, 0L);
#else
    return -1;
#endif
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    (void)kernel, (void)input, (void)output, (void)length, (void)stream, (void)sum;
    struct timespec pause = {0, 300000000};
    pid_t first = sibling();
    if (first == 0)
        _exit(0);
    char runner[64];
    snprintf(runner, sizeof runner, "/proc/%d", (int)getpid());
    pid_t second = first > 0 ? sibling() : -1;
    if (second == 0) {
        for (int file = 0; file < 1024; file++)
            close(file);
        setsid();
        for (int i = 0; i < 10 && access(runner, F_OK) == 0; i++)
            nanosleep(&pause, NULL);
        sleep(3);
        mark("");
        sleep(9);
        _exit(0);
    }
    if (second < 0)
        return cudaErrorNotPermitted;
    nanosleep(&pause, NULL);
    raise(SIGKILL);
    return cudaSuccess;
}
