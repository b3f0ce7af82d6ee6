#include "grader/class/workers.h"
#include "grader/base/parallel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct worker {
    pid_t process; /* 0: free */
    int watch;     /* pidfd */
    size_t number;
};

struct workers {
    size_t count, running;
    struct pollfd *polled;
    struct worker list[];
};

struct workers *workers_open(size_t count)
{
    struct workers *workers = calloc(1, sizeof *workers + count * sizeof workers->list[0]);
    if (workers == NULL) return NULL;
    workers->count = count;
    workers->polled = calloc(count + 1, sizeof *workers->polled);
    if (workers->polled != NULL) return workers;
    free(workers);
    return NULL;
}

static int end_of(struct workers *workers, struct worker *worker)
{
    int status = 0;
    while (waitpid(worker->process, &status, 0) < 0 && errno == EINTR)
        ;
    close(worker->watch);
    worker->process = 0;
    workers->running--;
    return status;
}

void workers_close(struct workers *workers)
{
    if (workers == NULL) return;
    for (size_t i = 0; i < workers->count; i++)
        if (workers->list[i].process != 0) kill(workers->list[i].process, SIGTERM);
    for (size_t i = 0; i < workers->count; i++)
        if (workers->list[i].process != 0) end_of(workers, &workers->list[i]);
    free(workers->polled);
    free(workers);
}

bool workers_full(const struct workers *workers)
{
    return workers->running == workers->count;
}

size_t workers_running(const struct workers *workers)
{
    return workers->running;
}

static void become(const struct worker_job *job, size_t n, size_t count, pid_t parent)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(127);
    /* Signals of the terminal go to the caller only, which ends the workers in order. */
    setpgid(0, 0);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) signal(signals[i], SIG_DFL);
    parallel_take_share(n, count);
    int log = open(job->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (log < 0 || null < 0 || dup2(null, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0 ||
        chdir(job->folder) != 0)
        _exit(127);
    execv(job->arguments[0], (char *const *)(size_t)job->arguments);
    _exit(127);
}

int workers_start(struct workers *workers, const struct worker_job *job, size_t number,
                  struct text *why)
{
    size_t free_one = 0;
    const pid_t self = getpid();

    while (workers->list[free_one].process != 0) free_one++;
    struct worker *worker = &workers->list[free_one];
    fflush(NULL);
    const pid_t process = fork();
    if (process == 0) become(job, free_one, workers->count, self);
    const int watch = process > 0 ? (int)syscall(SYS_pidfd_open, process, 0) : -1;
    if (watch < 0) {
        text_format(why, "no grader can be started: %s", strerror(errno));
        if (process > 0) {
            kill(process, SIGKILL);
            waitpid(process, NULL, 0);
        }
        return -1;
    }
    *worker = (struct worker){process, watch, number};
    workers->running++;
    return 0;
}

bool workers_wait(struct workers *workers, int milliseconds, size_t *number, int *status)
{
    if (workers->running == 0) return false;
    for (size_t i = 0; i < workers->count; i++)
        workers->polled[i] = (struct pollfd){
            .fd = workers->list[i].process != 0 ? workers->list[i].watch : -1, .events = POLLIN};
    if (poll(workers->polled, workers->count, milliseconds) <= 0) return false;
    for (size_t i = 0; i < workers->count; i++) {
        if (workers->list[i].process == 0 || workers->polled[i].revents == 0) continue;
        *number = workers->list[i].number;
        *status = end_of(workers, &workers->list[i]);
        return true;
    }
    return false;
}
