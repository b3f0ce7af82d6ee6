/* The end of the process: by exit, by a signal. Work that is still pending is judged first. */
#include "emulator/base/fatal.h"
#include "emulator/driver/entry/entry.h"
#include "emulator/driver/findings/findings.h"
#include "emulator/driver/stream/stream.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* How long the end of the process waits for the driver's lock. */
enum { END_PATIENCE_MS = 1000 };

/* Writes the records of work that has run but that nothing waited for, and the last findings. */
static void settle_the_rest(void)
{
    if (driver.forked) return;
    injection_end();
    if (driver.timeline == NULL) return;
    /* The thread that runs host functions holds the lock only briefly; a thread inside a call may
     * hold it for ever. */
    if (!driver_lock_within(END_PATIENCE_MS)) return;
    timeline_settle(driver.timeline);
    findings_process_ends();
    context_run_unseen(NULL);
    findings_last();
    driver_unlock();
}

/* ---- other ends -------------------------------------------------------------------------- */

static struct {
    pid_t process; /* that watches: not a child by vfork, which shares this memory */
    bool dies;     /* atomic: some thread's signal ends the process */
} end;

static bool is_watched(void)
{
    return !driver.forked && end.process == getpid();
}

/* Work that the program never waited for has no visible effect at its end, as on a GPU. It runs for
 * the checks also when the program ends because it has found its own result wrong, or dies of it.
 * On an error path a program may leave work behind, so what is unfinished is not reported. */
static void judge_the_rest(void)
{
    timeline_settle(driver.timeline);
    context_run_unseen(NULL);
    findings_last();
    driver.ending = false; /* in case a handler of the program mends the fault after all */
}

/* The process ends without handlers of exit and destructors. */
static void process_leaves(void)
{
    if (!is_watched() || !driver_lock_within(END_PATIENCE_MS)) return;
    judge_the_rest();
    driver_unlock();
}

/* The signals that end a process besides faults of memory (memory/trap.c). */
enum { FROM_OTHERS_PATIENCE_MS = 100 };
static const struct {
    int number;
    bool from_others; /* whoever sends it, by Ctrl-C say, will not wait for long */
} deadly[] = {
    {SIGABRT, false}, {SIGFPE, false}, {SIGILL, false}, {SIGTRAP, false},
    {SIGINT, true},   {SIGTERM, true}, {SIGQUIT, true}, {SIGHUP, true},
};

/* In the signal handler; the thread that runs host functions judges. A value that was read before
 * its copy ended often kills the program (an index, a failed assertion), before the copy has run
 * and its race is known; or the program waits in vain until somebody ends it. */
static void process_dies(int number)
{
    unsigned patience = END_PATIENCE_MS;
    if (!is_watched()) return;
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        if (deadly[i].number == number && deadly[i].from_others) patience = FROM_OTHERS_PATIENCE_MS;
    __atomic_store_n(&end.dies, true, __ATOMIC_RELEASE);
    host_thread_last(judge_the_rest, patience);
}

void end_watch(void)
{
    void (*watch)(void (*ends)(void));
    end.process = getpid();
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
        if (deadly[i].from_others)
            fatal_install_for_others(deadly[i].number);
        else
            fatal_install(deadly[i].number, fatal_pass_on);
    fatal_call_last(process_dies);
    at_quick_exit(process_leaves);
    /* A function of the library that ./emulate preloads (threads/exits.c). */
    *(void **)&watch = dlsym(RTLD_DEFAULT, "overlap_watch_exits");
    if (watch != NULL) watch(process_leaves);
}

static bool never(void)
{
    nanosleep(&(struct timespec){.tv_nsec = DRIVER_LOOK_MS * 1000000}, NULL);
    return false;
}

__attribute__((destructor)) static void process_end(void)
{
    /* Without the device the signal of that thread would have been faster than this one's exit. */
    if (__atomic_load_n(&end.dies, __ATOMIC_ACQUIRE)) driver_waits_for(never, END_PATIENCE_MS);
    settle_the_rest();
    trace_end(driver.trace);
}
