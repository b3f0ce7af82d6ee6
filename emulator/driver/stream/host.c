/* The thread that runs host functions, so that they run without the driver's lock and on a stack of
 * their own. The thread also makes pending work progress while the host waits without calling CUDA
 * (it polls a flag or waits on a condition variable): a device works by itself, even with the
 * latest order. */
#include "emulator/driver/findings/finding.h"
#include "emulator/driver/findings/findings.h"
#include "emulator/driver/stream/parts.h"
#include "emulator/exec/exec.h"
#include "trace/runnable.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Milliseconds without a CUDA call, by the program's own clock, after which pending work runs. Host
 * functions run soon, since a thread may sleep until one has run. Other work runs late, so that
 * results that the program did not wait for stay absent as long as is fair. */
enum {
    HOST_FUNCTION_PATIENCE = 20,
    CONVERSATION_PATIENCE = 200,
    PATIENCE = 2000,
    STUCK_PAUSE = 1,
    PAUSE = 20
};

struct job {
    CUhostFn function; /* exactly one of function and callback is set */
    CUstreamCallback callback;
    CUstream handle;
    void *argument;
    CUresult status;        /* status argument of a callback */
    struct timeline_op *op; /* NULL: an abandoned callback, which receives the error */
    struct job *next;
};

static struct {
    bool started;
    bool idle; /* waits for a job or for pending work */
    struct job *first, *last;
    pthread_t id;
    void (*at_last)(void); /* atomic: host_thread_last's `run`; NULL: none yet ... */
    bool is_over;          /* ... atomic: it has returned */
} host;

static void job_add(struct job *job)
{
    *(host.last != NULL ? &host.last->next : &host.first) = job;
    host.last = job;
    host_thread_wake();
}

static void job_run(struct job *job)
{
    if (job->op != NULL) {
        timeline_host_function_begins(job->op);
        findings_host_waited();
    }
    driver_unlock();
    thread.in_host_function = true;
    thread.host_op = job->op;
    if (job->function != NULL)
        job->function(job->argument);
    else
        job->callback(job->handle, job->status, job->argument);
    thread.in_host_function = false;
    thread.host_op = NULL;
    driver_lock();
    if (job->op != NULL) {
        timeline_op_follows_host(job->op); /* other threads may have told it what they did */
        timeline_op_ran(job->op);
    }
    timeline_op_release(job->op);
    free(job);
    pthread_cond_broadcast(&driver.changed);
}

/* Releases the lock until `driver.changed` is signalled, for `ms` at most. */
static void wait_ms(unsigned ms)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += (long)(ms % 1000) * 1000000;
    until.tv_sec += ms / 1000 + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_clockwait(&driver.changed, &driver.lock, CLOCK_MONOTONIC, &until);
}

static uint64_t now_ms(void)
{
    return monotonic_ns() / 1000000;
}

static uint64_t computed_ns(void)
{
    return (uint64_t)clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

/* Returns true if another thread runs, waits for a processor, or waits for a disk. */
static bool others_are_runnable(void)
{
    DIR *threads = opendir("/proc/self/task");
    const struct dirent *entry;
    bool runnable = false;
    if (threads == NULL) return false;
    while (!runnable && (entry = readdir(threads)) != NULL) {
        const pid_t number = (pid_t)strtol(entry->d_name, NULL, 10); /* 0: "." */
        runnable = number != 0 && number != gettid() && runnable_thread(number);
    }
    closedir(threads);
    return runnable;
}

/* Time without a CUDA call by the program's own clock. This clock stands still while the program is
 * stopped or ready to run without getting a processor: on a busy machine such a program is not
 * waiting. */
struct quiet {
    uint64_t calls, looked, computed, ms;
};

static struct quiet quiet_begin(void)
{
    return (struct quiet){.looked = now_ms(), .computed = computed_ns()};
}

static void look(struct quiet *quiet)
{
    const uint64_t now = now_ms(), passed = now - quiet->looked, all = computed_ns();
    const uint64_t calls = __atomic_load_n(&driver.calls, __ATOMIC_RELAXED);
    const uint64_t computed = (all - quiet->computed) / 1000000;
    const uint64_t seen = passed < 2 * PAUSE ? passed : 2 * PAUSE;
    if (calls == quiet->calls && passed < PAUSE / 2) return;
    if (calls != quiet->calls)
        quiet->ms = 0;
    else
        quiet->ms += computed < seen && others_are_runnable() ? computed : seen;
    quiet->looked = now;
    quiet->computed = all;
    quiet->calls = calls;
}

/* Runs what host_thread_last has asked for. */
static void run_last(void)
{
    void (*run)(void) = __atomic_load_n(&host.at_last, __ATOMIC_ACQUIRE);
    if (run == NULL || host.is_over) return;
    run();
    __atomic_store_n(&host.is_over, true, __ATOMIC_RELEASE);
}

static void *host_thread(void *unused)
{
    struct quiet quiet = quiet_begin();
    (void)unused;
    driver_lock();
    for (;;) {
        run_last();
        struct job *job = host.first;
        if (job != NULL) {
            host.first = job->next;
            if (host.first == NULL) host.last = NULL;
            job_run(job);
            continue;
        }
        look(&quiet);
        if (timeline_is_idle(driver.timeline)) {
            host.idle = true;
            pthread_cond_wait(&driver.changed, &driver.lock);
            host.idle = false;
            quiet = quiet_begin();
            continue;
        }
        bool ran = timeline_go_on(driver.timeline);
        if (quiet.ms >= PATIENCE)
            ran |= timeline_progress(driver.timeline, TIMELINE_ALL);
        else if (quiet.ms >= CONVERSATION_PATIENCE)
            ran |= timeline_progress(driver.timeline, TIMELINE_CONVERSING);
        if (quiet.ms >= HOST_FUNCTION_PATIENCE)
            ran |= timeline_progress(driver.timeline, TIMELINE_HOST_FUNCTIONS);
        if (ran)
            pthread_cond_broadcast(&driver.changed);
        else
            wait_ms(timeline_has_begun(driver.timeline) ? STUCK_PAUSE : HOST_FUNCTION_PATIENCE);
    }
    return NULL;
}

void host_thread_wake(void)
{
    if (host.idle || host.first != NULL) pthread_cond_broadcast(&driver.changed);
    if (host.started) return;
    sigset_t all, before;
    sigfillset(&all); /* signals are for the submission's own threads */
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&host.id, NULL, host_thread, NULL) == 0) {
        pthread_detach(host.id);
        host.started = true;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* No handler may wake the thread while its own is inside a function for the same condition. Only
 * the device calls these, with the lock, and host_thread_last has seen that it has not. */
static bool last_is_over(void)
{
    pthread_cond_broadcast(&driver.changed);
    for (unsigned ms = 0; ms < DRIVER_LOOK_MS; ms++) {
        if (__atomic_load_n(&host.is_over, __ATOMIC_ACQUIRE)) return true;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return false;
}

void host_thread_last(void (*run)(void), unsigned ms)
{
    if (!host.started || thread.locked || pthread_equal(host.id, pthread_self())) return;
    __atomic_store_n(&host.at_last, run, __ATOMIC_RELEASE);
    driver_waits_for(last_is_over, ms);
}

unsigned host_threads(void)
{
    return host.started;
}

bool host_is_alone(void)
{
    struct stat folder;
    if (stat("/proc/self/task", &folder) != 0) return true;
    return folder.st_nlink <= 2 + 1 + exec_threads() + host_threads();
}

void host_pause(void *user, bool stuck)
{
    (void)user;
    wait_ms(stuck ? STUCK_PAUSE : PAUSE);
}

/* ---- submission -------------------------------------------------------------------------- */

static enum timeline_ran run_host_function(struct operation *operation)
{
    struct job *job = malloc(sizeof *job);
    if (job == NULL) {
        struct trace_record found = finding_at_work(FINDING_NO_MEMORY_FOR_HOST_FUNCTION,
                                                    &operation->record, operation->stream_caller);
        found.code = CUDA_ERROR_OUT_OF_MEMORY;
        return operation_fail(operation, &found);
    }
    *job = *(const struct job *)(const void *)operation->payload;
    job->op = timeline_op_retain(operation->op);
    job_add(job);
    return TIMELINE_STARTED;
}

/* After an error a host function is not called; a callback is called with the error. */
static void abandon_host_function(struct operation *operation)
{
    const struct job *planned = (const void *)operation->payload;
    if (planned->callback == NULL || operation->context->sticky == CUDA_SUCCESS) return;
    struct job *job = malloc(sizeof *job);
    if (job == NULL) return;
    *job = *planned;
    job->status = operation->context->sticky;
    job_add(job);
}

struct job *host_function_prepare(CUhostFn function, void *argument)
{
    struct job *job = malloc(sizeof *job);
    if (job != NULL) *job = (struct job){.function = function, .argument = argument};
    return job;
}

void host_function_call(struct job *job)
{
    job_add(job);
}

static struct operation *make(const struct stream *stream, const struct job *job)
{
    struct operation *operation = operation_make(stream, TRACE_HOST_FUNCTION, sizeof *job);
    if (operation == NULL) return NULL;
    *(struct job *)(void *)operation->payload = *job;
    operation->run = run_host_function;
    operation->abandoned = abandon_host_function;
    return operation;
}

CUresult host_function_submit(struct stream *stream, CUhostFn function, CUstreamCallback callback,
                              CUstream handle, void *argument)
{
    const struct job job = {
        .function = function, .callback = callback, .handle = handle, .argument = argument};
    return operation_submit(make(stream, &job), stream,
                            &(struct timeline_work){.kind = TIMELINE_HOST_FUNCTION}, NULL, NULL);
}

CUresult host_function_operation(struct context *context, CUhostFn function, void *argument,
                                 struct operation **operation)
{
    NEED_POINTER(function);
    *operation = make(context->legacy, &(struct job){.function = function, .argument = argument});
    return *operation != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

bool host_function_describe(const struct operation *operation, CUDA_HOST_NODE_PARAMS_v2 *params)
{
    const struct job *job = (const void *)operation->payload;
    *params = (CUDA_HOST_NODE_PARAMS_v2){.fn = job->function, .userData = job->argument};
    return job->function != NULL;
}
