/* Turns: with OVERLAP_TURNS=on, host threads enter the device in an order that does not depend on
 * the system's scheduling, so that times, numbers and the trace are reproducible. The turn goes to
 * the waiting thread whose virtual clock is furthest behind; among equal clocks, to the thread
 * started first.
 *
 * A turn is given only when no other thread can still arrive with an earlier clock. One of the
 * waiting threads therefore inspects all threads of the process until each of them waits here too
 * or is blocked: it was asleep at two looks in a row and used no CPU in between. A thread in
 * nanosleep will wake by itself and is waited for, so that the length of its sleep does not matter.
 * Threads that compute or sleep for a second while nobody comes (they may poll a flag that a
 * waiting thread would set, or have nothing to do with the device) are given up: they are no longer
 * waited for until they come or are blocked. The others are, so that their order stays the same
 * beside a thread that naps for ever. Once this has happened a few times the patience for all is
 * short. */
#include "emulator/driver/entry/entry.h"

#include "emulator/driver/stream/stream.h"
#include "trace/runnable.h"

#include <dirent.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PATIENCE 1000000000 /* ns of computing or of nanosleep without an arrival */
#define IMPATIENCE 1000000  /* the same, after the patience has run out MOST_IN_VAIN times */
#define MOST_ON_THE_WALL                                                                           \
    30000000000              /* ns of wall-clock time, for a machine that gives no CPU             \
                                time */
#define SHORTEST_PAUSE 50000 /* ns between two looks */
#define LONGEST_PAUSE 1000000

enum { MOST_THREADS = 4096, MOST_GIVEN_UP = 64, MOST_IN_VAIN = 4 };

/* A thread that waits for its turn. */
struct waiting {
    pid_t tid;
    uint64_t clock_ns;
    bool is_main, has_turn;
    pthread_cond_t called;
    struct waiting *next;
};

static struct {
    bool on;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a thread arrived or left the device; wakes the inspecting thread */
    atomic_uint coming;     /* threads about to take the lock: they count as running */
    unsigned inside;        /* threads inside the device and not in a pause */
    bool looking;           /* one of the waiting threads inspects for all */
    unsigned in_vain;       /* how often the patience has run out */
    struct waiting *first;
    struct look {
        pid_t tid;
        int64_t computed;  /* ns */
    } looks[MOST_THREADS]; /* in the order of their start */
    size_t looked;
    pid_t given_up[MOST_GIVEN_UP];
    size_t given_ups;
} turns = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

void turns_begin(void)
{
    const char *text = getenv("OVERLAP_TURNS");
    turns.on = text != NULL && strcmp(text, "on") == 0;
}

void turns_after_fork(void)
{
    pthread_mutex_init(&turns.lock, NULL);
    pthread_cond_init(&turns.changed, NULL);
    atomic_store(&turns.coming, 0);
    turns.inside = 0;
    turns.looking = false;
    turns.first = NULL;
    turns.given_ups = 0;
    thread.in_turn = false;
}

/* ---- the other threads ----------------------------------------------------------------------- */

/* Returns true if the thread sleeps for a time of its own choice (nanosleep). */
static bool sleeps_by_itself(pid_t tid)
{
    char text[32];
    if (!runnable_read(tid, "syscall", text, sizeof text)) return false;
    char *end;
    const long call = strtol(text, &end, 10);
    if (end == text) return true; /* "running": it has just woken */
    return call == SYS_clock_nanosleep
#ifdef SYS_nanosleep
           || call == SYS_nanosleep
#endif
        ;
}

static bool is_at_the_door(pid_t tid)
{
    const struct waiting *waiting = turns.first;
    while (waiting != NULL && waiting->tid != tid) waiting = waiting->next;
    return waiting != NULL;
}

static size_t place_of(pid_t tid)
{
    size_t i = 0;
    while (i < turns.looked && turns.looks[i].tid != tid) i++;
    return i;
}

static bool is_given_up(pid_t tid)
{
    for (size_t i = 0; i < turns.given_ups; i++)
        if (turns.given_up[i] == tid) return true;
    return false;
}

/* With no room left the thread is waited for again, which costs time and no more. */
static void give_up(pid_t tid)
{
    if (!is_given_up(tid) && turns.given_ups < MOST_GIVEN_UP)
        turns.given_up[turns.given_ups++] = tid;
}

static void wait_again_for(pid_t tid)
{
    for (size_t i = 0; i < turns.given_ups; i++)
        if (turns.given_up[i] == tid) turns.given_up[i--] = turns.given_up[--turns.given_ups];
}

/* Lists all threads of the process. The folder has them in the order of their start. Forgets those
 * given up that have ended: their numbers will be those of others. */
static void list_threads(void)
{
    DIR *folder = opendir("/proc/self/task");
    const struct dirent *entry;
    turns.looked = 0;
    if (folder == NULL) return;
    while (turns.looked < MOST_THREADS && (entry = readdir(folder)) != NULL) {
        const pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10); /* 0: "." */
        if (tid != 0) turns.looks[turns.looked++] = (struct look){tid, 0};
    }
    closedir(folder);
    for (size_t i = turns.given_ups; i-- > 0;)
        if (place_of(turns.given_up[i]) == turns.looked) wait_again_for(turns.given_up[i]);
}

enum others { OTHERS_WAIT, OTHERS_SLEEP, OTHERS_RUN };

/* What the thread does, at the second look (`again`) for the time since the first as well. The CPU
 * time is read before the first state and after the second, so that it counts all in between. */
static enum others look_at(struct look *look, bool again)
{
    if (!again) look->computed = thread_computed(look->tid);
    if (runnable_thread(look->tid)) {
        look->computed = -1; /* not asleep at the first look: the second finds a difference */
        return OTHERS_RUN;
    }
    if (!again) return OTHERS_WAIT;
    if (look->computed != thread_computed(look->tid)) return OTHERS_RUN;
    return sleeps_by_itself(look->tid) ? OTHERS_SLEEP : OTHERS_WAIT;
}

/* Looks at every thread twice. A thread that was asleep at both looks and used no CPU in between
 * was asleep all the time in between. With `giving_up` all that run or sleep by themselves are
 * given up. */
static enum others look_at_others(bool giving_up)
{
    enum others others = OTHERS_WAIT;
    list_threads();
    for (unsigned pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < turns.looked; i++) {
            struct look *look = &turns.looks[i];
            if (is_at_the_door(look->tid)) continue;
            const enum others now = look_at(look, pass > 0);
            if (now != OTHERS_WAIT && giving_up) give_up(look->tid);
            if (now == OTHERS_WAIT && pass > 0) wait_again_for(look->tid);
            if (is_given_up(look->tid)) continue;
            if (now == OTHERS_RUN) return OTHERS_RUN;
            if (now == OTHERS_SLEEP) others = OTHERS_SLEEP;
        }
    return atomic_load(&turns.coming) > 0 ? OTHERS_RUN : others;
}

/* ---- turns ----------------------------------------------------------------------------------- */

static uint64_t clock_of(const struct waiting *waiting)
{
    const uint64_t all = __atomic_load_n(&driver.main_clock_ns, __ATOMIC_RELAXED);
    return waiting->is_main && all > waiting->clock_ns ? all : waiting->clock_ns;
}

static bool is_before(const struct waiting *a, const struct waiting *b)
{
    if (clock_of(a) != clock_of(b)) return clock_of(a) < clock_of(b);
    return place_of(a->tid) < place_of(b->tid);
}

static void give_turn(void)
{
    struct waiting **link = &turns.first;
    for (struct waiting **at = &turns.first; *at != NULL; at = &(*at)->next)
        if (is_before(*at, *link)) link = at;
    struct waiting *next = *link;
    *link = next->next;
    next->has_turn = true;
    turns.inside++;
    pthread_cond_signal(&next->called);
}

/* How long no thread has come: wall-clock time, CPU time and sleep in ns. */
struct patience {
    int64_t began, looked, computed, slept, pause;
};

static struct patience patience_begin(void)
{
    const int64_t time = clock_ns(CLOCK_MONOTONIC);
    return (struct patience){.began = time,
                             .looked = time,
                             .computed = clock_ns(CLOCK_PROCESS_CPUTIME_ID),
                             .pause = SHORTEST_PAUSE};
}

static bool patience_ends(struct patience *patience, enum others others)
{
    const int64_t time = clock_ns(CLOCK_MONOTONIC), since = time - patience->looked;
    const int64_t most = turns.in_vain < MOST_IN_VAIN ? PATIENCE : IMPATIENCE;
    patience->looked = time;
    if (others == OTHERS_SLEEP)
        patience->slept += since < 2 * LONGEST_PAUSE ? since : 2 * LONGEST_PAUSE;
    return patience->slept >= most ||
           clock_ns(CLOCK_PROCESS_CPUTIME_ID) - patience->computed >= most ||
           time - patience->began >= MOST_ON_THE_WALL;
}

static void pause_for(struct patience *patience)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += patience->pause;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    if (patience->pause < LONGEST_PAUSE) patience->pause *= 2;
    pthread_cond_clockwait(&turns.changed, &turns.lock, CLOCK_MONOTONIC, &until);
}

/* Inspects for all waiting threads until the caller itself gets a turn. */
static void look_for_all(const struct waiting *self)
{
    struct patience patience = patience_begin();
    turns.looking = true;
    while (!self->has_turn) {
        if (turns.inside > 0) {
            pthread_cond_wait(&turns.changed, &turns.lock);
            patience = patience_begin();
            continue;
        }
        const enum others others = look_at_others(false);
        const bool is_over = others != OTHERS_WAIT && patience_ends(&patience, others);
        if (is_over) look_at_others(true);
        turns.in_vain += is_over;
        if (others == OTHERS_WAIT || is_over)
            give_turn();
        else
            pause_for(&patience);
    }
    turns.looking = false;
    if (turns.first != NULL) pthread_cond_signal(&turns.first->called);
}

static void turn_take(void)
{
    struct waiting self = {.tid = gettid(),
                           .clock_ns = thread.clock_ns,
                           .is_main = thread.number == 1,
                           .called = PTHREAD_COND_INITIALIZER,
                           .next = turns.first};
    if (!thread.known) self.clock_ns = __atomic_load_n(&driver.start_clock_ns, __ATOMIC_RELAXED);
    wait_again_for(self.tid);
    if (turns.first == NULL && turns.inside == 0 && host_is_alone()) {
        turns.inside++;
    } else {
        turns.first = &self;
        pthread_cond_signal(&turns.changed);
        while (!self.has_turn)
            if (turns.looking)
                pthread_cond_wait(&self.called, &turns.lock);
            else
                look_for_all(&self);
    }
    if (thread.known) return;
    thread_begin();
    thread.clock_ns = self.clock_ns; /* the first thread's clock when this thread arrived */
}

/* ---- for calls ------------------------------------------------------------------------------- */

static void lock(void)
{
    atomic_fetch_add(&turns.coming, 1);
    pthread_mutex_lock(&turns.lock);
    atomic_fetch_sub(&turns.coming, 1);
}

void turns_take(void)
{
    int cancel;
    if (!turns.on || thread.in_host_function) return;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    lock();
    turn_take();
    pthread_mutex_unlock(&turns.lock);
    thread.in_turn = true;
    pthread_setcancelstate(cancel, NULL);
}

void turns_pause(void)
{
    if (!thread.in_turn) return;
    lock();
    turns.inside--;
    pthread_cond_signal(&turns.changed);
    pthread_mutex_unlock(&turns.lock);
}

void turns_go_on(void)
{
    if (!thread.in_turn) return;
    lock();
    turns.inside++;
    pthread_mutex_unlock(&turns.lock);
}

void turns_give(void)
{
    turns_pause();
    thread.in_turn = false;
}
