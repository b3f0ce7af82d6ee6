/* Limits, and that no process is left running, with small shell programs. */
#include "grader/base/cgroup.h"
#include "grader/base/confine.h"
#include "grader/base/descendants.h"
#include "grader/base/files.h"
#include "grader/base/held.h"
#include "grader/base/process.h"
#include "support.h"
#include "tests/temporary.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static struct process *begin(const char *script, struct process_limits limits)
{
    const char *arguments[] = {"/bin/sh", "-c", script, NULL};
    const char *environment[] = {"PATH=/usr/bin:/bin", "SEEN=yes", NULL};
    struct process_spec spec = {
        .arguments = arguments, .environment = environment, .folder = "/", .limits = limits};
    if (spec.limits.seconds == 0) spec.limits.seconds = 20;
    if (spec.limits.output == 0) spec.limits.output = 4096;
    struct process *process = process_start(&spec);
    ck_assert_ptr_nonnull(process);
    return process;
}

static struct process *start(const char *script, struct process_limits limits)
{
    struct process *process = begin(script, limits);
    ck_assert_uint_eq(process_wait_any(&process, 1), 0);
    ck_assert_uint_eq(support_processes(), 0);
    return process;
}

START_TEST(it_ends_by_itself)
{
    struct process *p = start("echo out; echo err >&2; exit 3", (struct process_limits){0});
    ck_assert_int_eq(process_result(p)->ending, PROCESS_EXITED);
    ck_assert_int_eq(process_result(p)->code, 3);
    ck_assert_str_eq(process_printed(p), "out\nerr\n");
    process_free(p);
    p = start("kill -USR1 $$", (struct process_limits){0});
    ck_assert_int_eq(process_result(p)->ending, PROCESS_SIGNALLED);
    ck_assert_int_eq(process_result(p)->signal, SIGUSR1);
    process_free(p);
}
END_TEST

START_TEST(it_sees_nothing_of_ours)
{
    setenv("GRADERS_SECRET", "1", 1);
    struct process *p = start("env; pwd; read x || echo no input; ls /proc/self/fd | wc -l",
                              (struct process_limits){0});
    const char *said = process_printed(p);
    ck_assert_ptr_null(strstr(said, "SECRET"));
    ck_assert_ptr_nonnull(strstr(said, "SEEN=yes"));
    ck_assert_ptr_nonnull(strstr(said, "\n/\nno input\n"));
    process_free(p);
}
END_TEST

static const struct {
    const char *script;
    struct process_limits limits;
    enum process_ending ending;
} limited[] = {
    {"sleep 600", {.seconds = 1}, PROCESS_TIME},
    {"trap '' XCPU TERM INT HUP; while :; do :; done", {.seconds = 1}, PROCESS_TIME},
    {"setsid sleep 600 & setsid sleep 600 & wait", {.seconds = 1}, PROCESS_TIME},
    {"yes", {.output = 1 << 16}, PROCESS_OUTPUT},
    {"for i in 1 2 3 4 5 6; do sleep 600 & done; wait", {.processes = 3}, PROCESS_PROCESSES},
    {"x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done", {.memory = 64 << 20}, PROCESS_MEMORY},
};

START_TEST(limits_hold)
{
    struct process *p = start(limited[_i].script, limited[_i].limits);
    ck_assert_int_eq(process_result(p)->ending, limited[_i].ending);
    ck_assert(process_result(p)->own_seconds < 10);
    process_free(p);
}
END_TEST

/* The system ends it after two seconds of processor time. */
#define COMPUTES "ulimit -t 2; while :; do :; done"

/* A slow machine needs longer to compute, not to wait. */
START_TEST(who_computes_has_longer_than_who_waits)
{
    static const struct {
        const char *script;
        unsigned computing;
        enum process_ending ending;
    } scripts[] = {{"sleep 1.5", 8, PROCESS_TIME},
                   {COMPUTES, 8, PROCESS_SIGNALLED},
                   {COMPUTES, 0, PROCESS_TIME},
                   {"while :; do :; done", 2, PROCESS_TIME}};
    for (size_t k = 0; k < sizeof scripts / sizeof *scripts; k++) {
        struct process *p =
            start(scripts[k].script,
                  (struct process_limits){.seconds = 0.5, .computing = scripts[k].computing});
        ck_assert_int_eq(process_result(p)->ending, scripts[k].ending);
        process_free(p);
    }
}
END_TEST

/* ---- what looks like less ----------------------------------------------------------------------
 *
 * This program started again with the name of one of these: it takes 96 MiB of memory in a way that
 * its own page count does not show, and waits. */

#define MUCH ((size_t)96 << 20)

static void *take_and_wait(void *unused)
{
    volatile char *memory = malloc(MUCH);

    usleep(20000);
    for (size_t i = 0; memory != NULL && i < MUCH; i += 4096) memory[i] = 1;
    sleep(600);
    return unused;
}

/* The first thread ends, so /proc shows the process as a zombie. */
static void behind_a_dead_leader(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, take_and_wait, NULL) == 0) syscall(SYS_exit, 0);
}

static void write_memory_file(void)
{
    static char part[1 << 20];
    const int file = memfd_create("much", 0);
    for (size_t i = 0; i < MUCH / sizeof part; i++)
        if (write(file, part, sizeof part) < 0) _exit(1);
}

static void in_memory_files(void)
{
    write_memory_file();
    sleep(600);
}

static void *write_and_wait(void *unused)
{
    write_memory_file();
    sleep(600);
    return unused;
}

static int with_a_table_of_its_own(void *unused)
{
    return write_and_wait(unused) != NULL;
}

/* A thread that shares memory but no descriptors. */
static void in_a_threads_own_table(void)
{
    char *stack = malloc(1 << 20);
    if (clone(with_a_table_of_its_own, stack + (1 << 20),
              CLONE_VM | CLONE_SIGHAND | CLONE_THREAD | CLONE_FS, NULL) > 0)
        sleep(600);
}

/* All pages are one page of zeros; the page tables for them are the kernel's memory. */
static void in_page_tables(void)
{
    const size_t all = (MUCH / 4096) << 21;
    char *empty = mmap(NULL, all, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (empty == MAP_FAILED) _exit(1);
    madvise(empty, all, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < all; i += (size_t)1 << 21) (void)*(volatile char *)(empty + i);
    sleep(600);
}

static const struct {
    const char *name;
    void (*take)(void);
} takers[] = {
    {"dead-leader", behind_a_dead_leader},
    {"memory-files", in_memory_files},
    {"own-table", in_a_threads_own_table},
    {"page-tables", in_page_tables},
};

START_TEST(memory_is_counted_wherever_it_is)
{
    const char *arguments[] = {"/proc/self/exe", takers[_i].name, NULL}, *environment[] = {NULL};
    struct process_spec spec = {
        .arguments = arguments,
        .environment = environment,
        .folder = "/",
        .limits = {.seconds = 20, .output = 100, .memory = (uint64_t)64 << 20}};
    struct process *p = process_start(&spec);
    process_wait_any(&p, 1);
    ck_assert_msg(process_result(p)->ending == PROCESS_MEMORY, "%s: ended as %d, %llu bytes",
                  takers[_i].name, (int)process_result(p)->ending,
                  (unsigned long long)process_result(p)->peak_bytes);
    process_free(p);
    ck_assert_uint_eq(support_processes(), 0);
}
END_TEST

/* ---- what looks like waiting for a disk -------------------------------------------------------
 */

#define VFORK_NAME "vfork"

static int sleep_on(void *unused)
{
    (void)unused;
    return (int)sleep(600);
}

/* A thread that waits in vfork for one that sleeps: the kernel shows it in state D. */
static void wait_in_vfork(void)
{
    char *stack = malloc(1 << 20);
    if (stack == NULL) _exit(1);
    clone(sleep_on, stack + (1 << 20),
          CLONE_VM | CLONE_VFORK | CLONE_SIGHAND | CLONE_THREAD | CLONE_FS, NULL);
    _exit(2);
}

START_TEST(waiting_in_vfork_is_waiting_for_ever)
{
    const char *arguments[] = {"/proc/self/exe", VFORK_NAME, NULL}, *environment[] = {NULL};
    struct process_spec spec = {.arguments = arguments,
                                .environment = environment,
                                .folder = "/",
                                .limits = {.seconds = 0.5, .output = 100}};
    struct process *p = process_start(&spec);
    process_wait_any(&p, 1);
    ck_assert_int_eq(process_result(p)->ending, PROCESS_TIME);
    process_free(p);
    ck_assert_uint_eq(support_processes(), 0);
}
END_TEST

/* ---- what is counted by user --------------------------------------------------------------------
 */

#define SIGNALS_NAME "signals"

/* Queues as many signals for itself as it may. */
static void queue_signals(void)
{
    const union sigval value = {0};
    sigset_t held;
    int queued = 0;

    sigemptyset(&held);
    sigaddset(&held, SIGRTMIN);
    sigprocmask(SIG_BLOCK, &held, NULL);
    while (queued < 4096 && sigqueue(getpid(), SIGRTMIN, value) == 0) queued++;
    _exit(queued < 4096 ? 0 : 1);
}

START_TEST(a_program_leaves_signals_to_others)
{
    const char *arguments[] = {"/proc/self/exe", SIGNALS_NAME, NULL}, *environment[] = {NULL};
    struct process_spec spec = {.arguments = arguments,
                                .environment = environment,
                                .folder = "/",
                                .limits = {.seconds = 20, .output = 100}};
    struct process *p = process_start(&spec);
    process_wait_any(&p, 1);
    ck_assert_int_eq(process_result(p)->ending, PROCESS_EXITED);
    ck_assert_int_eq(process_result(p)->code, 0);
    process_free(p);
}
END_TEST

START_TEST(a_folder_is_counted)
{
    const char *folder = temporary_folder();
    struct text script = {0};
    text_format(&script, "cd %s; mkdir a; for i in 1 2 3 4 5; do echo > a/$i; done", folder);
    ck_assert_int_eq(system(text_string(&script)), 0);
    ck_assert_uint_eq(held_in_folder(folder, 100, 1 << 20).files, 7);
    /* Enough to know that it is over the limit. */
    ck_assert_uint_eq(held_in_folder(folder, 3, 1 << 20).files, 4);
    ck_assert_uint_ge(held_in_folder(folder, 100, 1 << 20).bytes, 5 * 512);
    text_free(&script);
}
END_TEST

/* ---- control groups --------------------------------------------------------------------------
 *
 * A folder in place of the kernel's: what is written into it can be read. */

static const char *hierarchy;
static char mounts[PATH_MAX], own_group[PATH_MAX];

static void put(const char *path, const char *text)
{
    char whole[PATH_MAX];
    snprintf(whole, sizeof whole, "%s/%s", hierarchy, path);
    ck_assert_int_eq(files_write(whole, text, strlen(text)), 0);
}

/* Makes a hierarchy with this process in /user/session; `down` lists the controllers that /user
 * delegates. */
static void make_hierarchy(const char *down)
{
    char text[2 * PATH_MAX];
    hierarchy = temporary_folder();
    snprintf(text, sizeof text, "%s/user/session", hierarchy);
    ck_assert_int_eq(files_make_folders(text), 0);
    snprintf(text, sizeof text,
             "22 1 8:1 / / rw - ext4 /dev/a rw\n30 22 0:26 / %s rw,nosuid - cgroup2 cgroup2 rw\n",
             hierarchy);
    put("mounts", text);
    put("own", "1:cpu:/elsewhere\n0::/user/session\n");
    put("user/session/cgroup.subtree_control", "");
    put("user/cgroup.subtree_control", down);
    snprintf(mounts, sizeof mounts, "%s/mounts", hierarchy);
    snprintf(own_group, sizeof own_group, "%s/own", hierarchy);
}

static void assert_holds(const struct cgroup *group, const char *name, const char *value)
{
    char path[PATH_MAX + 64];
    struct text text = {0};
    snprintf(path, sizeof path, "%s/%s", group->path, name);
    ck_assert_int_eq(files_read(path, 1000, &text), 0);
    ck_assert_str_eq(text_string(&text), value);
    text_free(&text);
}

START_TEST(a_group_is_made_where_limits_are_handed_down)
{
    char parent[PATH_MAX], wanted[PATH_MAX];
    struct cgroup group;

    make_hierarchy("cpuset memory pids\n");
    ck_assert(cgroup_find(mounts, own_group, "memory pids", parent));
    snprintf(wanted, sizeof wanted, "%s/user", hierarchy);
    ck_assert_str_eq(parent, wanted);
    ck_assert_int_eq(cgroup_make(&group, parent, 1000000, 77), 0);
    ck_assert_int_eq(cgroup_enter(&group), 0);
    assert_holds(&group, "memory.max", "1000000");
    assert_holds(&group, "memory.swap.max", "0");
    assert_holds(&group, "pids.max", "77");
    assert_holds(&group, "cgroup.procs", "0");
    ck_assert(!cgroup_ran_out(&group));
    cgroup_kill(&group);
    assert_holds(&group, "cgroup.kill", "1");
    cgroup_end(&group);
    ck_assert_int_eq(group.entry, -1);
}
END_TEST

START_TEST(no_group_is_made_where_none_is_of_use)
{
    static const char *const down[] = {"", "memory\n", "cpu memory.not pids\n"};
    char parent[PATH_MAX];

    for (size_t i = 0; i < sizeof down / sizeof down[0]; i++) {
        make_hierarchy(down[i]);
        ck_assert(!cgroup_find(mounts, own_group, "memory pids", parent));
    }
    ck_assert(!cgroup_find("/no/such/file", "/proc/self/cgroup", "", parent));
}
END_TEST

/* With a real control group, if this machine permits one, with or without limits. */
START_TEST(a_real_group_is_ended_as_a_whole)
{
    char parent[PATH_MAX];
    struct cgroup group;
    struct stat status;
    int ended = 0, inside[2];
    char each;

    if (!cgroup_find("/proc/self/mountinfo", "/proc/self/cgroup", "", parent)) return;
    ck_assert_int_eq(cgroup_make(&group, parent, 0, 0), 0);
    ck_assert_int_eq(pipe(inside), 0);
    const pid_t child = fork();
    if (child == 0) {
        if (cgroup_enter(&group) == 0 && fork() >= 0 && write(inside[1], "x", 1) == 1) sleep(600);
        _exit(1);
    }
    close(inside[1]);
    for (int i = 0; i < 2; i++) ck_assert_int_eq(read(inside[0], &each, 1), 1);
    close(inside[0]);
    ck_assert_int_eq(stat(group.path, &status), 0);
    cgroup_end(&group);
    ck_assert_int_eq(waitpid(child, &ended, 0), child);
    ck_assert(WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL);
    ck_assert_int_ne(stat(group.path, &status), 0);
}
END_TEST

/* The kernel kills a process that wants more memory than the group has, and refuses one task too
 * many. For machines that delegate no such limits, tests/cgroup/vm.sh boots one that does. */
START_TEST(a_real_group_holds_its_limits)
{
    const size_t most = (size_t)32 << 20;
    char parent[PATH_MAX];
    struct cgroup group;
    int ended = 0;

    if (!cgroup_find("/proc/self/mountinfo", "/proc/self/cgroup", "memory pids", parent)) {
        printf("skipped: no control group here has the memory and pids controllers\n");
        return;
    }
    ck_assert_int_eq(cgroup_make(&group, parent, most, 3), 0);
    const pid_t child = fork();
    if (child == 0) {
        if (cgroup_enter(&group) != 0) _exit(1);
        for (int i = 0; i < 2; i++) {
            const pid_t task = fork();
            if (task < 0) _exit(2);
            if (task == 0)
                for (;;) pause();
        }
        if (fork() >= 0 || errno != EAGAIN) _exit(3);
        char *memory =
            mmap(NULL, 2 * most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) _exit(4);
        memset(memory, 1, 2 * most);
        _exit(5);
    }
    ck_assert_int_eq(waitpid(child, &ended, 0), child);
    ck_assert_msg(WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL, "status 0x%x", (unsigned)ended);
    ck_assert(cgroup_ran_out(&group));
    cgroup_end(&group);
}
END_TEST

/* Starts a process that keeps a processor busy, with precedence over what has less: each session
 * has its share (sched(7), on autogroups), and within it SCHED_IDLE comes last. Its session is its
 * own, because the caller's may have a small share. */
static pid_t hog(int processor)
{
    int ready[2];
    char byte;
    ck_assert_int_eq(pipe(ready), 0);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(processor, &one);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (setsid() < 0 || sched_setaffinity(0, sizeof one, &one) != 0) _exit(1);
        if (write(ready[1], "", 1) != 1) _exit(1);
        for (;;) continue;
    }
    close(ready[1]);
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return child;
}

/* The program's own clock stands still while it gets no processor; when that does not end, the
 * machine is to blame. */
START_TEST(a_busy_machine_makes_nobody_late)
{
    char script[256];
    cpu_set_t allowed;
    int processor = 0;

    ck_assert_int_eq(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    while (!CPU_ISSET(processor, &allowed)) processor++;
    const pid_t busy = hog(processor);
    snprintf(script, sizeof script,
             "command -v chrt taskset >/dev/null || exit 77; taskset -cp %d $$ >/dev/null && "
             "{ [ ! -e /proc/self/autogroup ] || echo 19 >/proc/$$/autogroup; } && "
             "chrt --idle -p 0 $$ && while :; do :; done",
             processor);
    struct process *p = begin(script, (struct process_limits){.seconds = 0.3});
    ck_assert_uint_eq(process_wait_any(&p, 1), 0);
    kill(busy, SIGKILL);
    ck_assert_int_eq(waitpid(busy, NULL, 0), busy);
    const struct process_result *result = process_result(p);
    if (result->ending == PROCESS_EXITED) {
        printf("skipped: no chrt or no taskset here\n");
    } else {
        ck_assert_int_eq(result->ending, PROCESS_BUSY);
        ck_assert(result->seconds > PROCESS_PATIENCE * 0.3 && result->own_seconds < 0.3);
    }
    process_free(p);
}
END_TEST

START_TEST(what_stays_is_counted_and_ended)
{
    struct process *p = start("sleep 600 & setsid sh -c 'sleep 600 & sleep 600' & exit 0",
                              (struct process_limits){0});
    ck_assert_int_eq(process_result(p)->ending, PROCESS_EXITED);
    ck_assert_uint_ge(process_result(p)->left_running, 3);
    process_free(p);
    p = start("sleep 0.05 & exit 0", (struct process_limits){0}); /* it ends soon: not counted */
    ck_assert_uint_eq(process_result(p)->left_running, 0);
    process_free(p);
}
END_TEST

START_TEST(what_cannot_be_started_is_named)
{
    const char *arguments[] = {"/no/such/program", NULL}, *environment[] = {NULL};
    struct process_spec spec = {.arguments = arguments,
                                .environment = environment,
                                .folder = "/",
                                .limits = {.seconds = 5, .output = 100}};
    struct process *p = process_start(&spec);
    process_wait_any(&p, 1);
    ck_assert_int_eq(process_result(p)->ending, PROCESS_NOT_STARTED);
    ck_assert_str_eq(process_result(p)->why, "/no/such/program: No such file or directory");
    process_free(p);
}
END_TEST

START_TEST(several_run_at_one_time)
{
    char last[PATH_MAX], script[PATH_MAX + 64];
    const char *slow[] = {"/bin/sh", "-c", script, NULL}, *fast[] = {"/bin/true", NULL};
    const char *environment[] = {NULL};
    struct process_spec spec = {.arguments = slow,
                                .environment = environment,
                                .folder = "/",
                                .limits = {.seconds = 60, .output = 100}};
    snprintf(last, sizeof last, "%s/last", support_folder());
    snprintf(script, sizeof script, "until [ -e %s ]; do /bin/sleep 0.01; done", last);
    struct process *p[3] = {process_start(&spec), NULL, NULL};
    spec.arguments = fast;
    p[2] = process_start(&spec);
    ck_assert_uint_eq(process_wait_any(p, 3), 2);
    ck_assert_int_eq(files_write(last, "", 0), 0);
    ck_assert_uint_eq(process_wait_any(p, 3), 0);
    ck_assert_uint_eq(process_wait_any(p, 3), 3); /* none is left */
    process_free(p[0]);
    process_free(p[2]);
}
END_TEST

START_TEST(freeing_ends_it)
{
    const char *arguments[] = {"/bin/sleep", "600", NULL}, *environment[] = {NULL};
    struct process_spec spec = {.arguments = arguments,
                                .environment = environment,
                                .folder = "/",
                                .limits = {.seconds = 60, .output = 100}};
    process_free(process_start(&spec));
    ck_assert_uint_eq(support_processes(), 0);
}
END_TEST

START_TEST(an_interrupt_ends_all)
{
    const char *arguments[] = {"/bin/sleep", "600", NULL}, *environment[] = {NULL};
    struct process_spec spec = {.arguments = arguments,
                                .environment = environment,
                                .folder = "/",
                                .limits = {.seconds = 60, .output = 100}};
    process_handle_interrupts();
    struct process *p = process_start(&spec);
    ck_assert_int_eq(process_interrupted(), 0);
    if (fork() == 0) {
        usleep(100000);
        kill(getppid(), SIGTERM);
        _exit(0);
    }
    ck_assert_uint_eq(process_wait_any(&p, 1), 0);
    ck_assert_int_eq(process_interrupted(), SIGTERM);
    ck_assert_int_eq(process_result(p)->ending, PROCESS_ABANDONED);
    process_free(p);
    ck_assert_uint_eq(support_processes(), 0);
}
END_TEST

/* A signal that comes before the wait is not lost. */
START_TEST(an_interrupt_before_the_wait_ends_all)
{
    const char *arguments[] = {"/bin/sleep", "600", NULL}, *environment[] = {NULL};
    struct process_spec spec = {.arguments = arguments,
                                .environment = environment,
                                .folder = "/",
                                .limits = {.seconds = 600, .output = 100}};
    process_handle_interrupts();
    struct process *p = process_start(&spec);
    raise(SIGTERM);
    ck_assert_int_eq(process_interrupted(), SIGTERM);
    ck_assert_uint_eq(process_wait_any(&p, 1), 0);
    ck_assert_int_eq(process_result(p)->ending, PROCESS_ABANDONED);
    process_free(p);
    ck_assert_uint_eq(support_processes(), 0);
}
END_TEST

/* ---- confined ---------------------------------------------------------------------------------
 *
 * Each is tried in a way that harms nobody should the filter be missing: signal 0, no resource to
 * set, nothing to read, a request that ptrace does not know. */

static volatile sig_atomic_t last_refused;

static void on_refused(int number, siginfo_t *info, void *context)
{
    unsigned long second;
    (void)number;
    last_refused = refused_call(info, context, &second);
}

static long no_signal(pid_t pid)
{
    return kill(pid, 0);
}

static long no_signal_to_group(pid_t pid)
{
    return kill(-getpgid(pid), 0);
}

static long no_signal_to_all(pid_t pid)
{
    (void)pid;
    return kill(-1, 0);
}

static long no_signal_to_thread(pid_t pid)
{
    return syscall(SYS_tkill, pid, 0);
}

static long no_signal_to_thread_of(pid_t pid)
{
    return syscall(SYS_tgkill, pid, pid, 0);
}

/* The kernel uses the lower half of a process number only. */
static long no_signal_with_more_bits(pid_t pid)
{
    return syscall(SYS_kill, (1L << 32) | pid, 0);
}

static long nothing_queued(pid_t pid)
{
    siginfo_t info = {.si_code = SI_QUEUE};
    return syscall(SYS_rt_sigqueueinfo, pid, 0, &info);
}

static long nothing_queued_to_thread(pid_t pid)
{
    siginfo_t info = {.si_code = SI_QUEUE};
    return syscall(SYS_rt_tgsigqueueinfo, pid, pid, 0, &info);
}

static long no_trace(pid_t pid)
{
    return syscall(SYS_ptrace, PTRACE_PEEKUSER, pid, 0, 0); /* ESRCH where it is not traced */
}

static long nothing_read(pid_t pid)
{
    return process_vm_readv(pid, NULL, 0, NULL, 0, 0);
}

static long nothing_written(pid_t pid)
{
    return process_vm_writev(pid, NULL, 0, NULL, 0, 0);
}

static long limit_asked(pid_t pid)
{
    struct rlimit limit;
    return prlimit(pid, RLIMIT_CPU, NULL, &limit);
}

static long descriptor_opened(pid_t pid)
{
    return syscall(SYS_pidfd_open, pid, 0);
}

static const struct {
    long (*reach)(pid_t pid);
    const char *name;
} reaches[] = {
    {no_signal, "kill"},
    {no_signal_to_group, "kill"},
    {no_signal_to_all, "kill"},
    {no_signal_with_more_bits, "kill"},
    {no_signal_to_thread, "tkill"},
    {no_signal_to_thread_of, "tgkill"},
    {nothing_queued, "rt_sigqueueinfo"},
    {nothing_queued_to_thread, "rt_tgsigqueueinfo"},
    {no_trace, "ptrace"},
    {nothing_read, "process_vm_readv"},
    {nothing_written, "process_vm_writev"},
    {limit_asked, "prlimit"},
    {descriptor_opened, "pidfd_open"},
};

/* Runs `reach` in a forked child under the filter; returns 0, or the number of the failed step. */
static int confined(long (*reach)(pid_t pid), const char *name)
{
    struct sigaction action = {.sa_sigaction = on_refused, .sa_flags = SA_SIGINFO};
    pid_t above[CONFINE_MOST];
    const pid_t parent = getppid();
    int status;

    setsid(); /* like every program that is started: its group is not its parent's */
    sigaction(SIGSYS, &action, NULL);
    const size_t count = descendants_ancestors(getpid(), above, CONFINE_MOST);
    if (count < 2 || above[0] != parent || above[count - 1] == parent) return 1;
    if (confine_install(above, count, NULL, 0) != 0) return 2;
    for (size_t i = 0; i < count && i < 2; i++) { /* the parent, and the parent's parent */
        last_refused = 0;
        errno = 0;
        if (reach(above[i]) != -1 || errno != EPERM) return 3;
        if (refused_name(last_refused) == NULL || strcmp(refused_name(last_refused), name) != 0)
            return 4;
    }
    if (syscall(SYS_pidfd_send_signal, 0, 0, NULL, 0) != -1 || errno != ENOSYS) return 5;

    /* The process itself and its own children are not restricted. */
    last_refused = 0;
    if (kill(getpid(), 0) != 0 || kill(0, 0) != 0 || limit_asked(0) != 0) return 6;
    const pid_t child = fork();
    if (child == 0)
        for (;;) pause();
    if (child < 0 || limit_asked(child) != 0) return 7;
    if (ptrace(PTRACE_ATTACH, child, NULL, NULL) != 0 || waitpid(child, &status, 0) != child ||
        !WIFSTOPPED(status) || ptrace(PTRACE_DETACH, child, NULL, NULL) != 0)
        return 8;
    if (kill(child, SIGKILL) != 0 || waitpid(child, &status, 0) != child || !WIFSIGNALED(status))
        return 9;
    return last_refused == 0 ? 0 : 10;
}

START_TEST(what_is_above_cannot_be_reached)
{
    int status;
    const pid_t child = fork();

    if (child == 0) _exit(confined(reaches[_i].reach, reaches[_i].name));
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%s: status 0x%x",
                  reaches[_i].name, (unsigned)status);
}
END_TEST

/* Listed here independently of the filter's own table, so that a row missing there is noticed. Each
 * is called with arguments that no kernel accepts. */
static const struct {
    long number;
    const char *name;
} needless[] = {
#define CALL(name)                                                                                 \
    {                                                                                              \
        SYS_##name, #name                                                                          \
    }
    CALL(unshare),
    CALL(setns),
    CALL(mount),
    CALL(umount2),
    CALL(pivot_root),
    CALL(chroot),
    CALL(socket),
    CALL(shmget),
    CALL(semget),
    CALL(msgget),
    CALL(io_uring_setup),
    CALL(io_uring_enter),
    CALL(userfaultfd),
    CALL(add_key),
    CALL(request_key),
    CALL(keyctl),
    CALL(bpf),
    CALL(acct),
    CALL(perf_event_open),
    CALL(open_by_handle_at),
    CALL(io_uring_register),
    CALL(inotify_init1),
#undef CALL
};

START_TEST(calls_that_nothing_needs_are_refused)
{
    int status;
    const pid_t child = fork();

    if (child == 0) {
        if (confine_install(NULL, 0, NULL, 0) != 0) _exit(2);
        errno = 0;
        _exit(syscall(needless[_i].number, -1L, 0, 0, 0, 0, 0) == -1 && errno == EPERM ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(status == 0, "%s: status 0x%x", needless[_i].name, (unsigned)status);
}
END_TEST

static const int own_limits[] = {RLIMIT_NPROC, RLIMIT_AS, RLIMIT_DATA};

/* Returns 0, or the number of the failed step. */
static int keeps_limit(int which)
{
    struct rlimit limit, asked;

    if (confine_install(NULL, 0, NULL, 0) != 0) return 1;
    if (getrlimit(which, &limit) != 0 || prlimit(0, which, NULL, &asked) != 0) return 2;
    if (asked.rlim_cur != limit.rlim_cur || asked.rlim_max != limit.rlim_max) return 3;
    errno = 0;
    if (setrlimit(which, &limit) != -1 || errno != EPERM) return 4;
    if (prlimit(getpid(), which, &limit, NULL) != -1 || errno != EPERM) return 5;
    if (syscall(SYS_setrlimit, which, &limit) != -1 || errno != EPERM) return 6;
    /* Other limits are not restricted. */
    if (getrlimit(RLIMIT_CORE, &limit) != 0 || setrlimit(RLIMIT_CORE, &limit) != 0) return 7;
    return syscall(SYS_setrlimit, RLIMIT_CORE, &limit) == 0 ? 0 : 8;
}

START_TEST(a_program_does_not_take_threads_from_itself)
{
    int status;
    const pid_t child = fork();

    if (child == 0) _exit(keeps_limit(own_limits[_i]));
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_msg(status == 0, "limit %d: status 0x%x", own_limits[_i], (unsigned)status);
}
END_TEST

START_TEST(a_confined_program_keeps_its_children)
{
    const char *environment[] = {"PATH=/usr/bin:/bin", NULL};
    const char *own[] = {"/bin/sh", "-c", "sleep 600 & kill $!; wait; echo ended", NULL};
    const struct contain_rules rules = {.compiler = true};
    const char *above[] = {"/bin/sh", "-c", "kill -0 $PPID; echo not refused", NULL};
    struct process_spec spec = {.arguments = own,
                                .environment = environment,
                                .folder = "/",
                                .limits = {.seconds = 20, .output = 4096},
                                .contain = &rules};
    struct process *p = process_start(&spec);
    process_wait_any(&p, 1);
    ck_assert_int_eq(process_result(p)->ending, PROCESS_EXITED);
    ck_assert_ptr_nonnull(strstr(process_printed(p), "ended"));
    process_free(p);
    spec.arguments = above; /* has no handler */
    p = process_start(&spec);
    process_wait_any(&p, 1);
    ck_assert_int_eq(process_result(p)->ending, PROCESS_SIGNALLED);
    ck_assert_int_eq(process_result(p)->signal, SIGSYS);
    process_free(p);
}
END_TEST

int main(int count, char **arguments)
{
    for (size_t i = 0; count == 2 && i < sizeof takers / sizeof takers[0]; i++)
        if (strcmp(arguments[1], takers[i].name) == 0) takers[i].take();
    if (count == 2 && strcmp(arguments[1], VFORK_NAME) == 0) wait_in_vfork();
    if (count == 2 && strcmp(arguments[1], SIGNALS_NAME) == 0) queue_signals();
    Suite *suite = suite_create("grader process");
    TCase *tcase = tcase_create("process");
    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, it_ends_by_itself);
    tcase_add_test(tcase, it_sees_nothing_of_ours);
    tcase_add_loop_test(tcase, limits_hold, 0, sizeof limited / sizeof limited[0]);
    tcase_add_test(tcase, who_computes_has_longer_than_who_waits);
    tcase_add_loop_test(tcase, memory_is_counted_wherever_it_is, 0,
                        sizeof takers / sizeof takers[0]);
    tcase_add_test(tcase, waiting_in_vfork_is_waiting_for_ever);
    tcase_add_test(tcase, a_program_leaves_signals_to_others);
    tcase_add_test(tcase, a_folder_is_counted);
    tcase_add_test(tcase, a_group_is_made_where_limits_are_handed_down);
    tcase_add_test(tcase, no_group_is_made_where_none_is_of_use);
    tcase_add_test(tcase, a_real_group_is_ended_as_a_whole);
    tcase_add_test(tcase, a_real_group_holds_its_limits);
    tcase_add_test(tcase, a_busy_machine_makes_nobody_late);
    tcase_add_test(tcase, what_stays_is_counted_and_ended);
    tcase_add_test(tcase, what_cannot_be_started_is_named);
    tcase_add_test(tcase, several_run_at_one_time);
    tcase_add_test(tcase, freeing_ends_it);
    tcase_add_test(tcase, an_interrupt_ends_all);
    tcase_add_test(tcase, an_interrupt_before_the_wait_ends_all);
    tcase_add_loop_test(tcase, what_is_above_cannot_be_reached, 0,
                        sizeof reaches / sizeof reaches[0]);
    tcase_add_loop_test(tcase, calls_that_nothing_needs_are_refused, 0,
                        sizeof needless / sizeof needless[0]);
    tcase_add_loop_test(tcase, a_program_does_not_take_threads_from_itself, 0,
                        sizeof own_limits / sizeof own_limits[0]);
    tcase_add_test(tcase, a_confined_program_keeps_its_children);
    suite_add_tcase(suite, tcase);
    return support_finish(srunner_create(suite));
}
