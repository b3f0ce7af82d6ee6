/* confine: a filter of system calls (seccomp, classic BPF) that keeps a submission's hands off the
 * processes above it: those that hold it to its limits and judge it, and whatever started them. A
 * call that names one of them (kill, ptrace, prlimit, ...) does not happen and fails with EPERM.
 *
 * It is not a sandbox: it never looks at files, sockets or memory, and never at processes that are
 * not above, so that a submission signals, traces and waits for children of its own. The only other
 * change is that pidfd_send_signal is not there (ENOSYS, as before Linux 5.1), because a filter
 * cannot see whom a descriptor stands for. What is started beneath inherits it, and setuid programs
 * lose their privilege (PR_SET_NO_NEW_PRIVS).
 *
 * Sources: seccomp(2), Documentation/userspace-api/seccomp_filter.rst of Linux.
 */
#ifndef OVERLAP_GRADER_BASE_CONFINE_H
#define OVERLAP_GRADER_BASE_CONFINE_H

#include <signal.h>
#include <stddef.h>
#include <sys/types.h>

#define CONFINE_MOST 32 /* ancestors that one filter can hold */

/* Holds the calling process to it, for good: `above` are the processes that it must not reach, at
 * most CONFINE_MOST. Returns 0, or -1 on a system that has no such filter (errno). */
int confine_install(const pid_t *above, size_t count);

/* A refused call comes as SIGSYS, so that it can be seen where it was made. In the handler
 * (SA_SIGINFO): lets the call return EPERM and gives its number; 0 when the signal came from
 * elsewhere. A program without a handler dies of the signal. Async-signal-safe. */
int confine_refused(const siginfo_t *info, void *context);

/* "kill"; NULL for a number that is not in the table. */
const char *confine_name(int number);

#endif
