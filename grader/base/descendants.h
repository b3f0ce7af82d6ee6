/* descendants: what the processes below a given one use, read from /proc, and their end; and which
 * processes are above it.
 */
#ifndef OVERLAP_GRADER_BASE_DESCENDANTS_H
#define OVERLAP_GRADER_BASE_DESCENDANTS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct descendants_usage {
    unsigned processes; /* alive; zombies are not counted */
    uint64_t bytes;     /* resident memory, and the tables that lead to it */
    uint64_t shared;    /* of that: pages of memory files and segments, for each that maps them */
    const pid_t *pids;  /* the processes; valid until the next call */
};

/* What all processes below `root` (not itself) use now. Memory is first summed the cheap way, which
 * counts a page once for each process that shares it; only if that is over `precise_above` bytes
 * (0: never) it is counted exactly (PSS). */
struct descendants_usage descendants_usage(pid_t root, uint64_t precise_above);

struct descendants_work {
    double seconds; /* processor time used so far, by those that have ended too */
    unsigned eager; /* tasks that run, or would if there were a processor or a disk for them */
};

/* What the processes that were found, which are below the caller, have worked and want to. */
struct descendants_work descendants_work(const struct descendants_usage *usage);

/* How many tasks (processes and threads) the real user has, which RLIMIT_NPROC counts. */
uint64_t descendants_user_tasks(void);

/* Sends SIGKILL to all processes below `root`. Returns how many were still alive. */
unsigned descendants_kill(pid_t root);

/* How many tasks (processes and threads) the machine has; 0: not known. RLIMIT_NPROC counts those
 * of a user, other namespaces' included, which nobody in one can see. */
uint64_t descendants_tasks(void);

/* The parent of `pid`, its parent, and so on up to the first process, at most `most` of them; ends
 * early where /proc does not show one. Returns how many. */
size_t descendants_ancestors(pid_t pid, pid_t *found, size_t most);

#endif
