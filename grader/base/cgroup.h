/* cgroup: a control group (version 2) for each run, where the machine permits one: a memory limit
 * for all processes of the run together, and a way to kill them all at once.
 *
 * This module makes groups below or beside its own group and changes no existing group; a parent
 * that does not delegate the memory and pids controllers cannot be used. The group is the hard
 * limit. The limit that is reported to a student comes from counting (descendants.h), which goes on
 * as well.
 *
 * Source: Documentation/admin-guide/cgroup-v2.rst of the kernel.
 */
#ifndef OVERLAP_GRADER_BASE_CGROUP_H
#define OVERLAP_GRADER_BASE_CGROUP_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct cgroup {
    char path[PATH_MAX];
    int entry; /* descriptor of its cgroup.procs; -1: there is no group */
};

/* Finds a folder of the hierarchy in which groups can be made: one that delegates the `controllers`
 * ("memory pids") and whose groups this process may join. This is tested by making a group. False:
 * there is none. `mounts` is proc(5)'s mountinfo and `own` its cgroup file: /proc/self/... */
bool cgroup_find(const char *mounts, const char *own, const char *controllers,
                 char parent[PATH_MAX]);

/* Makes a group below `parent` with a limit on memory (`bytes`, no swap) and on `tasks`; 0: no
 * limit. Returns 0, or -1 with errno (`entry` is -1). */
int cgroup_make(struct cgroup *group, const char *parent, uint64_t bytes, uint64_t tasks);

/* Moves the calling process into the group, with everything that it starts from then on. Returns 0,
 * or -1 with errno. */
int cgroup_enter(const struct cgroup *group);

/* Returns true when the kernel killed a process of the group for want of memory. */
bool cgroup_ran_out(const struct cgroup *group);

/* Kills every process in the group. */
void cgroup_kill(const struct cgroup *group);

/* Kills the processes of the group and removes the group. */
void cgroup_end(struct cgroup *group);

#endif
