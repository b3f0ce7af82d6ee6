#include "grader/base/confine.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* The architectures on which this was tried; on others there is no filter. */
#if defined(__x86_64__) && !defined(__ILP32__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__) && defined(__AARCH64EL__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif
#define FOREIGN_NUMBERS 0x40000000u /* from here on: x32, a second way to every call */

enum names {
    BY_PROCESS,    /* the argument is a process or thread */
    BY_TARGET,     /* as kill(2): also a group (negative), or everybody (-1) */
    BY_DESCRIPTOR, /* cannot be judged: the call is not there */
};

struct row {
    int number;
    const char *name;
    enum names names;
    unsigned argument;
};

static const struct row rows[] = {
    {SYS_kill, "kill", BY_TARGET, 0},
    {SYS_tkill, "tkill", BY_PROCESS, 0},
    {SYS_tgkill, "tgkill", BY_PROCESS, 0},
    {SYS_rt_sigqueueinfo, "rt_sigqueueinfo", BY_PROCESS, 0},
    {SYS_rt_tgsigqueueinfo, "rt_tgsigqueueinfo", BY_PROCESS, 0},
    {SYS_ptrace, "ptrace", BY_PROCESS, 1},
    {SYS_process_vm_readv, "process_vm_readv", BY_PROCESS, 0},
    {SYS_process_vm_writev, "process_vm_writev", BY_PROCESS, 0},
    {SYS_prlimit64, "prlimit", BY_PROCESS, 0},
    {SYS_pidfd_open, "pidfd_open", BY_PROCESS, 0},
    {SYS_pidfd_send_signal, "pidfd_send_signal", BY_DESCRIPTOR, 0},
};
#define ROWS (sizeof rows / sizeof rows[0])

const char *confine_name(int number)
{
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].number == number) return rows[i].name;
    return NULL;
}

#ifdef ARCHITECTURE

struct program {
    struct sock_filter code[8 + 3 * ROWS + 2 * (2 * CONFINE_MOST + 1) + 1];
    unsigned short count;
};

static void add(struct program *program, struct sock_filter instruction)
{
    program->code[program->count++] = instruction;
}

static void load(struct program *program, size_t offset)
{
    add(program, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static void leave(struct program *program, uint32_t answer)
{
    add(program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer));
}

/* Skips the next `skipped` instructions unless `test` (BPF_JEQ, ...) holds. */
static void unless(struct program *program, unsigned test, uint32_t value, uint8_t skipped)
{
    add(program,
        (struct sock_filter)BPF_JUMP((uint16_t)(BPF_JMP | test | BPF_K), value, 0, skipped));
}

static void refuse_value(struct program *program, pid_t value)
{
    unless(program, BPF_JEQ, (uint32_t)value, 1);
    leave(program, SECCOMP_RET_TRAP);
}

/* The rows first, each with the argument loaded and a jump to the list that it is held against; the
 * list of groups runs on into the list of processes. */
static void write_program(struct program *program, const pid_t *above, size_t count)
{
    unsigned short jumps[ROWS], lists[2];

    load(program, offsetof(struct seccomp_data, arch));
    unless(program, BPF_JEQ, ARCHITECTURE, 1);
    add(program, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 1));
    leave(program, SECCOMP_RET_ERRNO | EPERM);
    load(program, offsetof(struct seccomp_data, nr));
    unless(program, BPF_JGE, FOREIGN_NUMBERS, 1);
    leave(program, SECCOMP_RET_ERRNO | EPERM);
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].names == BY_DESCRIPTOR) {
            unless(program, BPF_JEQ, (uint32_t)rows[i].number, 1);
            leave(program, SECCOMP_RET_ERRNO | ENOSYS);
            continue;
        }
        unless(program, BPF_JEQ, (uint32_t)rows[i].number, 2);
        /* Process numbers are ints: the kernel looks at the lower half alone, and so must this. */
        load(program, offsetof(struct seccomp_data, args) + rows[i].argument * sizeof(uint64_t));
        jumps[i] = program->count;
        add(program, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 0));
    }
    leave(program, SECCOMP_RET_ALLOW);

    lists[BY_TARGET] = program->count;
    refuse_value(program, -1);
    for (size_t i = 0; i < count; i++) {
        const pid_t group = getpgid(above[i]);
        if (group > 1) refuse_value(program, -group);
    }
    lists[BY_PROCESS] = program->count;
    for (size_t i = 0; i < count; i++) refuse_value(program, above[i]);
    leave(program, SECCOMP_RET_ALLOW);
    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].names != BY_DESCRIPTOR)
            program->code[jumps[i]].k = lists[rows[i].names] - jumps[i] - 1u;
}

int confine_install(const pid_t *above, size_t count)
{
    struct program program = {.count = 0};

    write_program(&program, above, count < CONFINE_MOST ? count : CONFINE_MOST);
    const struct sock_fprog given = {.len = program.count, .filter = program.code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &given, 0, 0) == 0 ? 0 : -1;
}

#else

int confine_install(const pid_t *above, size_t count)
{
    (void)above;
    (void)count;
    errno = ENOSYS;
    return -1;
}

#endif

int confine_refused(const siginfo_t *info, void *context)
{
    ucontext_t *state = context;

    if (info->si_code != 1 /* SYS_SECCOMP, which glibc does not name */) return 0;
#if defined(__x86_64__)
    state->uc_mcontext.gregs[REG_RAX] = -EPERM;
#elif defined(__aarch64__)
    state->uc_mcontext.regs[0] = (unsigned long long)-EPERM;
#else
    (void)state;
#endif
    return info->si_syscall;
}
