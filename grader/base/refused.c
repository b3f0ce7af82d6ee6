#include "grader/base/refused.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <ucontext.h>

#define IOCTL_SET_OWNER 0x8901      /* FIOSETOWN */
#define IOCTL_SET_GROUP 0x8902      /* SIOCSPGRP */
#define IOCTL_TYPE_CHARACTER 0x5412 /* TIOCSTI */
#define IOCTL_CONSOLE 0x541c        /* TIOCLINUX: pastes, among other things */

#define ROW(call, how, ...)                                                                        \
    {                                                                                              \
        SYS_##call, #call, how, __VA_ARGS__                                                        \
    }

// clang-format off
const struct refused_row refused_rows[] = {
    /* Calls that reach for a process above. */
    ROW(kill, REFUSED_BY_TARGET, 0, 0),
    ROW(tkill, REFUSED_BY_PROCESS, 0, 0),
    ROW(tgkill, REFUSED_BY_PROCESS, 0, 0),
    ROW(rt_sigqueueinfo, REFUSED_BY_PROCESS, 0, 0),
    ROW(rt_tgsigqueueinfo, REFUSED_BY_PROCESS, 0, 0),
    ROW(ptrace, REFUSED_BY_PROCESS, 1, 0),
    ROW(process_vm_readv, REFUSED_BY_PROCESS, 0, 0),
    ROW(process_vm_writev, REFUSED_BY_PROCESS, 0, 0),
    {SYS_prlimit64, "prlimit", REFUSED_BY_PROCESS, 0, 0},
    /* A program that takes away its own threads, or the room for their stacks, would look as if the
     * machine had none. */
    ROW(setrlimit, REFUSED_SETTING, 0, RLIMIT_NPROC),
    ROW(setrlimit, REFUSED_SETTING, 0, RLIMIT_AS),
    ROW(setrlimit, REFUSED_SETTING, 0, RLIMIT_DATA),
    {SYS_prlimit64, "prlimit", REFUSED_SETTING, 1, RLIMIT_NPROC},
    {SYS_prlimit64, "prlimit", REFUSED_SETTING, 1, RLIMIT_AS},
    {SYS_prlimit64, "prlimit", REFUSED_SETTING, 1, RLIMIT_DATA},
    ROW(pidfd_open, REFUSED_BY_PROCESS, 0, 0),
    ROW(sched_setaffinity, REFUSED_BY_PROCESS, 0, 0),
    ROW(sched_setscheduler, REFUSED_BY_PROCESS, 0, 0),
    ROW(sched_setparam, REFUSED_BY_PROCESS, 0, 0),
    ROW(sched_setattr, REFUSED_BY_PROCESS, 0, 0),
    ROW(setpriority, REFUSED_BY_WHO, 0, 0 /* PRIO_PROCESS */),
    ROW(ioprio_set, REFUSED_BY_WHO, 0, 1 /* IOPRIO_WHO_PROCESS */),
    /* The kernel sends the signal, to any process, on behalf of the process that set the owner. */
    ROW(fcntl, REFUSED_VALUE, 1, F_SETOWN),
    ROW(fcntl, REFUSED_VALUE, 1, 15 /* F_SETOWN_EX */),
    ROW(fcntl, REFUSED_VALUE, 1, 10 /* F_SETSIG */),
    ROW(ioctl, REFUSED_VALUE, 1, IOCTL_SET_OWNER),
    ROW(ioctl, REFUSED_VALUE, 1, IOCTL_SET_GROUP),
    ROW(ioctl, REFUSED_TYPING, 1, IOCTL_TYPE_CHARACTER),
    ROW(ioctl, REFUSED_TYPING, 1, IOCTL_CONSOLE),
    /* A filter cannot see which process a descriptor refers to. */
    ROW(pidfd_send_signal, REFUSED_UNKNOWN, 0, 0),
    ROW(pidfd_getfd, REFUSED_UNKNOWN, 0, 0),
    ROW(process_madvise, REFUSED_UNKNOWN, 0, 0),
    ROW(process_mrelease, REFUSED_UNKNOWN, 0, 0),
    ROW(kcmp, REFUSED_UNKNOWN, 0, 0),
    /* The flags of clone3 are in memory, where a filter cannot look; the C library falls back to
     * clone. */
    ROW(clone3, REFUSED_UNKNOWN, 0, 0),
    /* Would make a child of the supervisor that the supervisor never started. */
    ROW(clone, REFUSED_FLAG, 0, CLONE_PARENT),
    ROW(clone, REFUSED_FLAG, 0, CLONE_NEWNS),
    ROW(clone, REFUSED_FLAG, 0, CLONE_NEWCGROUP),
    ROW(clone, REFUSED_FLAG, 0, CLONE_NEWUTS),
    ROW(clone, REFUSED_FLAG, 0, CLONE_NEWIPC),
    ROW(clone, REFUSED_FLAG, 0, CLONE_NEWUSER),
    ROW(clone, REFUSED_FLAG, 0, CLONE_NEWPID),
    ROW(clone, REFUSED_FLAG, 0, CLONE_NEWNET),
    /* Calls that leave something behind, lead out of the folder, or reach rarely used parts of the
     * kernel. */
    ROW(unshare, REFUSED_ALWAYS, 0, 0),
    ROW(setns, REFUSED_ALWAYS, 0, 0),
    ROW(mount, REFUSED_ALWAYS, 0, 0),
    ROW(umount2, REFUSED_ALWAYS, 0, 0),
    ROW(pivot_root, REFUSED_ALWAYS, 0, 0),
    ROW(chroot, REFUSED_ALWAYS, 0, 0),
    ROW(open_tree, REFUSED_ALWAYS, 0, 0),
    ROW(move_mount, REFUSED_ALWAYS, 0, 0),
    ROW(fsopen, REFUSED_ALWAYS, 0, 0),
    ROW(fsconfig, REFUSED_ALWAYS, 0, 0),
    ROW(fsmount, REFUSED_ALWAYS, 0, 0),
    ROW(fspick, REFUSED_ALWAYS, 0, 0),
    ROW(mount_setattr, REFUSED_ALWAYS, 0, 0),
    ROW(open_by_handle_at, REFUSED_ALWAYS, 0, 0),
    /* libcuda passes itself a descriptor through a local socket, and does not start without one. */
    ROW(socket, REFUSED_UNLESS, 0, AF_UNIX),
    ROW(shmget, REFUSED_SHARED, 0, 0),
    ROW(semget, REFUSED_SHARED, 0, 0),
    ROW(msgget, REFUSED_ALWAYS, 0, 0),
    ROW(mq_open, REFUSED_ALWAYS, 0, 0),
    ROW(io_uring_setup, REFUSED_ALWAYS, 0, 0),
    ROW(io_uring_enter, REFUSED_ALWAYS, 0, 0),
    ROW(io_uring_register, REFUSED_ALWAYS, 0, 0),
    ROW(userfaultfd, REFUSED_ALWAYS, 0, 0),
    ROW(add_key, REFUSED_ALWAYS, 0, 0),
    ROW(request_key, REFUSED_ALWAYS, 0, 0),
    ROW(keyctl, REFUSED_ALWAYS, 0, 0),
    ROW(bpf, REFUSED_ALWAYS, 0, 0),
    ROW(perf_event_open, REFUSED_ALWAYS, 0, 0),
    ROW(quotactl, REFUSED_ALWAYS, 0, 0),
    ROW(syslog, REFUSED_ALWAYS, 0, 0),
    ROW(acct, REFUSED_ALWAYS, 0, 0),
    ROW(fanotify_init, REFUSED_ALWAYS, 0, 0),
    /* Would show when files elsewhere are opened, and their names; and a user has few of them. */
    ROW(inotify_init1, REFUSED_ALWAYS, 0, 0),
#ifdef SYS_inotify_init
    ROW(inotify_init, REFUSED_ALWAYS, 0, 0),
#endif
    ROW(execveat, REFUSED_ALWAYS, 0, 0),
    /* Could change files elsewhere: Landlock restricts access to contents only. */
    ROW(fchmod, REFUSED_TO_RUNNER, 0, 0),
    ROW(fchmodat, REFUSED_TO_RUNNER, 0, 0),
    ROW(fchown, REFUSED_TO_RUNNER, 0, 0),
    ROW(fchownat, REFUSED_TO_RUNNER, 0, 0),
    ROW(utimensat, REFUSED_TO_RUNNER, 0, 0),
    ROW(setxattr, REFUSED_TO_RUNNER, 0, 0),
    ROW(lsetxattr, REFUSED_TO_RUNNER, 0, 0),
    ROW(fsetxattr, REFUSED_TO_RUNNER, 0, 0),
    ROW(removexattr, REFUSED_TO_RUNNER, 0, 0),
    ROW(lremovexattr, REFUSED_TO_RUNNER, 0, 0),
    ROW(fremovexattr, REFUSED_TO_RUNNER, 0, 0),
    {452, "fchmodat2", REFUSED_TO_RUNNER, 0, 0},
#ifdef SYS_chmod
    ROW(chmod, REFUSED_TO_RUNNER, 0, 0),
    ROW(chown, REFUSED_TO_RUNNER, 0, 0),
    ROW(lchown, REFUSED_TO_RUNNER, 0, 0),
    ROW(utime, REFUSED_TO_RUNNER, 0, 0),
    ROW(utimes, REFUSED_TO_RUNNER, 0, 0),
    ROW(futimesat, REFUSED_TO_RUNNER, 0, 0),
#endif
    /* Would hide the program's descriptors, so that the memory behind them is not counted. */
    ROW(prctl, REFUSED_QUIETLY, 0, PR_SET_DUMPABLE),
    /* With a filter of its own the program could make records disappear. */
    ROW(prctl, REFUSED_QUIETLY, 0, PR_SET_SECCOMP),
    ROW(seccomp, REFUSED_ALWAYS, 0, 0),
};
// clang-format on
const size_t refused_count = sizeof refused_rows / sizeof refused_rows[0];

const char *refused_name(int number)
{
    for (size_t i = 0; i < refused_count; i++)
        if (refused_rows[i].number == number) return refused_rows[i].name;
    return NULL;
}

bool refused_is_typing(int number, unsigned long second)
{
    for (size_t i = 0; i < refused_count; i++)
        if (refused_rows[i].number == number && refused_rows[i].how == REFUSED_TYPING &&
            refused_rows[i].value == (unsigned)second)
            return true;
    return false;
}

int refused_call(const siginfo_t *info, void *context, unsigned long *second)
{
    ucontext_t *state = context;

    if (info->si_code != 1 /* SYS_SECCOMP, which glibc does not name */) return 0;
#if defined(__x86_64__)
    *second = (unsigned long)state->uc_mcontext.gregs[REG_RSI];
    state->uc_mcontext.gregs[REG_RAX] = -EPERM;
#elif defined(__aarch64__)
    *second = state->uc_mcontext.regs[1];
    state->uc_mcontext.regs[0] = (unsigned long long)-EPERM;
#else
    *second = 0;
    (void)state;
#endif
    return info->si_syscall;
}
