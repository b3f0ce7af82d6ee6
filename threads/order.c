/* Decides whether a new thread or its starter goes first. One of them is held while the other has
 * its turn, which lasts until it waits for another thread, ends, has computed for TURN, or has
 * slept for SLEEP (in a wait that is unknown here: a pipe, a system call). Computing is measured by
 * the thread's CPU clock. Time in which the thread is runnable without a processor does not count,
 * nor time in which this code did not look, so that on a busy machine no turn is over before it
 * began. */
#include "threads/parts.h"
#include "trace/runnable.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define TURN 20000000 /* ns of computing */
#define SLEEP 5000000 /* ns */
#define MOST                                                                                       \
    1000000000        /* ns that count, for a thread that neither sleeps long nor computes much    \
                       */
#define PAUSE 1000000 /* ns between two looks */
#define MOST_ON_THE_WALL                                                                           \
    30000000000 /* ns of wall-clock time, for a machine that gives no CPU                          \
                   time */

static struct {
    enum threads_hold hold; /* for each thread, unless random */
    bool random;
    uint64_t seed;
    atomic_uint held;   /* number of held threads */
    atomic_uint events; /* a futex: counts releases */
} order;

void order_set(const char *text)
{
    if (text == NULL) return;
    order.hold = strcmp(text, "latest") == 0     ? HOLD_THREAD
                 : strcmp(text, "earliest") == 0 ? HOLD_STARTER
                                                 : HOLD_NOBODY;
    order.random = strncmp(text, "random:", 7) == 0;
    if (order.random) order.seed = strtoull(text + 7, NULL, 10);
}

static enum threads_hold hold_of(uint64_t id)
{
    static const enum threads_hold holds[] = {HOLD_NOBODY, HOLD_THREAD, HOLD_STARTER};
    if (!order.random) return order.hold;
    uint64_t x = order.seed * 0x9e3779b97f4a7c15u + id; /* splitmix64 */
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return holds[(x ^ (x >> 31)) % 3];
}

void order_pause(void)
{
    const struct timespec most = {.tv_nsec = PAUSE};
    const unsigned seen = atomic_load(&order.events);
    threads_unlock();
    syscall(SYS_futex, &order.events, FUTEX_WAIT_PRIVATE, seen, &most, NULL, 0);
    threads_lock();
}

/* ---- a turn -------------------------------------------------------------------------------------
 */

static int64_t now(clockid_t clock)
{
    struct timespec t;
    if (clock_gettime(clock, &t) != 0) return -1;
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* The CPU clock of a thread by its number. Unlike a pthread_t the number may still be used when the
 * thread is gone: MAKE_THREAD_CPUCLOCK(number, CPUCLOCK_SCHED), linux/posix-timers.h. */
static clockid_t clock_of(pid_t number)
{
    return (clockid_t)((~(unsigned)number << 3) | 6u);
}

int64_t order_look(int64_t *looked)
{
    const int64_t time = now(CLOCK_MONOTONIC), since = time - *looked;
    *looked = time;
    return since < 2 * PAUSE ? since : 2 * PAUSE;
}

struct turn {
    int64_t begin, looked;     /* wall-clock time */
    int64_t computed_at_begin; /* CPU time; -1: the thread has not begun */
    int64_t computed;
    int64_t asleep; /* time asleep, with hardly any computing in between */
    int64_t passed; /* time that counts */
};

static struct turn begin_turn(void)
{
    const int64_t time = now(CLOCK_MONOTONIC);
    return (struct turn){.begin = time, .looked = time, .computed_at_begin = -1, .computed = -1};
}

/* Returns true if the turn is over. `number`: the thread that has the turn; 0: it has not begun. */
static bool has_had(struct turn *turn, pid_t number)
{
    const int64_t since = order_look(&turn->looked);
    if (turn->looked - turn->begin >= MOST_ON_THE_WALL) return true;
    if (number == 0) return false;
    const int64_t computed = now(clock_of(number));
    if (computed < 0) return true; /* the thread is gone */
    if (turn->computed_at_begin < 0) turn->computed_at_begin = computed;
    /* A thread that wakes only briefly now and then, to check whether it may go on, counts as
     * asleep. */
    const int64_t more = computed - turn->computed;
    turn->computed = computed;
    if (more > since / 4) {
        turn->asleep = 0;
        turn->passed += since;
    } else if (!runnable_thread(number)) {
        turn->asleep += since;
        turn->passed += since;
    }
    return computed - turn->computed_at_begin >= TURN || turn->asleep >= SLEEP ||
           turn->passed >= MOST;
}

/* ---- holds --------------------------------------------------------------------------------------
 */

void order_decide(struct host_thread *thread)
{
    thread->hold = hold_of(thread->id);
    if (thread->hold != HOLD_NOBODY) atomic_fetch_add(&order.held, 1);
}

static void let_go(struct host_thread *thread)
{
    thread->hold = HOLD_NOBODY;
    atomic_fetch_sub(&order.held, 1);
    atomic_fetch_add(&order.events, 1);
    syscall(SYS_futex, &order.events, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void order_hold_starter(uint64_t id)
{
    struct turn turn = begin_turn();
    for (;;) {
        struct host_thread *thread = threads_first();
        while (thread != NULL && thread->id != id) thread = thread->next;
        if (thread == NULL || thread->hold != HOLD_STARTER) return;
        if (has_had(&turn, thread->number)) {
            let_go(thread);
            return;
        }
        order_pause();
    }
}

void order_hold_thread(struct host_thread *thread)
{
    struct turn turn = begin_turn();
    while (thread->hold == HOLD_THREAD || thread->hold == HOLD_FOREVER) {
        if (thread->hold == HOLD_THREAD && has_had(&turn, thread->starter))
            let_go(thread);
        else
            order_pause();
    }
}

void order_waits(pid_t number)
{
    for (struct host_thread *thread = threads_first(); thread != NULL; thread = thread->next)
        if ((thread->hold == HOLD_THREAD && thread->starter == number) ||
            (thread->hold == HOLD_STARTER && thread->number == number))
            let_go(thread);
}

void order_is_wanted(struct host_thread *thread)
{
    if (thread->hold == HOLD_THREAD) let_go(thread);
}

void order_freeze(void)
{
    for (struct host_thread *thread = threads_first(); thread != NULL; thread = thread->next)
        if (thread->hold == HOLD_THREAD) thread->hold = HOLD_FOREVER;
}

void order_forget(void)
{
    atomic_store(&order.held, 0);
}

bool order_holds_any(void)
{
    return atomic_load_explicit(&order.held, memory_order_relaxed) != 0;
}
