/* confine: a system call filter (seccomp, by libseccomp) made from the table of refused.h. The
 * filter keeps a submission from the processes above it (its supervisor, the grader, and whatever
 * started them), from the network, and from anything that would outlive the submission.
 *
 * The filter does not restrict files (contain.h does) nor processes that are not above, so a
 * submission may signal, trace and wait for its own children. Child processes inherit the filter,
 * and setuid programs lose their privilege (PR_SET_NO_NEW_PRIVS).
 *
 * Sources: seccomp(2), seccomp_rule_add(3).
 */
#ifndef OVERLAP_GRADER_BASE_CONFINE_H
#define OVERLAP_GRADER_BASE_CONFINE_H

#include "grader/base/refused.h"

#include <stdbool.h>
#include <sys/types.h>

/* Exceptions: system calls that are permitted although the table refuses them. */
enum confine_granted {
    CONFINE_DRIVER = 1u << 0,  /* calls that NVIDIA's driver needs */
    CONFINE_OWN_IPC = 1u << 1, /* System V segments: the program has an IPC namespace of its own,
                                  which ends with it */
    CONFINE_HELPER = 1u << 2,  /* starting other programs: Landlock decides which */
};

#define CONFINE_MOST 32 /* maximum number of ancestors in one filter */

/* A filter in the kernel's form. All zero: no filter was made. */
struct confine_filter {
    void *rules;
    unsigned short count;
};

/* Makes a filter. `above` are the processes that must not be reached, at most CONFINE_MOST.
 * `only_program` (NULL: no such rule) is the one string that may still be passed to execve; the
 * rule compares its address, which a started program does not know. `granted` is a set of enum
 * confine_granted. Returns 0, or -1 with errno: the system has no such filter. Making a filter
 * costs ten times as much as installing it, so one filter for many processes is made before they
 * are forked. */
int confine_make(struct confine_filter *filter, const pid_t *above, size_t count,
                 const char *only_program, unsigned granted);

/* Installs the filter in the calling process, irrevocably. Returns 0, or -1 with errno. */
int confine_hold(const struct confine_filter *filter);

/* Makes a filter and installs it. */
int confine_install(const pid_t *above, size_t count, const char *only_program, unsigned granted);

#endif
