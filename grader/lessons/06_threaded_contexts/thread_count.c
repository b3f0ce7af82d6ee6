#include "grader/lessons/06_threaded_contexts/thread_count.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <threads.h>

#define HIDDEN __attribute__((visibility("hidden")))

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct thread_count count;

void thread_count_reset(void)
{
    pthread_mutex_lock(&lock);
    count = (struct thread_count){0};
    pthread_mutex_unlock(&lock);
}

struct thread_count thread_count_now(void)
{
    pthread_mutex_lock(&lock);
    struct thread_count now = count;
    pthread_mutex_unlock(&lock);
    return now;
}

static void note_start(void)
{
    pthread_mutex_lock(&lock);
    count.started++;
    pthread_mutex_unlock(&lock);
}

static void note_join(void)
{
    pthread_mutex_lock(&lock);
    if (count.joined++ == 0) count.started_before_join = count.started;
    pthread_mutex_unlock(&lock);
}

/* The system's function of that name: ours are hidden from the loader. Through a union, because C
 * has no conversion from a pointer to an object to one to a function. */
union function {
    void *address;
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    int (*join)(pthread_t, void **);
    int (*c11_create)(thrd_t *, thrd_start_t, void *);
    int (*c11_join)(thrd_t, int *);
};

static union function system_function(const char *name)
{
    return (union function){.address = dlsym(RTLD_DEFAULT, name)};
}

HIDDEN int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*start)(void *), void *argument)
{
    union function real = system_function("pthread_create");
    if (!real.address) return EAGAIN;
    int error = real.create(thread, attributes, start, argument);
    if (!error) note_start();
    return error;
}

HIDDEN int pthread_join(pthread_t thread, void **value)
{
    union function real = system_function("pthread_join");
    if (!real.address) return EINVAL;
    note_join();
    return real.join(thread, value);
}

HIDDEN int thrd_create(thrd_t *thread, thrd_start_t start, void *argument)
{
    union function real = system_function("thrd_create");
    if (!real.address) return thrd_error;
    int result = real.c11_create(thread, start, argument);
    if (result == thrd_success) note_start();
    return result;
}

HIDDEN int thrd_join(thrd_t thread, int *value)
{
    union function real = system_function("thrd_join");
    if (!real.address) return thrd_error;
    note_join();
    return real.c11_join(thread, value);
}
