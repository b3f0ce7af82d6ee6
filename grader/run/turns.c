#include "grader/run/turns.h"
#include "grader/evidence/ratio.h"
#include "grader/run/gpu_lock.h"

#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Polling interval, because a process that has ended cannot wake the thread. */
#define LOOK_AGAIN_NS 20000000

struct turns_clerk {
    pthread_t thread;
    atomic_bool gone[TURNS_PROCESSES];
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint32_t *word_of(const struct turns *turns, size_t process)
{
    return &turns->processes[process].control->turn;
}

static uint32_t state(const struct turns *turns, size_t process)
{
    return __atomic_load_n(word_of(turns, process), __ATOMIC_ACQUIRE);
}

static void say(const struct turns *turns, size_t process, enum control_turn turn)
{
    __atomic_store_n(word_of(turns, process), (uint32_t)turn, __ATOMIC_RELEASE);
    syscall(SYS_futex, word_of(turns, process), FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* Waits until the process's state differs from `known`. False: the process has ended. */
static bool changes(const struct turns *turns, size_t process, uint32_t known)
{
    const struct timespec most = {.tv_nsec = LOOK_AGAIN_NS};

    while (state(turns, process) == known) {
        if (atomic_load(&turns->clerk->gone[process])) return false;
        syscall(SYS_futex, word_of(turns, process), FUTEX_WAIT, known, &most, NULL, 0);
    }
    return true;
}

static bool reaches_its_turn(const struct turns *turns, size_t process)
{
    uint32_t turn;
    while ((turn = state(turns, process)) != CONTROL_WAITING)
        if (!changes(turns, process, turn)) return false;
    return true;
}

/* Gives the process one turn. False: the process ended in it. */
static bool take(struct turns *turns, size_t process, unsigned round)
{
    struct turns_process *p = &turns->processes[process];
    double begun = 0, ended = 0;
    const double given = now();
    uint32_t turn = CONTROL_GIVEN;

    turns->holder = process;
    say(turns, process, CONTROL_GIVEN);
    while (turn != CONTROL_WAITING) {
        if (!changes(turns, process, turn)) return false;
        turn = state(turns, process);
        if (turn == CONTROL_TIMING) begun = now();
        if (turn == CONTROL_TIMED) ended = now();
    }
    p->whole_s[round] = now() - given;
    p->clocked_s[round] = begun > 0 && ended > 0 ? ended - begun : 0;
    turns->holder = SIZE_MAX;
    return true;
}

/* Returns the time by the grader's own clock: the phase, or the whole turn where the phase was too
 * short to be seen. */
static double time_of(const struct turns_process *process, unsigned round)
{
    const double clocked = process->clocked_s[round];
    return clocked > 0 ? clocked : process->whole_s[round];
}

static bool is_enough(const struct turns *turns, double spent_s)
{
    struct ratio_pair pairs[RATIO_MOST_PAIRS];
    size_t count = 0;

    if (spent_s >= turns->most_s) return true;
    for (unsigned round = 1; round <= turns->rounds; round++)
        for (size_t i = 0; i < turns->pair_count && turns->counts[round]; i++)
            pairs[count++] =
                (struct ratio_pair){time_of(&turns->processes[turns->pairs[i].submission], round),
                                    time_of(&turns->processes[turns->pairs[i].reference], round)};
    if (count == 0) return false;
    const struct ratio ratio = ratio_of(pairs, count, turns->threshold);
    return ratio_is_settled(&ratio, spent_s);
}

static void *keep(void *user)
{
    struct turns *turns = user;
    bool all = true;

    for (size_t i = 0; i < turns->count && all; i++) all = reaches_its_turn(turns, i);
    const double begin = now();
    for (unsigned round = 1; round < CONTROL_ROUNDS && all; round++) {
        for (size_t i = 0; i < turns->count && all; i++)
            all = take(turns, round % 2 == 1 ? i : turns->count - 1 - i, round);
        if (!all) break;
        turns->rounds = round;
        if (is_enough(turns, now() - begin)) break;
    }
    gpu_lock_release(turns->lock);
    turns->lock = -1;
    for (size_t i = 0; i < turns->count; i++)
        if (reaches_its_turn(turns, i)) say(turns, i, CONTROL_NO_MORE);
    return NULL;
}

int turns_begin(struct turns *turns)
{
    turns->rounds = 0;
    turns->holder = SIZE_MAX;
    turns->clerk = calloc(1, sizeof *turns->clerk);
    if (turns->clerk == NULL) return -1;
    if (pthread_create(&turns->clerk->thread, NULL, keep, turns) == 0) return 0;
    free(turns->clerk);
    turns->clerk = NULL;
    return -1;
}

void turns_gone(struct turns *turns, size_t process)
{
    atomic_store(&turns->clerk->gone[process], true);
}

void turns_end(struct turns *turns)
{
    pthread_join(turns->clerk->thread, NULL);
    free(turns->clerk);
    turns->clerk = NULL;
}
