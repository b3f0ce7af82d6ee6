#include "emulator/cli/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Signals that are meant for the program when another process sends them to ./emulate. */
static const int passed_on[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1,
                                SIGUSR2, SIGALRM, SIGCONT, SIGWINCH};
enum { PASSED_ON = sizeof passed_on / sizeof *passed_on };

static volatile pid_t child;

/* Passes a signal on to the program. A signal from the terminal has reached the whole process group
 * already, including the program; one sent by a process has reached only this process. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    int kept = errno;
    (void)context;
    if (info->si_code <= 0 && child > 0) kill(child, number);
    errno = kept;
}

static int wait_for(pid_t process, int *status)
{
    while (waitpid(process, status, 0) < 0)
        if (errno != EINTR) return errno;
    return 0;
}

int child_run(const char *path, char *const *arguments, int *status)
{
    struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigaction before[PASSED_ON];
    sigset_t all, mask;
    int why = 0, result[2];
    const pid_t parent = getpid();

    if (pipe2(result, O_CLOEXEC) != 0) return errno;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &mask); /* blocked until `child` is known */
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < PASSED_ON; i++) {
        sigaction(passed_on[i], NULL, &before[i]);
        /* Ignored signals stay ignored, in the program too (nohup). */
        if (before[i].sa_handler != SIG_IGN) sigaction(passed_on[i], &action, NULL);
    }
    child = fork();
    if (child == 0) {
        for (int i = 0; i < PASSED_ON; i++) sigaction(passed_on[i], &before[i], NULL);
        sigprocmask(SIG_SETMASK, &mask, NULL);
        /* SIGKILL, for example by a time limit, cannot be passed on. */
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (getppid() != parent) _exit(127);
        execv(path, arguments);
        why = errno;
        if (write(result[1], &why, sizeof why) < 0) _exit(126);
        _exit(127);
    }
    if (child < 0) why = errno;
    sigprocmask(SIG_SETMASK, &mask, NULL);
    close(result[1]);
    if (child > 0) {
        ssize_t got;
        do got = read(result[0], &why, sizeof why);
        while (got < 0 && errno == EINTR);
        if (got != sizeof why) why = 0; /* closed by execv: the program runs */
        int lost = wait_for(child, status);
        if (why == 0) why = lost;
    }
    close(result[0]);
    return why;
}

_Noreturn void child_end_alike(int status)
{
    if (WIFSIGNALED(status)) {
        const int number = WTERMSIG(status);
        sigset_t only;
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        signal(number, SIG_DFL);
        sigemptyset(&only);
        sigaddset(&only, number);
        sigprocmask(SIG_UNBLOCK, &only, NULL);
        raise(number);
        exit(128 + number); /* the signal did not end this process */
    }
    exit(WIFEXITED(status) ? WEXITSTATUS(status) : 125);
}
