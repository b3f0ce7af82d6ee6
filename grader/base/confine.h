/* confine: a filter of system calls (seccomp, by libseccomp) made from the table of refused.h. It
 * keeps a submission's hands off the processes above it (those that hold it to its limits and judge
 * it, and whatever started them), off the network, and off what would outlive it.
 *
 * It never looks at files (contain.h does) and never at processes that are not above, so that a
 * submission signals, traces and waits for children of its own. What is started beneath inherits
 * it, and setuid programs lose their privilege (PR_SET_NO_NEW_PRIVS).
 *
 * Sources: seccomp(2), seccomp_rule_add(3).
 */
#ifndef OVERLAP_GRADER_BASE_CONFINE_H
#define OVERLAP_GRADER_BASE_CONFINE_H

#include "grader/base/refused.h"

#include <stdbool.h>
#include <sys/types.h>

/* What is let through that is otherwise refused. */
enum confine_granted {
    CONFINE_DRIVER = 1u << 0,  /* what NVIDIA's driver needs */
    CONFINE_OWN_IPC = 1u << 1, /* System V's segments: the program has a namespace of them, which
                                * ends with it */
    CONFINE_HELPER = 1u << 2,  /* programs by another name than the one: which, Landlock says */
};

#define CONFINE_MOST 32 /* ancestors that one filter can hold */

/* A filter as the kernel takes it. All zero: none was made. */
struct confine_filter {
    void *rules;
    unsigned short count;
};

/* Makes one: `above` are the processes that must not be reached, at most CONFINE_MOST.
 * `only_program` (NULL: no such rule) is the one string that may still be given to execve: the rule
 * looks at where the string is, which what was started does not know. `granted` is a set of enum
 * confine_granted. Returns 0, or -1 on a system that has no such filter (errno). Making it costs
 * ten times as much as holding to it: what is the same for many processes is made before they are
 * forked. */
int confine_make(struct confine_filter *filter, const pid_t *above, size_t count,
                 const char *only_program, unsigned granted);

/* Holds the calling process to it, for good. Returns 0, or -1 with errno. */
int confine_hold(const struct confine_filter *filter);

/* Both. */
int confine_install(const pid_t *above, size_t count, const char *only_program, unsigned granted);

#endif
