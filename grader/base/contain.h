/* contain: restricts what an untrusted program may reach on the machine, as far as the kernel
 * supports it: files by Landlock, processes and shared objects by namespaces, system calls by the
 * filter of confine.h, memory by a control group (cgroup.h), privileges by giving up root.
 *
 * This module never judges what a program did, and kills nothing: process.h does. Protections that
 * the machine does not offer are left out and named by contain_missing.
 *
 * For an untrusted process, in this order: contain_fork makes it, contain_settle prepares its
 * supervisor's view of the machine, contain_give_up is the last step before exec.
 *
 * Sources: landlock(7), namespaces(7), user_namespaces(7), capabilities(7).
 */
#ifndef OVERLAP_GRADER_BASE_CONTAIN_H
#define OVERLAP_GRADER_BASE_CONTAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* One program's rules. Lists end with NULL; missing paths are skipped. */
struct contain_rules {
    /* Files and folders that it may read, besides the system's libraries. */
    const char *const *read;
    const char *write; /* the one folder that it may write to */
    /* Capacity of that folder in bytes, and write_files in files; 0: not limited. With a limit the
     * folder is a file system of the program's own, which is gone when the program has ended. */
    uint64_t write_bytes;
    uint64_t write_files;
    bool devices;       /* it may use NVIDIA's devices */
    bool one_program;   /* it may start no further program, */
    const char *helper; /* except this one, where Landlock can tell programs apart; NULL: none */
    bool compiler;      /* it may read the system's programs and headers, and keeps its user */
};

/* Makes all later containment a no-op. Otherwise the first call that needs it finds out what the
 * machine offers; from then on no other process can read or trace the calling one. */
void contain_nothing(void);

/* Names what the machine does not offer, "namespaces, Landlock"; "": nothing is missing. The grader
 * calls it before anything else. */
const char *contain_missing(void);
/* Returns errno where the machine had no process for that test; else 0. */
int contain_error(void);

/* As fork, with process, IPC and mount namespaces of the child's own where the machine has them.
 * Shared preparations for all programs with these rules are made before the fork, once: `program`
 * must stay where it is. */
pid_t contain_fork(const struct contain_rules *rules, const char *program);

/* Called in the supervisor of `program`, which contain_fork made: mounts a /proc of its own, the
 * folder of the rules, and, with write_bytes, /tmp and /dev/shm. Returns 0, or -1 with errno. */
int contain_settle(const struct contain_rules *rules, const char *program);

/* Returns true when the folder of the rules is a file system of the program's own, which enforces
 * write_bytes and write_files. */
bool contain_has_own_folder(const struct contain_rules *rules);

/* Returns the folder in which control groups can be made (cgroup.h); NULL: none. */
const char *contain_groups(void);

/* Called in the program, before exec of `program`: gives up all privileges that it must not have,
 * irrevocably. Returns 0, or -1 with errno. */
int contain_give_up(const struct contain_rules *rules, const char *program);

#endif
