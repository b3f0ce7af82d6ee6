#include "grader/learn/tools.h"
#include "grader/base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILE_LIMIT ((size_t)1 << 20)

static int wait_for(pid_t pid)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

__attribute__((noreturn)) static void become(const char *const *arguments)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGWINCH, SIG_DFL);
    execvp(arguments[0], (char *const *)arguments);
    _exit(127);
}

int tools_capture(const char *const *arguments, struct text *printed)
{
    char bytes[4096];
    int ends[2];
    ssize_t n;

    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    const pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        become(arguments);
    }
    close(ends[1]);
    while (pid > 0 && ((n = read(ends[0], bytes, sizeof bytes)) > 0 || (n < 0 && errno == EINTR)))
        if (n > 0) text_add_bytes(printed, bytes, (size_t)n);
    close(ends[0]);
    const int status = pid > 0 ? wait_for(pid) : -1;
    return status == 127 ? -1 : status;
}

int tools_run(const char *const *arguments, const char *folder)
{
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        if (folder != NULL && chdir(folder) != 0) _exit(127);
        become(arguments);
    }
    return pid > 0 ? wait_for(pid) : -1;
}

void tools_page(const char *path)
{
    const char *pager = getenv("PAGER");
    struct text text = {0};

    if (isatty(STDOUT_FILENO) && isatty(STDIN_FILENO)) {
        /* $PAGER is a command line, possibly with arguments. */
        const char *const own[] = {"sh", "-c", "$PAGER \"$1\"", "sh", path, NULL};
        const char *const less[] = {"less", "-R", path, NULL}, *const more[] = {"more", path, NULL};
        if (pager != NULL && pager[0] != '\0' && tools_run(own, NULL) == 0) return;
        if ((pager == NULL || pager[0] == '\0') &&
            (tools_run(less, NULL) == 0 || tools_run(more, NULL) == 0))
            return;
    }
    if (files_read(path, FILE_LIMIT, &text) == 0) fputs(text_string(&text), stdout);
    text_free(&text);
}
