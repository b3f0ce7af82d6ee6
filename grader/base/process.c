#include "grader/base/process.h"
#include "grader/base/cgroup.h"
#include "grader/base/descendants.h"
#include "grader/base/held.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK_EVERY_MS 20 /* interval at which limits are checked */
#define LOOK_CLOSER 5     /* every n-th check includes the expensive ones */
#define CLOCK_SECONDS 0.1 /* interval at which the program's own clock is advanced */
#define GRACE_SECONDS 0.5 /* own clock: time for children to end after the first process did */
#define ASK_SECONDS 0.5   /* own clock: time for the program to record where it is */
#define KILL_SECONDS 10.0 /* after which the supervisor gives up on processes that do not die */
#define OPEN_FILES 4096
#define QUEUED_SIGNALS 256 /* RLIMIT_SIGPENDING: the kernel counts signals and timers by user */
#define SPARE_TASKS 1024   /* RLIMIT_NPROC above the present number of tasks: stops a fork bomb */

/* Shared between the grader and one supervisor. */
struct process_shared {
    struct process_result result;
    int done;
    char printed[]; /* limits.output + 1 bytes */
};

struct process {
    pid_t supervisor;
    int watch; /* pidfd of the supervisor */
    struct cgroup group;
    bool waited;
    size_t mapped;
    struct process_shared *shared;
};

/* Signals that end the grader in order. */
static const int interrupts[] = {SIGINT, SIGTERM, SIGHUP};
#define INTERRUPTS (sizeof interrupts / sizeof *interrupts)

static volatile sig_atomic_t interrupt_signal;

static void on_interrupt(int number)
{
    interrupt_signal = number;
}

void process_handle_interrupts(void)
{
    struct sigaction action = {.sa_handler = on_interrupt};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < INTERRUPTS; i++) sigaction(interrupts[i], &action, NULL);
}

int process_interrupted(void)
{
    return interrupt_signal;
}

void process_hold_interrupts(sigset_t *before)
{
    sigset_t held;
    sigemptyset(&held);
    for (size_t i = 0; i < INTERRUPTS; i++) sigaddset(&held, interrupts[i]);
    sigprocmask(SIG_BLOCK, &held, before);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int open_pidfd(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* How many times its limit a program may take that only computes; and so many seconds. */
static unsigned times_when_computing(const struct process_spec *spec)
{
    return spec->limits.computing > 0 ? spec->limits.computing : 1;
}

static double seconds_when_computing(const struct process_spec *spec)
{
    return times_when_computing(spec) * spec->limits.seconds;
}

/* ---- program's side, before exec ------------------------------------------------------------- */

static void set_limits(int which, rlim_t soft, rlim_t hard)
{
    struct rlimit limit;
    if (getrlimit(which, &limit) == 0 && limit.rlim_max != RLIM_INFINITY && limit.rlim_max < hard)
        hard = limit.rlim_max;
    limit.rlim_cur = soft < hard ? soft : hard;
    limit.rlim_max = hard;
    setrlimit(which, &limit);
}

static void set_limit(int which, rlim_t value)
{
    set_limits(which, value, value);
}

/* Moves the passed descriptors to 3, 4, ... and closes all others. Returns 0 or -1. */
static int place_descriptors(const struct process_spec *spec, int output)
{
    int high[PROCESS_HANDED + 1];
    int null = open("/dev/null", O_RDONLY);

    if (null < 0 || dup2(null, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0) return -1;
    for (size_t i = 0; i < spec->handed_count; i++) {
        high[i] = fcntl(spec->handed[i], F_DUPFD, 100);
        if (high[i] < 0) return -1;
    }
    for (size_t i = 0; i < spec->handed_count; i++)
        if (dup2(high[i], PROCESS_FIRST_FD + (int)i) < 0) return -1;
    close_range(PROCESS_FIRST_FD + (unsigned)spec->handed_count, ~0u, 0);
    return 0;
}

/* Becomes the program. Never returns; on failure it writes errno into `report`, which exec
 * closes. */
static void become_program(const struct process_spec *spec, const struct cgroup *group, int output,
                           int report, pid_t parent)
{
    sigset_t none;
    int error;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    if (group->entry >= 0 && cgroup_enter(group) != 0) goto failed;
    setsid();
    for (size_t i = 0; i < INTERRUPTS; i++) signal(interrupts[i], SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);

    set_limit(RLIMIT_CORE, 0);
    set_limit(RLIMIT_NOFILE, OPEN_FILES);
    set_limit(RLIMIT_NPROC, descendants_tasks() + SPARE_TASKS);
    /* Otherwise one program could take all that its user may have, and the grader, or another run,
     * would get no timer. */
    set_limit(RLIMIT_SIGPENDING, QUEUED_SIGNALS);
    if (spec->limits.file_bytes > 0) set_limit(RLIMIT_FSIZE, spec->limits.file_bytes);
    /* A last resort in case the supervisor is killed: the time that every core needs for the whole
     * limit, and more. */
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    const double busy = seconds_when_computing(spec) * (double)(cores > 0 ? cores : 1);
    const double allowed = spec->limits.cpu_seconds;
    /* The soft limit sends SIGXCPU, which names the reason; the hard limit kills. */
    set_limits(RLIMIT_CPU, (rlim_t)(allowed > 0 ? allowed : busy + 10),
               (rlim_t)(allowed > 0 ? allowed + 5 : busy + 10));

    int kept = fcntl(report, F_DUPFD_CLOEXEC, 200);
    if (kept < 0 || chdir(spec->folder) != 0) goto failed;
    /* place_descriptors closes everything else, `report` included, so `report` is passed as one
     * more descriptor. */
    struct process_spec with_report = *spec;
    if (with_report.handed_count == PROCESS_HANDED) {
        errno = EMFILE;
        goto failed;
    }
    with_report.handed[with_report.handed_count++] = kept;
    if (place_descriptors(&with_report, output) != 0) goto failed;
    report = PROCESS_FIRST_FD + (int)spec->handed_count;
    fcntl(report, F_SETFD, FD_CLOEXEC);
    if (spec->contain != NULL && contain_give_up(spec->contain, spec->arguments[0]) != 0)
        goto failed;
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* again, because a change of user clears it */
    if (getppid() != parent) _exit(127);
    execve(spec->arguments[0], (char *const *)(uintptr_t)spec->arguments,
           (char *const *)(uintptr_t)spec->environment);
failed:
    error = errno;
    while (write(report, &error, sizeof error) < 0 && errno == EINTR)
        ;
    _exit(127);
}

/* Starts the program with vfork: the child borrows the supervisor's memory until exec, because
 * copying the grader's page tables would take longer than everything else here. The child has its
 * own descriptors, limits and privileges; nothing that it changes in memory is read again. */
static pid_t start_program(const struct process_spec *spec, const struct cgroup *group, int output,
                           int report)
{
    const pid_t parent = getpid(), child = vfork();

    if (child == 0) become_program(spec, group, output, report, parent);
    return child;
}

/* ---- the supervisor --------------------------------------------------------------------------
 */

struct supervision {
    const struct process_spec *spec;
    const struct cgroup *group;
    struct process_shared *shared;
    pid_t program;
    int watch; /* pidfd of the program */
    int pipe;  /* the program's output; -1 after its end */
    bool ended;
    double started;
    struct descendants_usage usage; /* from the latest check */
    double looked;                  /* when the program's own clock was last advanced */
    double worked;                  /* processor time used by then */
    double own;                     /* the program's own clock, in seconds */
    double spent;                   /* what it has used of limits.seconds */
};

/* Reads pending output. Returns false when the program printed more than allowed. */
static bool read_output(struct supervision *s)
{
    struct process_result *result = &s->shared->result;
    char rest[4096];

    while (s->pipe >= 0) {
        size_t room = s->spec->limits.output - result->printed_size;
        ssize_t n = room > 0 ? read(s->pipe, s->shared->printed + result->printed_size, room)
                             : read(s->pipe, rest, sizeof rest);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) return true;
        if (n <= 0) {
            close(s->pipe);
            s->pipe = -1;
            return true;
        }
        if (room == 0) return false;
        result->printed_size += (size_t)n;
    }
    return true;
}

/* Collects the status of every child that ended: the program and adopted processes. */
static void reap(struct supervision *s)
{
    struct process_result *result = &s->shared->result;
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (WIFSTOPPED(status)) {
            /* The process made its supervisor its tracer (PTRACE_TRACEME), which is undone here: it
             * gets the signal for which it was stopped, and goes on. */
            ptrace(PTRACE_DETACH, pid, NULL, (void *)(uintptr_t)WSTOPSIG(status));
            continue;
        }
        if (pid != s->program) continue;
        s->ended = true;
        if (WIFEXITED(status)) {
            result->ending = PROCESS_EXITED;
            result->code = WEXITSTATUS(status);
        } else {
            result->ending = PROCESS_SIGNALLED;
            result->signal = WTERMSIG(status);
        }
    }
}

/* Returns true when any descendant is left. Orphans become the supervisor's children, so without a
 * child there is no descendant. */
static bool has_children(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

/* Kills until no process is left. A process cannot escape: the next round finds whatever it forks,
 * and it cannot leave the supervisor's tree. */
static void kill_all(struct supervision *s)
{
    double until = now() + KILL_SECONDS;

    reap(s);
    if (!has_children()) return;
    /* The first process of a namespace can kill all others at once, however fast they fork. */
    if (getpid() == 1) kill(-1, SIGKILL);
    cgroup_kill(s->group);
    while (descendants_kill(getpid()) > 0 && now() < until) {
        reap(s);
        /* A full pipe does not keep a process from dying, but its contents are wanted. */
        read_output(s);
        struct timespec pause = {0, 1000000};
        nanosleep(&pause, NULL);
    }
    reap(s);
}

/* Measures the use of all processes together. `closely`: includes memory that no process maps, and
 * files. Returns the limit that was exceeded, or PROCESS_EXITED: none. */
static enum process_ending look(struct supervision *s, bool closely)
{
    struct process_result *result = &s->shared->result;
    const struct process_limits *limits = &s->spec->limits;
    const struct contain_rules *rules = s->spec->contain;
    struct descendants_usage usage = descendants_usage(getpid(), limits->memory);
    const uint64_t held =
        closely && limits->memory > 0 ? held_bytes(usage.pids, usage.processes) : 0;

    s->usage = usage;
    if (held > usage.shared) usage.bytes += held - usage.shared;
    if (usage.bytes > result->peak_bytes) result->peak_bytes = usage.bytes;
    if (usage.processes > result->peak_processes) result->peak_processes = usage.processes;
    if (limits->memory > 0 && usage.bytes > limits->memory) return PROCESS_MEMORY;
    if (limits->processes > 0 && usage.processes > limits->processes) return PROCESS_PROCESSES;
    if (closely && rules != NULL && rules->write_bytes > 0 && !contain_has_own_folder(rules)) {
        const struct held_folder folder =
            held_in_folder(rules->write, rules->write_files, rules->write_bytes);
        if (folder.files > rules->write_files || folder.bytes > rules->write_bytes)
            return PROCESS_FILES;
    }
    return PROCESS_EXITED;
}

/* Advances the program's own clock. A supervisor that is itself short of a processor looks seldom;
 * what it sees then is not taken to hold for all the time since. */
static void put_clock_on(struct supervision *s)
{
    const double at = now(), passed = at - s->looked;

    if (passed < CLOCK_SECONDS) return;
    const struct descendants_work work = descendants_work(&s->usage);
    const double used = work.seconds - s->worked;
    const double seen = passed < 2 * CLOCK_SECONDS ? passed : 2 * CLOCK_SECONDS;
    const double computed = used < 0 ? 0 : used < passed ? used : passed;
    const double waited = work.eager == 0 && seen > computed ? seen - computed : 0;
    s->own += computed + waited;
    s->spent += computed / times_when_computing(s->spec) + waited;
    s->worked = work.seconds;
    s->looked = at;
}

/* Watches until the program ends or exceeds a limit. Returns true when it ended by itself. */
static bool watch_program(struct supervision *s)
{
    struct process_result *result = &s->shared->result;

    for (unsigned round = 1;; round++) {
        struct pollfd polled[2] = {{.fd = s->watch, .events = POLLIN},
                                   {.fd = s->pipe, .events = POLLIN}};
        const bool printing = s->pipe >= 0;
        poll(polled, 2, CHECK_EVERY_MS);
        if (interrupt_signal != 0) {
            result->ending = PROCESS_ABANDONED;
            return false;
        }
        if (!read_output(s)) {
            result->ending = PROCESS_OUTPUT;
            return false;
        }
        reap(s);
        if (s->ended) return true;
        /* The pipe has just closed, so the program is about to end. Looking at it now would cost
         * the kernel more than the look is worth. */
        if (printing && s->pipe < 0) continue;

        const enum process_ending passed = look(s, round % LOOK_CLOSER == 0);
        if (passed != PROCESS_EXITED) {
            result->ending = passed;
            return false;
        }
        put_clock_on(s);
        if (s->spent > s->spec->limits.seconds) {
            /* When the time was up, not when that was seen. */
            s->own *= s->spec->limits.seconds / s->spent;
            result->ending = PROCESS_TIME;
            return false;
        }
        if (now() - s->started > PROCESS_PATIENCE * seconds_when_computing(s->spec)) {
            result->ending = PROCESS_BUSY;
            return false;
        }
    }
}

/* Returns true when `seconds` have passed by the program's own clock since it showed `since`, or
 * PROCESS_PATIENCE times as much wall time since `begin`. */
static bool has_passed(struct supervision *s, double seconds, double since, double begin)
{
    put_clock_on(s);
    return s->own - since > seconds || now() - begin > PROCESS_PATIENCE * seconds;
}

/* After the program has ended: gives its remaining processes a moment to end. */
static void wait_for_the_rest(struct supervision *s)
{
    const double since = s->own, begin = now();

    if (!has_children()) return; /* avoids a search of /proc */
    while ((s->usage = descendants_usage(getpid(), 0)).processes > 0 &&
           !has_passed(s, GRACE_SECONDS, since, begin)) {
        struct timespec pause = {0, 5000000};
        nanosleep(&pause, NULL);
        if (!read_output(s)) break;
        reap(s);
    }
    s->shared->result.left_running = s->usage.processes;
}

static void ask_where(struct supervision *s)
{
    const double since = s->own, begin = now();

    kill(s->program, SIGXCPU);
    while (!s->ended && !has_passed(s, ASK_SECONDS, since, begin)) {
        struct pollfd polled = {.fd = s->watch, .events = POLLIN};
        poll(&polled, 1, CHECK_EVERY_MS);
        read_output(s);
        if (polled.revents != 0) break;
        s->usage = descendants_usage(getpid(), 0);
    }
}

/* Watches the program and kills what is left of it. Returns how it ended. */
static enum process_ending see_to_its_end(struct supervision *s)
{
    struct process_result *result = &s->shared->result;
    bool by_itself = watch_program(s);

    if (by_itself && cgroup_ran_out(s->group)) {
        result->ending = PROCESS_MEMORY;
        by_itself = false;
    }
    const enum process_ending ending = result->ending;
    result->own_seconds = s->own;
    if (by_itself)
        wait_for_the_rest(s);
    else if (ending == PROCESS_TIME && s->spec->ask_where)
        ask_where(s);
    result->seconds = now() - s->started;
    kill_all(s);
    return by_itself && !read_output(s) ? PROCESS_OUTPUT : ending;
}

/* The supervisor's main function. */
static void supervise(const struct process_spec *spec, const struct cgroup *group,
                      struct process_shared *shared, pid_t grader)
{
    struct supervision s = {
        .spec = spec, .group = group, .shared = shared, .pipe = -1, .watch = -1};
    struct process_result *result = &shared->result;
    int output[2] = {-1, -1}, report[2] = {-1, -1}, error = 0;

    result->ending = PROCESS_NOT_STARTED;
    sigset_t none;
    sigemptyset(&none);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    interrupt_signal = 0;
    process_handle_interrupts();
    sigprocmask(SIG_SETMASK, &none, NULL);
    /* Within its namespace the supervisor cannot see the number of a process outside. */
    if (getppid() != grader && getpid() != 1) _exit(1);
    if (spec->contain != NULL && contain_settle(spec->contain, spec->arguments[0]) != 0)
        goto refused;
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 || pipe2(output, O_CLOEXEC) != 0 ||
        pipe2(report, O_CLOEXEC) != 0)
        goto refused;
    fcntl(output[0], F_SETFL, O_NONBLOCK);
    s.started = s.looked = now();
    s.program = start_program(spec, group, output[1], report[1]);
    if (s.program < 0) goto refused;
    close(output[1]);
    close(report[1]);
    s.pipe = output[0];
    s.watch = open_pidfd(s.program);

    ssize_t n;
    do n = read(report[0], &error, sizeof error);
    while (n < 0 && errno == EINTR);
    if (n == (ssize_t)sizeof error) {
        waitpid(s.program, NULL, 0);
        errno = error;
        goto refused;
    }

    const enum process_ending ending = see_to_its_end(&s);
    result->ending = ending;
    shared->printed[result->printed_size] = '\0';
    shared->done = 1;
    _exit(0);

refused:
    result->error = errno;
    snprintf(result->why, sizeof result->why, "%s: %s", spec->arguments[0], strerror(errno));
    shared->done = 1;
    _exit(0);
}

/* ---- grader's side ----------------------------------------------------------------------------
 */

/* Makes a control group where possible. A program that exceeds its limit is normally killed by
 * counting; the group's limit is for what counting misses, such as kernel memory. */
static void make_group(struct process *process, const struct process_spec *spec)
{
    const char *parent = spec->contain != NULL ? contain_groups() : NULL;
    const uint64_t memory = spec->limits.memory;

    process->group.entry = -1;
    if (parent == NULL) return;
    (void)cgroup_make(&process->group, parent,
                      memory > 0 ? memory + memory / 8 + spec->contain->write_bytes : 0,
                      spec->limits.processes + SPARE_TASKS);
}

struct process *process_start(const struct process_spec *spec)
{
    struct process *process = calloc(1, sizeof *process);
    if (process == NULL) return NULL;
    process->mapped = sizeof *process->shared + spec->limits.output + 1;
    process->shared = mmap(NULL, process->mapped, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (process->shared == MAP_FAILED) goto no_memory;
    make_group(process, spec);
    fflush(NULL);
    pid_t grader = getpid();
    /* Blocks signals to the supervisor until it has its own handlers. */
    sigset_t before;
    process_hold_interrupts(&before);
    process->supervisor =
        spec->contain != NULL ? contain_fork(spec->contain, spec->arguments[0]) : fork();
    if (process->supervisor == 0) supervise(spec, &process->group, process->shared, grader);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (process->supervisor < 0) {
        cgroup_end(&process->group);
        goto no_process;
    }
    process->watch = open_pidfd(process->supervisor);
    return process;

no_process:
    munmap(process->shared, process->mapped);
no_memory:
    free(process);
    return NULL;
}

/* Collects the supervisor's end, and kills what it could not (because it was itself killed). */
static void finish(struct process *process)
{
    int status = 0;

    while (waitpid(process->supervisor, &status, 0) < 0 && errno == EINTR)
        ;
    process->waited = true;
    cgroup_end(&process->group);
    if (process->watch >= 0) close(process->watch);
    process->watch = -1;
    if (!process->shared->done) {
        struct process_result *result = &process->shared->result;
        result->ending = PROCESS_ABANDONED;
        result->printed_size = 0;
        snprintf(result->why, sizeof result->why, "the process that watched it was killed");
    }
}

size_t process_wait_any(struct process *const *processes, size_t count)
{
    struct pollfd polled[16];
    size_t index[16], n = 0;

    for (size_t i = 0; i < count && n < 16; i++) {
        if (processes[i] == NULL || processes[i]->waited) continue;
        if (processes[i]->watch < 0) { /* a kernel without pidfds: one after the other */
            finish(processes[i]);
            return i;
        }
        polled[n] = (struct pollfd){.fd = processes[i]->watch, .events = POLLIN};
        index[n++] = i;
    }
    if (n == 0) return count;
    /* Signals are unblocked only within ppoll; one that came just before it would not end the
     * wait. */
    sigset_t before;
    process_hold_interrupts(&before);
    size_t ended = n;
    while (ended == n) {
        /* The terminal sends ^C to the supervisors too; a signal sent only to the grader is passed
         * on here. */
        if (interrupt_signal != 0)
            for (size_t i = 0; i < n; i++) kill(processes[index[i]]->supervisor, SIGTERM);
        if (ppoll(polled, (nfds_t)n, NULL, &before) <= 0) continue;
        for (ended = 0; ended < n && polled[ended].revents == 0;) ended++;
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    finish(processes[index[ended]]);
    return index[ended];
}

const struct process_result *process_result(const struct process *process)
{
    return &process->shared->result;
}

const char *process_printed(const struct process *process)
{
    return process->shared->printed;
}

void process_free(struct process *process)
{
    if (process == NULL) return;
    if (!process->waited) {
        kill(process->supervisor, SIGTERM);
        finish(process);
    }
    munmap(process->shared, process->mapped);
    free(process);
}
