/* Promises of threads/: what is recorded about a thread, however it is started and released, and
 * which thread runs first under which order, without ever blocking a program for good. Nothing here
 * depends on the machine's speed: expected events are waited for, and impossible ones are excluded
 * by the order. */
#include "threads/parts.h"

#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* gcc's ThreadSanitizer does not know C11 threads: code that it watches faults in one. When a
 * thread is cancelled in a call that blocks, it sees no lock that the thread takes from then on,
 * and reports races that are none. */
#ifdef __SANITIZE_THREAD__
enum { C11_THREADS = 0, CANCELLATION = 0 };
#else
enum { C11_THREADS = 1, CANCELLATION = 1 };
#endif

/* Each test is a process of its own (CK_FORK), so it can begin watching anew. */
static int file = -1; /* the trace, in memory: a test may end in any way */
static struct trace_writer *writer;
static struct trace told;

static int this_program(void *unused)
{
    (void)unused;
    return 0;
}

static const void *inside(int (*function)(void *))
{
    const union {
        int (*function)(void *);
        const void *address;
    } both = {.function = function};
    return both.address;
}

static void watch(const char *order)
{
    char path[64];
    file = trace_create_in_memory(8192, TRACE_ALL_KINDS & ~TRACE_KIND_BIT(TRACE_STACK));
    ck_assert_int_ge(file, 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    setenv(TRACE_PATH_VARIABLE, path, 1);
    writer = trace_open_from_environment();
    ck_assert_ptr_nonnull(writer);
    threads_watch(inside(this_program), order, writer);
}

static void read_trace(void)
{
    char why[256];
    trace_free(&told);
    ck_assert_msg(trace_read_descriptor(file, NULL, &told, why, sizeof why) == 0, "%s", why);
}

/* The writer stays open, because some tests leave threads. */
static void tear_down(void)
{
    trace_free(&told);
}

static size_t count_of(enum trace_kind kind, uint32_t flags)
{
    size_t count = 0;
    for (size_t i = 0; i < told.count; i++)
        count += told.records[i].kind == (uint32_t)kind && told.records[i].what == TRACE_THREAD &&
                 told.records[i].flags == flags;
    return count;
}

/* Checks how many of the reported threads were started, joined, and detached. */
static void expect(size_t started, size_t joined, size_t detached)
{
    read_trace();
    ck_assert_uint_eq(count_of(TRACE_CREATE, 0), started);
    ck_assert_uint_eq(count_of(TRACE_DESTROY, 0), joined);
    ck_assert_uint_eq(count_of(TRACE_DESTROY, TRACE_DETACHED), detached);
}

/* ---- threads ------------------------------------------------------------------------------ */

static atomic_int began, may_end;
static sem_t ended;

static void *note(void *argument)
{
    atomic_store(&began, (int)gettid());
    sem_post(&ended);
    return argument;
}

static int note11(void *argument)
{
    note(argument);
    return 11;
}

static void *until_allowed(void *argument)
{
    atomic_fetch_add(&began, 1);
    while (!atomic_load(&may_end)) sched_yield();
    sem_post(&ended);
    return argument;
}

static pthread_t start(void *(*function)(void *), void *argument)
{
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, function, argument), 0);
    return thread;
}

static pthread_t start_detached(void *(*function)(void *))
{
    pthread_attr_t attributes;
    pthread_t thread;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    ck_assert_int_eq(pthread_create(&thread, &attributes, function, NULL), 0);
    pthread_attr_destroy(&attributes);
    return thread;
}

static void set_up(void)
{
    sem_init(&ended, 0, 0);
}

static struct timespec soon(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_sec += 60;
    return t;
}

static long computed(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Computes for `milliseconds` of this thread's own time. */
static void compute(long milliseconds)
{
    const long begin = computed();
    while (computed() - begin < milliseconds) continue;
}

/* ---- what is told ------------------------------------------------------------------------- */

START_TEST(a_thread_is_told_from_its_start_to_its_join)
{
    void *value = NULL;
    watch(NULL);
    pthread_t thread = start(note, &value);
    ck_assert_int_eq(pthread_join(thread, &value), 0);
    ck_assert_ptr_eq(value, &value);
    expect(1, 1, 0);
    const struct trace_record *created = &told.records[0], *joined = &told.records[1];
    ck_assert_str_eq(created->name, "pthread_create");
    ck_assert_uint_eq(created->thread, (uint32_t)gettid());
    ck_assert_uint_eq(created->count, (uint64_t)atomic_load(&began));
    ck_assert_str_eq(joined->name, "pthread_join");
    ck_assert_uint_eq(joined->object, created->object);
    Dl_info call, own;
    ck_assert_int_ne(dladdr((void *)(uintptr_t)created->caller, &call), 0);
    ck_assert_int_ne(dladdr(inside(this_program), &own), 0);
    ck_assert_ptr_eq(call.dli_fbase, own.dli_fbase);
}
END_TEST

START_TEST(a_thread_that_nobody_joins_stays)
{
    watch(NULL);
    start(note, NULL);
    sem_wait(&ended);
    expect(1, 0, 0);
}
END_TEST

START_TEST(every_way_of_joining_is_one)
{
    struct timespec until = soon(CLOCK_REALTIME), until_clock = soon(CLOCK_MONOTONIC);
    thrd_t thread11;
    int value = 0;
    watch(NULL);
    ck_assert_int_eq(pthread_timedjoin_np(start(note, NULL), NULL, &until), 0);
    ck_assert_int_eq(pthread_clockjoin_np(start(note, NULL), NULL, CLOCK_MONOTONIC, &until_clock),
                     0);
    pthread_t thread = start(note, NULL);
    while (pthread_tryjoin_np(thread, NULL) == EBUSY) sched_yield();
    ck_assert_int_eq(thrd_create(&thread11, note11, NULL), thrd_success);
    ck_assert_int_eq(thrd_join(thread11, &value), thrd_success);
    ck_assert_int_eq(value, 11);
    expect(4, 4, 0);
}
END_TEST

static void *detach_self(void *argument)
{
    pthread_detach(pthread_self());
    return note(argument);
}

static int detach_self11(void *argument)
{
    thrd_detach(thrd_current());
    return note11(argument);
}

START_TEST(every_way_of_detaching_is_one)
{
    thrd_t thread11;
    watch(NULL);
    ck_assert_int_eq(pthread_detach(start(note, NULL)), 0);
    start(detach_self, NULL);
    start_detached(note);
    ck_assert_int_eq(thrd_create(&thread11, note11, NULL), thrd_success);
    ck_assert_int_eq(thrd_detach(thread11), thrd_success);
    ck_assert_int_eq(thrd_create(&thread11, detach_self11, NULL), thrd_success);
    for (int i = 0; i < 5; i++) sem_wait(&ended);
    expect(5, 0, 5);
}
END_TEST

START_TEST(a_thread_that_cannot_be_started_is_none)
{
    pthread_attr_t attributes;
    pthread_t thread;
    watch(NULL);
    pthread_attr_init(&attributes);
    ck_assert_int_eq(pthread_attr_setstacksize(&attributes, (size_t)1 << 56), 0);
    ck_assert_int_ne(pthread_create(&thread, &attributes, note, NULL), 0);
    expect(0, 0, 0);
    ck_assert_int_eq(pthread_join(start(note, NULL), NULL), 0);
    expect(1, 1, 0);
}
END_TEST

START_TEST(a_join_that_fails_leaves_it_to_be_joined)
{
    struct timespec past = {0};
    watch(NULL);
    pthread_t thread = start(until_allowed, NULL);
    ck_assert_int_eq(pthread_tryjoin_np(thread, NULL), EBUSY);
    ck_assert_int_eq(pthread_timedjoin_np(thread, NULL, &past), ETIMEDOUT);
    expect(1, 0, 0);
    atomic_store(&may_end, 1);
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
    expect(1, 1, 0);
}
END_TEST

START_TEST(a_handle_may_be_that_of_a_new_thread)
{
    watch(NULL);
    for (int i = 0; i < 100; i++) ck_assert_int_eq(pthread_join(start(note, NULL), NULL), 0);
    start(note, NULL); /* most likely at the address of those before it */
    sem_wait(&ended);
    expect(101, 100, 0);
}
END_TEST

START_TEST(threads_of_other_modules_are_not_told)
{
    watch(NULL);
    threads_watch((const void *)(uintptr_t)dlsym(RTLD_DEFAULT, "strtol"), "latest", writer);
    pthread_t thread = start(until_allowed, NULL);
    while (atomic_load(&began) == 0) sched_yield(); /* and is not held back */
    atomic_store(&may_end, 1);
    pthread_join(thread, NULL);
    expect(0, 0, 0);
}
END_TEST

static void *exits(void *argument)
{
    pthread_exit(argument);
}

static void *never(void *argument)
{
    for (;;) pause();
    return argument;
}

START_TEST(it_may_end_in_any_way)
{
    static const char *const orders[] = {NULL, "latest", "earliest"};
    void *value;
    watch(orders[_i]);
    ck_assert_int_eq(pthread_join(start(exits, &value), &value), 0);
    ck_assert_ptr_eq(value, &value);
    if (CANCELLATION) {
        pthread_t thread = start(never, NULL);
        ck_assert_int_eq(pthread_cancel(thread), 0);
        usleep(20000); /* a held-back thread checks on this one in the meantime */
        ck_assert_int_eq(pthread_join(thread, &value), 0);
        ck_assert_ptr_eq(value, PTHREAD_CANCELED);
    }
    expect(1 + CANCELLATION, 1 + CANCELLATION, 0);
    threads_settle(); /* no thread is left: it returns */
}
END_TEST

/* ---- processes ---------------------------------------------------------------------------- */

static void *forks(void *argument)
{
    pid_t *child = argument;
    pthread_t thread = start(note, NULL); /* held back, under latest */
    *child = fork();
    if (*child != 0) {
        pthread_join(thread, NULL);
        return NULL;
    }
    /* The only thread of the child: neither its starter nor the threads that it started exist
     * here. */
    if (threads_first() != NULL || order_holds_any()) _exit(8);
    thread = start(note, NULL);
    sem_wait(&ended);
    pthread_join(thread, NULL);
    start(note, NULL);
    sem_wait(&ended);
    _exit(7);
}

/* AddressSanitizer's allocator does not look after its locks at a fork, as the C library's does: if
 * another thread was in it, the child hangs in its first free. ThreadSanitizer keeps the parent's
 * threads in the child, and ends it where a new one has the handle of one of those. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define FORK_ORDERS 0
#else
#define FORK_ORDERS 4
#endif

START_TEST(a_forked_child_has_its_own)
{
    static const char *const orders[] = {NULL, "latest", "earliest", "random:5"};
    pid_t child = 0;
    int status = 0;
    watch(orders[_i]);
    pthread_t left = start(until_allowed, NULL);
    ck_assert_int_eq(pthread_join(start(forks, &child), NULL), 0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(WEXITSTATUS(status), 7);
    read_trace();
    int balance = 0;
    for (size_t i = 0; i < told.count; i++)
        if (told.records[i].process == (uint32_t)child)
            balance += told.records[i].kind == TRACE_CREATE    ? 1
                       : told.records[i].kind == TRACE_DESTROY ? -1
                                                               : 0;
    ck_assert_int_eq(balance, 1);
    atomic_store(&may_end, 1);
    pthread_join(left, NULL);
    expect(5, 4, 0);
}
END_TEST

/* ---- who goes first ----------------------------------------------------------------------- */

enum wait {
    JOIN,
    TRY_JOIN,
    JOINED_BY_ANOTHER,
    SEM,
    SEM_TIMED,
    SEM_CLOCK,
    BARRIER,
    COND,
    COND_TIMED,
    COND_CLOCK,
    CND,
    CND_TIMED,
    WAITS
};

/* What a starter waits for, and a helper thread that always lets it go on at once. */
static struct {
    enum wait how;
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    pthread_barrier_t barrier;
    mtx_t mutex11;
    cnd_t condition11;
    atomic_int stop;
    _Atomic pthread_t wanted; /* by JOINED_BY_ANOTHER */
} waits = {.mutex = PTHREAD_MUTEX_INITIALIZER, .condition = PTHREAD_COND_INITIALIZER};

static void *helps(void *argument)
{
    if (waits.how == BARRIER) pthread_barrier_wait(&waits.barrier);
    while (waits.how >= SEM && !atomic_load(&waits.stop)) {
        sem_post(&ended);
        pthread_mutex_lock(&waits.mutex);
        pthread_cond_signal(&waits.condition);
        pthread_mutex_unlock(&waits.mutex);
        mtx_lock(&waits.mutex11);
        cnd_signal(&waits.condition11);
        mtx_unlock(&waits.mutex11);
        sched_yield();
    }
    if (waits.how == JOINED_BY_ANOTHER) {
        while (atomic_load(&waits.wanted) == 0) sched_yield();
        pthread_join(atomic_load(&waits.wanted), NULL);
    }
    return argument;
}

static void wait_once(pthread_t helper, pthread_t thread)
{
    const struct timespec until = soon(CLOCK_REALTIME), until_clock = soon(CLOCK_MONOTONIC);
    pthread_mutex_t *mutex = &waits.mutex;
    pthread_cond_t *condition = &waits.condition;
    switch (waits.how) {
    case JOIN:
        pthread_join(helper, NULL);
        break;
    case TRY_JOIN:
        pthread_tryjoin_np(thread, NULL);
        break;
    case JOINED_BY_ANOTHER:
        atomic_store(&waits.wanted, thread);
        break;
    case SEM:
        sem_wait(&ended);
        break;
    case SEM_TIMED:
        sem_timedwait(&ended, &until);
        break;
    case SEM_CLOCK:
        sem_clockwait(&ended, CLOCK_MONOTONIC, &until_clock);
        break;
    case BARRIER:
        pthread_barrier_wait(&waits.barrier);
        break;
    case COND:
        pthread_cond_wait(condition, mutex);
        break;
    case COND_TIMED:
        pthread_cond_timedwait(condition, mutex, &until);
        break;
    case COND_CLOCK:
        pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, &until_clock);
        break;
    case CND:
        cnd_wait(&waits.condition11, &waits.mutex11);
        break;
    default:
        cnd_timedwait(&waits.condition11, &waits.mutex11, &until);
    }
}

/* A thread that sleeps briefly again and again, and computes next to nothing, waits in an unknown
 * way. Giving up such a wait takes about a second, a thousand naps. */
enum { FEW_NAPS = 700 };
static int naps_until(atomic_int *value)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    int naps = 0;
    for (; atomic_load(value) == 0; naps++) nanosleep(&nap, NULL);
    return naps;
}

START_TEST(latest_nothing_begins_before_its_starter_waits)
{
    waits.how = (enum wait)_i;
    mtx_init(&waits.mutex11, mtx_plain);
    cnd_init(&waits.condition11);
    pthread_barrier_init(&waits.barrier, NULL, 2);
    watch(NULL);
    pthread_t helper = start(helps, NULL); /* held by nobody */
    order_set("latest");

    pthread_t thread = start(note, NULL);
    compute(4);
    ck_assert_int_eq(atomic_load(&began), 0);
    if (_i < CND)
        pthread_mutex_lock(&waits.mutex);
    else
        mtx_lock(&waits.mutex11);
    wait_once(helper, thread);
    if (_i < CND)
        pthread_mutex_unlock(&waits.mutex);
    else
        mtx_unlock(&waits.mutex11);
    ck_assert(waits.how == JOINED_BY_ANOTHER || !order_holds_any());
    ck_assert_int_lt(naps_until(&began), FEW_NAPS);

    atomic_store(&waits.stop, 1);
    if (_i != JOIN) pthread_join(helper, NULL);
    if (_i != TRY_JOIN && _i != JOINED_BY_ANOTHER) pthread_join(thread, NULL);
}
END_TEST

START_TEST(latest_a_nap_is_no_wait)
{
    watch("latest");
    pthread_t thread = start(note, NULL);
    const struct timespec nap = {.tv_nsec = 100000};
    nanosleep(&nap, NULL);
    compute(2);
    ck_assert_int_eq(atomic_load(&began), 0);
    pthread_join(thread, NULL);
}
END_TEST

static int pipes[2];

static void *writes(void *argument)
{
    atomic_store(&began, 1);
    ck_assert_int_eq(write(pipes[1], "x", 1), 1);
    return argument;
}

static void *reads(void *argument)
{
    char c;
    atomic_store(&began, 1);
    ck_assert_int_eq(read(pipes[0], &c, 1), 1);
    return argument;
}

static void *counts_naps(void *naps)
{
    atomic_store((atomic_int *)naps, naps_until(&began));
    return naps;
}

/* On a busy machine there may be many naps before the new thread gets a processor; but not ten
 * times in a row. */
START_TEST(a_wait_that_is_not_known_stops_nobody)
{
    enum { ATTEMPTS = 10 };
    atomic_int naps = FEW_NAPS;
    char c;
    ck_assert_int_eq(pipe(pipes), 0);
    watch(NULL);
    for (int i = 0; i < ATTEMPTS && atomic_load(&naps) >= FEW_NAPS; i++) {
        atomic_store(&began, 0);
        order_set("sideways");
        pthread_t watcher = start(counts_naps, &naps);
        order_set("latest");
        pthread_t thread = start(writes, NULL);
        ck_assert_int_eq(read(pipes[0], &c, 1), 1);
        pthread_join(watcher, NULL);
        pthread_join(thread, NULL);
    }
    ck_assert_int_lt(atomic_load(&naps), FEW_NAPS);
}
END_TEST

START_TEST(a_starter_that_only_looks_stops_nobody)
{
    watch("latest");
    pthread_t thread = start(until_allowed, NULL);
    const long begin = computed();
    while (atomic_load(&began) == 0) continue;
    ck_assert_int_lt(computed() - begin, 500);
    atomic_store(&may_end, 1);
    pthread_join(thread, NULL);
}
END_TEST

static void *waits_for_the_semaphore(void *argument)
{
    sem_wait(&ended);
    return argument;
}

static void *waits_in_a_second(void *argument)
{
    pthread_t second = start(note, NULL);
    compute(4);
    ck_assert_int_eq(atomic_load(&began), 0); /* its starter is this thread */
    pthread_join(second, NULL);
    return argument;
}

START_TEST(a_thread_holds_back_those_that_it_starts)
{
    watch("latest");
    ck_assert_int_eq(pthread_join(start(waits_in_a_second, NULL), NULL), 0);
    expect(2, 2, 0);
}
END_TEST

static void *takes_its_time(void *argument)
{
    compute(4);
    return note(argument);
}

START_TEST(earliest_the_starter_finds_it_done)
{
    thrd_t thread11;
    watch("earliest");
    pthread_t thread = start(takes_its_time, NULL);
    ck_assert_int_ne(atomic_load(&began), 0);
    atomic_store(&began, 0);
    ck_assert_int_eq(thrd_create(&thread11, note11, NULL), thrd_success);
    ck_assert_int_ne(atomic_load(&began), 0);
    atomic_store(&began, 0);
    start_detached(takes_its_time);
    ck_assert_int_ne(atomic_load(&began), 0);
    pthread_join(thread, NULL);
    thrd_join(thread11, NULL);
    expect(3, 2, 1);
}
END_TEST

static atomic_int starter_went_on, held_behind_the_wait;

static void *waits_for_what_is_there(void *argument)
{
    sem_wait(&ended);
    atomic_store(&held_behind_the_wait, order_holds_any());
    naps_until(&starter_went_on);
    return argument;
}

START_TEST(earliest_a_thread_that_waits_lets_its_starter_go_on)
{
    watch("earliest");
    sem_post(&ended);
    pthread_t thread = start(waits_for_what_is_there, NULL);
    atomic_store(&starter_went_on, 1);
    pthread_join(thread, NULL);
    ck_assert(!atomic_load(&held_behind_the_wait));
}
END_TEST

START_TEST(earliest_a_thread_that_waits_stops_nobody)
{
    ck_assert_int_eq(pipe(pipes), 0);
    watch("earliest");
    pthread_t threads[3] = {start(waits_for_the_semaphore, NULL), start(reads, NULL),
                            start(until_allowed, NULL)};
    sem_post(&ended);
    ck_assert_int_eq(write(pipes[1], "x", 1), 1);
    atomic_store(&may_end, 1);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    expect(3, 3, 0);
}
END_TEST

START_TEST(random_has_both)
{
    enum { THREADS = 40 };
    /* Threads that were done before their starter went on, and threads that were held back: at
     * least a third of each; those that are not held back may be either. */
    int first = 0, last = 0;
    watch("random:3");
    for (int i = 0; i < THREADS; i++) {
        atomic_store(&began, 0);
        pthread_t thread = start(note, NULL);
        first += atomic_load(&began) != 0;
        compute(2);
        last += atomic_load(&began) == 0;
        pthread_join(thread, NULL);
    }
    ck_assert_int_ge(first, 5);
    ck_assert_int_ge(last, 5);
    expect(THREADS, THREADS, 0);
}
END_TEST

START_TEST(what_is_no_order_holds_nobody)
{
    watch("sideways");
    pthread_t thread = start(until_allowed, NULL);
    while (atomic_load(&began) == 0) sched_yield();
    atomic_store(&may_end, 1);
    pthread_join(thread, NULL);
}
END_TEST

static void *starts_many(void *argument)
{
    for (int i = 0; i < 25; i++) {
        pthread_t a = start(note, NULL), b = start_detached(note);
        (void)b;
        if (i % 5 == 0)
            pthread_detach(a);
        else
            pthread_join(a, NULL);
        sem_wait(&ended);
        sem_wait(&ended);
    }
    return argument;
}

START_TEST(many_at_once)
{
    static const char *const orders[] = {NULL, "latest", "earliest", "random:1", "random:2"};
    enum { STARTERS = 6 };
    pthread_t starters[STARTERS];
    watch(orders[_i]);
    for (int i = 0; i < STARTERS; i++) starters[i] = start(starts_many, NULL);
    for (int i = 0; i < STARTERS; i++) pthread_join(starters[i], NULL);
    expect(STARTERS * 51, STARTERS * 21, STARTERS * 30);
    threads_settle();
    ck_assert_ptr_null(threads_first()); /* nor is anything kept for them */
}
END_TEST

/* ---- what is left ------------------------------------------------------------------------- */

START_TEST(what_is_held_back_at_the_end_never_begins)
{
    watch("latest");
    start(note, NULL);
    start_detached(note);
    threads_settle();
    /* A wait, which would let held-back threads go. */
    pthread_join(start(takes_its_time, NULL), NULL);
    sem_wait(&ended);
    compute(30);
    ck_assert_int_ne(sem_trywait(&ended), 0);
    read_trace();
    for (size_t i = 0; i < told.count; i++) /* the detached one has not ended */
        if (told.records[i].flags == TRACE_DETACHED) ck_assert_uint_eq(told.records[i].count, 1);
}
END_TEST

START_TEST(what_is_at_work_at_the_end_is_waited_for)
{
    watch("earliest");
    atomic_store(&may_end, 0);
    start(until_allowed, NULL);
    start_detached(until_allowed);
    ck_assert_int_eq(atomic_load(&began), 2);
    atomic_store(&may_end, 1);
    threads_settle();
    ck_assert_int_eq(sem_trywait(&ended), 0);
    ck_assert_int_eq(sem_trywait(&ended), 0);
    expect(2, 0, 1);
    for (size_t i = 0; i < told.count; i++)
        if (told.records[i].kind == TRACE_DESTROY) ck_assert_uint_eq(told.records[i].count, 0);
}
END_TEST

START_TEST(what_does_not_end_is_told)
{
    watch(NULL);
    start_detached(never);
    threads_settle();
    expect(1, 0, 1);
    for (size_t i = 0; i < told.count; i++)
        if (told.records[i].kind == TRACE_DESTROY) ck_assert_uint_eq(told.records[i].count, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("threads");
    TCase *tcase = tcase_create("threads");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_thread_is_told_from_its_start_to_its_join);
    tcase_add_test(tcase, a_thread_that_nobody_joins_stays);
    tcase_add_loop_test(tcase, every_way_of_joining_is_one, 0, C11_THREADS);
    tcase_add_loop_test(tcase, every_way_of_detaching_is_one, 0, C11_THREADS);
    tcase_add_test(tcase, a_thread_that_cannot_be_started_is_none);
    tcase_add_test(tcase, a_join_that_fails_leaves_it_to_be_joined);
    tcase_add_test(tcase, a_handle_may_be_that_of_a_new_thread);
    tcase_add_test(tcase, threads_of_other_modules_are_not_told);
    tcase_add_loop_test(tcase, it_may_end_in_any_way, 0, 3);
    tcase_add_loop_test(tcase, a_forked_child_has_its_own, 0, FORK_ORDERS);
    tcase_add_loop_test(tcase, latest_nothing_begins_before_its_starter_waits, 0, WAITS);
    tcase_add_test(tcase, latest_a_nap_is_no_wait);
    tcase_add_test(tcase, a_wait_that_is_not_known_stops_nobody);
    tcase_add_test(tcase, a_starter_that_only_looks_stops_nobody);
    tcase_add_test(tcase, a_thread_holds_back_those_that_it_starts);
    tcase_add_loop_test(tcase, earliest_the_starter_finds_it_done, 0, C11_THREADS);
    tcase_add_test(tcase, earliest_a_thread_that_waits_lets_its_starter_go_on);
    tcase_add_test(tcase, earliest_a_thread_that_waits_stops_nobody);
    tcase_add_test(tcase, random_has_both);
    tcase_add_test(tcase, what_is_no_order_holds_nobody);
    tcase_add_loop_test(tcase, many_at_once, 0, 5);
    tcase_add_test(tcase, what_is_held_back_at_the_end_never_begins);
    tcase_add_test(tcase, what_is_at_work_at_the_end_is_waited_for);
    tcase_add_test(tcase, what_does_not_end_is_told);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
