/* cgroup: a control group for each run (version 2), where the machine lets us make one: a limit for
 * all memory of all its processes, whatever holds it, and an end for all of them at once.
 *
 * It makes groups below or beside its own, and changes nothing of those that are there already: a
 * group that does not hand down the memory and pids controllers is of no use. It is the hard limit;
 * what is said to a student comes from counting (descendants.h), which is kept beside it.
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
    int entry; /* its cgroup.procs; -1: there is no group */
};

/* Where groups can be made: a folder of the hierarchy that hands down the `controllers` ("memory
 * pids"), and into which a process of ours can go. Tried for real. False: nowhere.
 * `mounts` is proc(5)'s mountinfo and `own` its cgroup file: /proc/self/... */
bool cgroup_find(const char *mounts, const char *own, const char *controllers,
                 char parent[PATH_MAX]);

/* Makes a group below `parent`: so many bytes of memory, none of it on disk, and so many tasks. 0:
 * no limit. Returns 0, or -1 with errno (`entry` is -1). */
int cgroup_make(struct cgroup *group, const char *parent, uint64_t bytes, uint64_t tasks);

/* In the process that is to go into it, with everything that it starts from then on. Returns 0, or
 * -1 with errno. */
int cgroup_enter(const struct cgroup *group);

/* Whether the kernel ended a process of it for want of memory. */
bool cgroup_ran_out(const struct cgroup *group);

/* Ends every process in it. */
void cgroup_kill(const struct cgroup *group);

/* Ends what is in it, and the group. */
void cgroup_end(struct cgroup *group);

#endif
