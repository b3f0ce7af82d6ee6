/* The state that all rooms share, and the calling thread's virtual clock. */
#include "emulator/driver/core/core.h"

#include <string.h>
#include <time.h>

struct driver driver = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .changed = PTHREAD_COND_INITIALIZER,
};

_Thread_local struct thread thread;

struct context *thread_context(void)
{
    return thread.depth_of_stack > 0 ? thread.stack[thread.depth_of_stack - 1] : NULL;
}

int64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    if (clock_gettime(clock, &t) != 0) return -1;
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

uint64_t monotonic_ns(void)
{
    return (uint64_t)clock_ns(CLOCK_MONOTONIC);
}

/* By the clock id MAKE_THREAD_CPUCLOCK(tid, CPUCLOCK_SCHED) of linux/posix-timers.h. */
int64_t thread_computed(pid_t tid)
{
    return clock_ns((clockid_t)((~(unsigned)tid << 3) | 6u));
}

void thread_spend(double ns)
{
    thread.clock_ns += (uint64_t)ns;
}

void thread_wait_until(uint64_t ns)
{
    if (ns > thread.clock_ns) thread.clock_ns = ns;
}

void thread_wait_for_device(uint64_t end_ns)
{
    if (end_ns <= thread.clock_ns) return;
    thread.clock_ns = end_ns;
    thread_spend(timeline_model->wake);
}

void thread_spend_exclusively(double ns)
{
    thread_wait_until(driver.exclusive_ns);
    thread_spend(ns);
    driver.exclusive_ns = thread.clock_ns;
}

void driver_lock(void)
{
    pthread_mutex_lock(&driver.lock);
    thread.locked = true;
}

void driver_unlock(void)
{
    thread.locked = false;
    pthread_mutex_unlock(&driver.lock);
}

static bool lock_until_look(void)
{
#ifdef __SANITIZE_THREAD__ /* it knows no lock with a timeout, and calls the unlocking wrong */
    for (unsigned k = 0; k < DRIVER_LOOK_MS; k++) {
        if (pthread_mutex_trylock(&driver.lock) == 0) return true;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return false;
#else
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += DRIVER_LOOK_MS * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return pthread_mutex_clocklock(&driver.lock, CLOCK_MONOTONIC, &until) == 0;
#endif
}

/* Counts short waits instead of wall-clock time, which also runs while the process is stopped. */
bool driver_waits_for(bool (*has_come)(void), unsigned ms)
{
    unsigned idle = 0;
    int64_t before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    for (unsigned all = 0; idle < ms && all < 20 * ms; all += DRIVER_LOOK_MS) {
        if (has_come()) return true;
        const int64_t after = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
        idle = after - before < DRIVER_LOOK_MS * 1000000 / 4 ? idle + DRIVER_LOOK_MS : 0;
        before = after;
    }
    return false;
}

bool driver_lock_within(unsigned ms)
{
    if (thread.locked) return false;
    /* Usually the lock is free. */
    thread.locked =
        pthread_mutex_trylock(&driver.lock) == 0 || driver_waits_for(lock_until_look, ms);
    return thread.locked;
}

uint64_t call_place(void)
{
    return thread.depth > 0 ? (uint64_t)(uintptr_t)thread.call.caller : 0;
}

void call_plain_name(char *to, size_t size, const char *name)
{
    trace_copy_string(to, size, name);
    char *end = to + strlen(to);
    if (end - to > 5 && (strcmp(end - 5, "_ptsz") == 0 || strcmp(end - 5, "_ptds") == 0))
        *(end -= 5) = '\0';
    if (end - to > 3 && end[-3] == '_' && end[-2] == 'v' && end[-1] >= '0' && end[-1] <= '9')
        end[-3] = '\0';
}
