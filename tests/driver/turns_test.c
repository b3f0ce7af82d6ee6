/* Host threads in turns (OVERLAP_TURNS=on): the times of a program with several threads are the
 * same to the nanosecond, however the system schedules them. Each process below is disturbed in
 * another way, by threads that yield, sleep and compute between their calls, and by one processor
 * for all. Nothing blocks for ever: neither where a call waits for another thread nor where a
 * thread waits in a way unknown to the device. */
#include "emulator/driver/driver.h"
#include "tests/driver/support.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 5, STEPS = 6, DISTURBED = 16, BYTES = 1 << 20 };

/* The clock readings of a process. */
struct times {
    uint64_t workers[WORKERS][STEPS];
    float elapsed[WORKERS]; /* by two events, in ms */
    uint64_t started[WORKERS], ended;
};

static _Thread_local uint64_t disturbance; /* 0: none */

static void disturb(void)
{
    if (disturbance == 0) return;
    disturbance = disturbance * 6364136223846793005u + 1442695040888963407u;
    const unsigned draw = (unsigned)(disturbance >> 40);
    if (draw % 4 == 1)
        for (unsigned i = 0; i < draw / 4 % 8; i++) sched_yield();
    if (draw % 4 == 2) usleep(draw / 4 % 3000);
    if (draw % 4 == 3)
        for (volatile unsigned i = 0; i < draw / 4 % 1000000; i++) continue;
}

struct worker {
    unsigned index;
    uint64_t disturbance;
    CUcontext shared;
    struct times *times;
};

/* Two of three workers use a context of their own; the others share one, with a stream each. */
static void *work(void *argument)
{
    const struct worker *worker = argument;
    struct times *times = worker->times;
    uint64_t *clocks = times->workers[worker->index];
    const bool shares = worker->index % 3 == 1;
    CUcontext own;
    CUstream stream;
    CUdeviceptr p;
    CUevent begin, end;
    void *host = calloc(1, BYTES);

    disturbance = worker->disturbance;
    if (disturbance == 0) usleep(5000); /* here the first thread comes first, elsewhere last */
    disturb();
    if (shares)
        OK(cuCtxSetCurrent(worker->shared));
    else
        OK(cuCtxCreate(&own, NULL, 0, 0));
    clocks[0] = overlap_host_clock();
    disturb();
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&begin, 0));
    OK(cuEventCreate(&end, 0));
    OK(cuMemAlloc(&p, BYTES));
    disturb();
    clocks[1] = overlap_host_clock();
    OK(cuEventRecord(begin, stream));
    OK(cuMemcpyHtoDAsync(p, host, BYTES, stream));
    disturb();
    OK(cuMemsetD8Async(p, 1, BYTES, stream));
    OK(cuMemcpyDtoHAsync(host, p, BYTES, stream));
    OK(cuEventRecord(end, stream));
    clocks[2] = overlap_host_clock();
    disturb();
    OK(cuStreamSynchronize(stream));
    clocks[3] = overlap_host_clock();
    OK(cuEventElapsedTime(&times->elapsed[worker->index], begin, end));
    disturb();
    OK(cuMemFree(p));
    OK(cuEventDestroy(begin));
    OK(cuEventDestroy(end));
    OK(cuStreamDestroy(stream));
    clocks[4] = overlap_host_clock();
    disturb();
    if (!shares) OK(cuCtxDestroy(own));
    clocks[5] = overlap_host_clock();
    free(host);
    return NULL;
}

static void run_workers(uint64_t seed, struct times *times)
{
    struct worker workers[WORKERS];
    pthread_t threads[WORKERS];
    static char host[BYTES];
    CUcontext shared;
    CUdeviceptr p;

    disturbance = seed;
    OK(cuInit(0));
    OK(cuCtxCreate(&shared, NULL, 0, 0));
    for (unsigned i = 0; i < WORKERS; i++) {
        workers[i] = (struct worker){i, seed == 0 ? 0 : seed + i, shared, times};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
        disturb();
        if (i == 2) { /* calls in between: the copy engine is to be the first thread's first */
            if (seed != 0) usleep(5000);
            OK(cuMemAlloc(&p, BYTES));
            OK(cuMemcpyHtoD(p, host, BYTES));
        }
        times->started[i] = overlap_host_clock();
    }
    for (unsigned i = 0; i < WORKERS; i++) pthread_join(threads[i], NULL);
    times->ended = overlap_host_clock();
    OK(cuCtxDestroy(shared));
}

/* ---- threads beside: the first two never call the device and never end, as libraries have them */

static void *nap(void *unused)
{
    for (;;) usleep(20000);
    return unused;
}

static void *compute(void *unused)
{
    for (;;) sched_yield();
    return unused;
}

static atomic_int flag;

static void *call_and_flag(void *unused)
{
    (void)unused;
    OK(cuInit(0));
    atomic_store(&flag, 1);
    return NULL;
}

typedef void *beside_fn(void *unused);

static void start_beside(beside_fn *beside)
{
    pthread_t thread;
    if (beside == NULL) return;
    if (beside == call_and_flag) OK(cuInit(0)); /* whose call is the first is the first thread */
    ck_assert_int_eq(pthread_create(&thread, NULL, beside, NULL), 0);
    if (beside != call_and_flag) return;
    while (!atomic_load(&flag)) usleep(1000);
    pthread_join(thread, NULL);
}

/* Runs in a process of its own, on one processor if `alone`, with a thread `beside` unless NULL. */
static void run_apart(uint64_t seed, bool alone, beside_fn *beside, struct times *times)
{
    const pid_t child = fork();
    int status = 0;
    if (child == 0) {
        cpu_set_t set;
        ck_assert_int_eq(sched_getaffinity(0, sizeof set, &set), 0);
        for (int i = 0, first = 1; i < CPU_SETSIZE && alone; i++) {
            if (!CPU_ISSET(i, &set)) continue;
            if (!first) CPU_CLR(i, &set);
            first = 0;
        }
        ck_assert_int_eq(sched_setaffinity(0, sizeof set, &set), 0);
        start_beside(beside);
        run_workers(seed, times);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(status == 0, "seed %d ended with %d", (int)seed, status);
}

/* Compares an undisturbed process with those of the seeds `first` to DISTURBED. */
static void compare_runs(unsigned first, beside_fn *beside)
{
    struct times *times =
        mmap(NULL, 2 * sizeof *times, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(times, MAP_FAILED);
    const struct times *expected = &times[0], *found = &times[1];
    setenv("OVERLAP_TURNS", "on", 1);
    run_apart(0, false, beside, &times[0]);
    ck_assert_uint_gt(expected->ended, 0);
    for (unsigned i = first; i <= DISTURBED; i++) {
        memset(&times[1], 0, sizeof *times);
        run_apart(i, i % 2, beside, &times[1]);
        for (unsigned k = 0; k < WORKERS; k++)
            for (unsigned s = 0; s < STEPS; s++)
                ck_assert_msg(found->workers[k][s] == expected->workers[k][s],
                              "process %u, worker %u, step %u: %llu, not %llu", i, k, s,
                              (unsigned long long)found->workers[k][s],
                              (unsigned long long)expected->workers[k][s]);
        ck_assert_uint_eq(found->ended, expected->ended);
        ck_assert_msg(memcmp(found, expected, sizeof *times) == 0, "process %u", i);
    }
    munmap(times, 2 * sizeof *times);
}

START_TEST(times_do_not_hang_on_the_systems_order)
{
    compare_runs(1, NULL);
}
END_TEST

/* A thread that is no longer waited for changes nothing between the others, and it is waited for
 * again once it comes. */
START_TEST(nor_beside_a_thread_that_is_given_up)
{
    static beside_fn *const besides[] = {nap, compute, call_and_flag};
    compare_runs(DISTURBED - 1, besides[_i]);
}
END_TEST

/* Contexts are made one at a time in a process, in the order of the threads' clocks: all of them
 * are made before the first is destroyed, if all threads begin at the same time. */
static void *make_and_destroy(void *argument)
{
    uint64_t *made = argument;
    CUcontext context;
    OK(cuCtxCreate(&context, NULL, 0, 0));
    *made = overlap_host_clock();
    OK(cuCtxDestroy(context));
    return NULL;
}

START_TEST(who_comes_first_is_served_first)
{
    uint64_t made[WORKERS];
    pthread_t threads[WORKERS];
    setenv("OVERLAP_TURNS", "on", 1);
    test_begin(LATEST);
    OK(cuInit(0));
    const uint64_t begun = overlap_host_clock();
    for (unsigned i = 0; i < WORKERS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, make_and_destroy, &made[i]), 0);
    for (unsigned i = 0; i < WORKERS; i++) pthread_join(threads[i], NULL);
    const uint64_t one = made[0] - begun;
    for (unsigned i = 1; i < WORKERS; i++) {
        ck_assert_uint_gt(made[i], made[i - 1]);
        ck_assert_uint_lt(made[i] - made[i - 1], one + one / 100);
    }
}
END_TEST

/* ---- nobody waits for ever ------------------------------------------------------------------- */

static sem_t posted;

static void wait_for_post(void *unused)
{
    (void)unused;
    while (sem_wait(&posted) != 0) {
    }
}

static void *allocate_and_post(void *context)
{
    CUdeviceptr p;
    OK(cuCtxSetCurrent(context));
    OK(cuMemAlloc(&p, BYTES));
    sem_post(&posted);
    OK(cuMemFree(p));
    return NULL;
}

START_TEST(a_call_may_wait_for_another_thread)
{
    pthread_t other;
    setenv("OVERLAP_TURNS", "on", 1);
    test_context(LATEST);
    sem_init(&posted, 0, 0);
    CUstream stream = test_stream(0);
    OK(cuLaunchHostFunc(stream, wait_for_post, NULL));
    ck_assert_int_eq(pthread_create(&other, NULL, allocate_and_post, test_context_handle), 0);
    OK(cuStreamSynchronize(stream));
    pthread_join(other, NULL);
}
END_TEST

static void *allocate_and_flag(void *context)
{
    CUdeviceptr p;
    OK(cuCtxSetCurrent(context));
    OK(cuMemAlloc(&p, BYTES));
    OK(cuMemFree(p));
    atomic_store(&flag, 1);
    return NULL;
}

/* `_i`: whether the waiting thread computes or sleeps meanwhile. */
START_TEST(a_thread_may_look_for_a_flag)
{
    pthread_t other;
    setenv("OVERLAP_TURNS", "on", 1);
    test_context(LATEST);
    ck_assert_int_eq(pthread_create(&other, NULL, allocate_and_flag, test_context_handle), 0);
    while (!atomic_load(&flag))
        if (_i) usleep(1000);
    pthread_join(other, NULL);
}
END_TEST

static void *allocate(void *context)
{
    CUdeviceptr p;
    OK(cuCtxSetCurrent(context));
    for (;;) {
        OK(cuMemAlloc(&p, BYTES));
        OK(cuMemFree(p));
    }
    return NULL;
}

/* When a process forks while threads are waiting to enter a call, the child does not wait for them.
 */
START_TEST(a_child_is_alone)
{
    pthread_t others[2];
    int status = 0;
    setenv("OVERLAP_TURNS", "on", 1);
    test_context(LATEST);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&others[i], NULL, allocate, test_context_handle), 0);
    for (int i = 0; i < 20; i++) {
        const pid_t child = fork();
        if (child == 0) _exit(cuCtxSynchronize() == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
    }
    _exit(0); /* with threads in calls */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("turns");
    TCase *tcase = tcase_create("turns");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, times_do_not_hang_on_the_systems_order);
    tcase_add_loop_test(tcase, nor_beside_a_thread_that_is_given_up, 0, 3);
    tcase_add_test(tcase, who_comes_first_is_served_first);
    tcase_add_test(tcase, a_call_may_wait_for_another_thread);
    tcase_add_loop_test(tcase, a_thread_may_look_for_a_flag, 0, 2);
    tcase_add_test(tcase, a_child_is_alone);
    suite_add_tcase(suite, tcase);
    return test_main(suite);
}
