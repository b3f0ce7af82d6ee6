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

uint64_t monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void thread_spend(double ns)
{
    thread.clock_ns += (uint64_t)ns;
}

void thread_wait_until(uint64_t ns)
{
    if (ns > thread.clock_ns) thread.clock_ns = ns;
}

void thread_spend_exclusively(double ns)
{
    thread_wait_until(driver.exclusive_ns);
    thread_spend(ns);
    driver.exclusive_ns = thread.clock_ns;
}

bool driver_lock_within(unsigned ms)
{
    struct timespec until;
    if (thread.locked) return false;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += (long)(ms % 1000) * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    return pthread_mutex_clocklock(&driver.lock, CLOCK_MONOTONIC, &until) == 0;
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
