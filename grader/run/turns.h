/* turns: lets the processes of a timed run work one at a time, round by round, takes the time of
 * each round with the grader's own clock, and says when enough is known.
 *
 * The order within a round is that of the processes, in every other round the opposite one, so that
 * neither of a pair always comes first. It stops nothing by force: a process that does not hand
 * back its turn is ended by its own limit, and then nobody gets another.
 */
#ifndef OVERLAP_GRADER_RUN_TURNS_H
#define OVERLAP_GRADER_RUN_TURNS_H

#include "grader/child/control.h"
#include "grader/evidence/thresholds.h"

#include <stdbool.h>
#include <stddef.h>

#define TURNS_PROCESSES 4
#define TURNS_SECONDS 10.0 /* at most, for all rounds */

struct turns_process {
    struct control *control; /* shared with the process */
    /* The result. Of each round from 1 to `rounds`: */
    double whole_s[CONTROL_ROUNDS];   /* its turn */
    double clocked_s[CONTROL_ROUNDS]; /* the phase that is timed; 0: not seen */
};

/* The i-th of a pair is compared with the other's times of the same round. */
struct turns_pair {
    size_t submission, reference;
};

struct turns {
    struct turns_process processes[TURNS_PROCESSES];
    struct turns_pair pairs[TURNS_PROCESSES / 2];
    size_t count, pair_count;
    const struct threshold *threshold;
    bool counts[CONTROL_ROUNDS]; /* rounds whose times say something */
    double most_s;               /* after so long no further round begins, clear or not */
    int lock;        /* gpu_lock_take's; given back (-1) as soon as there is no further round */
    unsigned rounds; /* the result: complete in all processes, without the warm-up */
    size_t holder;   /* the process that had the turn when it ended; SIZE_MAX: none had */
    struct turns_clerk *clerk;
};

/* Begins, in a thread of its own: no process may be forked until turns_end. Returns 0 or -1. */
int turns_begin(struct turns *turns);
/* The process has ended. */
void turns_gone(struct turns *turns, size_t process);
/* When all have. */
void turns_end(struct turns *turns);

#endif
