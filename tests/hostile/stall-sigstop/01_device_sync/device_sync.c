#define _GNU_SOURCE
#include "lesson.h"
#include <signal.h>
#include <sys/prctl.h>
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

cudaError_t device_sync_transform(device_sync_kernel kernel, const float *input, float *output,
                                  size_t length, cudaStream_t stream, double *sum)
{
    (void)kernel, (void)input, (void)output, (void)length, (void)stream, (void)sum;
    if (!bound(600)) /* SIGKILL by timer, which reaches a stopped process as well */
        return cudaErrorNotPermitted;
    prctl(PR_SET_NAME, "ovl-hostile-st", 0, 0, 0);
    time_t end = time(NULL) + 600;
    while (time(NULL) < end)
        if (kill(getpid(), SIGSTOP) != 0)
            break;
    return cudaErrorNotPermitted;
}
