#define _GNU_SOURCE
#include "lesson.h"
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

/* Whatever else happens, this process is gone after that many seconds. 0: no timer to be had. */
static int bound(int seconds)
{
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    struct itimerspec when = {.it_value = {.tv_sec = seconds}};
    return timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 &&
           timer_settime(timer, 0, &when, NULL) == 0;
}

static void *spin(void *unused)
{
    struct timespec start, now;
    sigset_t all;
    (void)unused;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    clock_gettime(CLOCK_MONOTONIC, &start);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while (now.tv_sec - start.tv_sec < 600);
    return NULL;
}

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    pthread_t other;
    (void)kernel, (void)input, (void)output, (void)length, (void)stream, (void)sum;
    bound(600);
    prctl(PR_SET_NAME, "ovl-hostile-sp", 0, 0, 0);
    for (int number = 1; number < 65; number++)
        signal(number, SIG_IGN);
    if (pthread_create(&other, NULL, spin, NULL) == 0)
        pthread_detach(other);
    spin(NULL);
    return cudaSuccess;
}
