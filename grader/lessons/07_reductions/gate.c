#include "grader/lessons/07_reductions/gate.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NAP_NS 500000L
#define LOOK_MS 2.0 /* at most counts for the time between two looks */

static double ms(clockid_t clock)
{
    struct timespec t;
    if (clock_gettime(clock, &t) != 0) return 0;
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* A thread's processor time, by its number: MAKE_THREAD_CPUCLOCK(number, CPUCLOCK_SCHED),
 * linux/posix-timers.h. */
static clockid_t clock_of(pid_t thread)
{
    return (clockid_t)((~(unsigned)thread << 3) | 6u);
}

/* Runs, or would if there were a processor or a disk for it. */
static int is_eager(pid_t thread)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)thread);
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    const ssize_t size = read(file, text, sizeof text - 1);
    close(file);
    text[size > 0 ? size : 0] = '\0';
    const char *state = strrchr(text, ')'); /* behind the name: " S ..." */
    return state != NULL && state[1] != '\0' && (state[2] == 'R' || state[2] == 'D');
}

struct gate gate_make(void)
{
    return (struct gate){.caller = gettid()};
}

void gate_wait(void *argument)
{
    struct gate *gate = argument;
    const struct timespec nap = {.tv_nsec = NAP_NS};
    const clockid_t callers = clock_of(gate->caller);
    double waited = 0, looked = ms(CLOCK_MONOTONIC), computed = ms(callers);

    while (!__atomic_load_n(&gate->open, __ATOMIC_ACQUIRE)) {
        nanosleep(&nap, NULL);
        const double now = ms(CLOCK_MONOTONIC), then = looked, before = computed;
        looked = now;
        computed = ms(callers);
        const double passed = now - then < LOOK_MS ? now - then : LOOK_MS;
        if (computed - before > passed || is_eager(gate->caller))
            waited += computed - before;
        else
            waited += passed;
        if (waited <= GATE_PATIENCE_MS) continue;
        __atomic_store_n(&gate->gave_up, 1, __ATOMIC_RELEASE);
        return;
    }
}

void gate_open(struct gate *gate)
{
    __atomic_store_n(&gate->open, 1, __ATOMIC_RELEASE);
}

int gate_gave_up(struct gate *gate)
{
    return __atomic_load_n(&gate->gave_up, __ATOMIC_ACQUIRE);
}
