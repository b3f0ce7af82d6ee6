/* descendants: resource usage of the processes below a given one, read from /proc; killing them;
 * and the list of processes above a given one.
 */
#ifndef OVERLAP_GRADER_BASE_DESCENDANTS_H
#define OVERLAP_GRADER_BASE_DESCENDANTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct descendants_usage {
    unsigned processes; /* alive; zombies are not counted */
    uint64_t bytes;     /* resident memory, page tables included */
    uint64_t shared;    /* part of `bytes`: pages of memory files and segments, counted for each
                           process that maps them */
    const pid_t *pids;  /* the processes; valid until the next call */
};

/* Returns what all processes below `root` (not itself) use now. Memory is first summed cheaply,
 * which counts a shared page once per process; only if that sum exceeds `precise_above` bytes (0:
 * never) is it measured exactly (PSS). */
struct descendants_usage descendants_usage(pid_t root, uint64_t precise_above);

struct descendants_work {
    double seconds; /* processor time used so far, ended processes included */
    unsigned eager; /* tasks that run, or would run if they had a processor or their disk access
                       were done */
};

/* Returns the work of the processes found by descendants_usage, which must be below the caller. */
struct descendants_work descendants_work(const struct descendants_usage *usage);

/* Returns how many tasks (processes and threads) the real user has, which RLIMIT_NPROC counts. */
uint64_t descendants_user_tasks(void);

/* Sends SIGKILL to all processes below `root`. Returns how many were still alive. */
unsigned descendants_kill(pid_t root);

/* Returns how many tasks (processes and threads) the machine has; 0: not known. RLIMIT_NPROC counts
 * all tasks of a user, including those in other namespaces, which are invisible from within one. */
uint64_t descendants_tasks(void);

/* Lists the parent of `pid`, its parent, and so on up to the first process, at most `most`; stops
 * early where /proc does not show one. Returns how many. */
size_t descendants_ancestors(pid_t pid, pid_t *found, size_t most);

#endif
