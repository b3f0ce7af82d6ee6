/* contain: what a program that is not trusted may reach of the machine, as far as the kernel lets
 * us say it: files by Landlock, processes and what is shared between them by namespaces, calls by
 * the filter of confine.h, memory by a control group (cgroup.h), rights by giving up root.
 *
 * It never judges what a program did, and it ends nothing: process.h does. What the machine does
 * not offer is left out and named by contain_missing.
 *
 * In a process that is not trusted, in this order: contain_fork makes it, contain_settle prepares
 * its supervisor's view of the machine, contain_give_up is the last step before exec.
 *
 * Sources: landlock(7), namespaces(7), user_namespaces(7), capabilities(7).
 */
#ifndef OVERLAP_GRADER_BASE_CONTAIN_H
#define OVERLAP_GRADER_BASE_CONTAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* One program's rules. Lists end with NULL; what is not there is passed over. */
struct contain_rules {
    const char *const *read; /* files and folders beside the system's libraries */
    const char *write;       /* the one folder that it may write to */
    uint64_t write_bytes;    /* 0: not counted; else what the folder may hold, and write_files: the
                              * folder is then the program's own and gone when it has ended */
    uint64_t write_files;
    bool devices;       /* NVIDIA's */
    bool one_program;   /* it starts no further program, */
    const char *helper; /* but this one, where Landlock tells programs apart; NULL: none */
    bool compiler;      /* it reads the system's programs and headers, and keeps its user */
};

/* What the machine offers is found out once, by the first that asks; from then on no other process
 * can read or trace the calling one. Instead of that: contains nothing from here on. */
void contain_nothing(void);

/* "namespaces, Landlock": what the machine does not offer; "": nothing. Asked by the grader before
 * anything else. */
const char *contain_missing(void);
/* errno, where the machine had no process to find that out with; else 0. */
int contain_error(void);

/* As fork, with process, IPC and mount namespaces of its own where there are any. What is the same
 * for all programs with these rules is made before, once: `program` stays where it is. */
pid_t contain_fork(const struct contain_rules *rules, const char *program);

/* In the supervisor of `program`, forked by contain_fork: a /proc of its own, the folder of the
 * rules, and, with write_bytes, /tmp and /dev/shm. Returns 0, or -1 with errno. */
int contain_settle(const struct contain_rules *rules, const char *program);

/* Whether the folder of the rules is a file system of the program's own, which holds it to
 * write_bytes and write_files. */
bool contain_has_own_folder(const struct contain_rules *rules);

/* Where control groups can be made (cgroup.h); NULL: nowhere. */
const char *contain_groups(void);

/* In the program, before exec of `program`: gives up what it must not have, for good. Returns 0, or
 * -1 with errno. */
int contain_give_up(const struct contain_rules *rules, const char *program);

#endif
