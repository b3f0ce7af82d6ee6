#include "emulator/exec/machine/pool.h"

#include "emulator/exec/exec.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { MOST_THREADS = 63 };

static struct exec_pool {
    pthread_mutex_t lock;
    pthread_cond_t work; /* there is a job for threads below `wanted` */
    pthread_cond_t idle; /* the last thread of a job has finished */
    pid_t owner;         /* process in which the threads exist */
    unsigned threads;    /* number of threads */
    unsigned wanted;     /* threads that may take part in the present job */
    unsigned running;    /* threads that take part */
    unsigned long job_number;
    bool busy;
    void (*job)(void *, unsigned);
    void *argument;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .work = PTHREAD_COND_INITIALIZER,
          .idle = PTHREAD_COND_INITIALIZER};

static _Thread_local bool is_ours; /* the calling thread is one of the pool's */

static void *thread_main(void *argument)
{
    is_ours = true;
    const unsigned self = (unsigned)(unsigned long)argument;
    unsigned long seen = 0;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        while (pool.job_number == seen || self >= pool.wanted) {
            seen = pool.job_number;
            pthread_cond_wait(&pool.work, &pool.lock);
        }
        seen = pool.job_number;
        pool.running++;
        void (*const job)(void *, unsigned) = pool.job;
        void *const job_argument = pool.argument;
        pthread_mutex_unlock(&pool.lock);
        job(job_argument, self + 1);
        pthread_mutex_lock(&pool.lock);
        if (--pool.running == 0) pthread_cond_signal(&pool.idle);
    }
    return NULL;
}

/* The threads block the process's signals, which the program's handlers expect on the program's own
 * threads. */
static void start_threads(unsigned count)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes)) return;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool.threads < count) {
        pthread_t thread;
        if (pthread_create(&thread, &attributes, thread_main, (void *)(unsigned long)pool.threads))
            break;
        pool.threads++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

/* First use, in this process or in a forked child: none of the threads exists here, whatever state
 * they left the structure in. */
static void adopt(void)
{
    if (__atomic_load_n(&pool.owner, __ATOMIC_ACQUIRE) == getpid()) return;
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.work, NULL);
    pthread_cond_init(&pool.idle, NULL);
    pool.threads = 0;
    pool.wanted = 0;
    pool.running = 0;
    pool.busy = false;
    __atomic_store_n(&pool.owner, getpid(), __ATOMIC_RELEASE);
}

unsigned exec_pool_processors(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set)) return 1;
    const int count = CPU_COUNT(&set);
    return count < 1 ? 1 : (unsigned)count;
}

unsigned exec_threads(void)
{
    /* In a forked child the lock may be held for ever by a thread that is not there. */
    if (__atomic_load_n(&pool.owner, __ATOMIC_ACQUIRE) != getpid()) return 0;
    pthread_mutex_lock(&pool.lock);
    const unsigned threads = pool.threads;
    pthread_mutex_unlock(&pool.lock);
    return threads;
}

bool exec_is_thread(void)
{
    return is_ours;
}

void exec_pool_run(unsigned workers, void (*job)(void *argument, unsigned worker), void *argument)
{
    bool shared = false;
    if (workers > MOST_THREADS + 1) workers = MOST_THREADS + 1;
    if (workers > 1) {
        adopt();
        pthread_mutex_lock(&pool.lock);
        if (!pool.busy) {
            if (pool.threads < workers - 1) start_threads(workers - 1);
            pool.wanted = workers - 1 < pool.threads ? workers - 1 : pool.threads;
            pool.job = job;
            pool.argument = argument;
            pool.job_number++;
            pool.busy = shared = true;
            pthread_cond_broadcast(&pool.work);
        }
        pthread_mutex_unlock(&pool.lock);
    }
    job(argument, 0);
    if (!shared) return;
    /* A thread that has not woken up by now would find nothing to do, so it is not waited for. */
    pthread_mutex_lock(&pool.lock);
    pool.wanted = 0;
    while (pool.running) pthread_cond_wait(&pool.idle, &pool.lock);
    pool.busy = false;
    pthread_mutex_unlock(&pool.lock);
}
