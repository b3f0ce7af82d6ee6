/* turns: lets the processes of a timed run work one at a time, round by round, measures each round
 * with the grader's own clock, and decides when the times suffice.
 *
 * Within a round the processes take turns in their order, in every other round in the opposite
 * order, so that neither process of a pair always comes first. This module does not interrupt a
 * turn: a process that does not hand back its turn is ended by its own limit, and then no process
 * gets another turn.
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
    /* The result, for each round from 1 to `rounds`: */
    double whole_s[CONTROL_ROUNDS];   /* duration of the turn */
    double clocked_s[CONTROL_ROUNDS]; /* duration of the timed phase; 0: not seen */
};

/* The times of these two processes in the same round are compared. */
struct turns_pair {
    size_t submission, reference;
};

struct turns {
    struct turns_process processes[TURNS_PROCESSES];
    struct turns_pair pairs[TURNS_PROCESSES / 2];
    size_t count, pair_count;
    const struct threshold *threshold;
    bool counts[CONTROL_ROUNDS]; /* rounds whose times count */
    double most_s;   /* seconds after which no further round begins, whatever the outcome */
    int lock;        /* from gpu_lock_take; released (-1) when there is no further round */
    unsigned rounds; /* result: rounds complete in all processes, warm-up not counted */
    size_t holder;   /* the process that had the turn at the end; SIZE_MAX: none had */
    struct turns_clerk *clerk;
};

/* Starts a thread that gives the turns; no process may be forked until turns_end. Returns 0 or
 * -1. */
int turns_begin(struct turns *turns);
/* Reports that the process has ended. */
void turns_gone(struct turns *turns, size_t process);
/* Ends the thread. Call it when all processes have ended. */
void turns_end(struct turns *turns);

#endif
