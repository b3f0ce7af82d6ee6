/* runnable: whether a thread of this process has a processor or a disk, or wants one. A thread that
 * sleeps waits for somebody; one that does not is only not there yet. In this header alone, because
 * those who ask (threads/, the device, a lesson's part) are linked into different things.
 */
#ifndef OVERLAP_TRACE_RUNNABLE_H
#define OVERLAP_TRACE_RUNNABLE_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* What /proc says of a thread in `file`, as text; `number` as gettid gives it. False: it is gone,
 * or /proc does not say. */
static inline bool runnable_read(pid_t number, const char *file, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/%s", (int)number, file);
    /* Not by open and read: a thread may be cancelled there, and the caller may hold a lock. */
    const int opened = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (opened < 0) return false;
    const long got = syscall(SYS_read, opened, text, size - 1);
    syscall(SYS_close, opened);
    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

/* False: it sleeps, is stopped or gone, or /proc does not say. */
static inline bool runnable_thread(pid_t number)
{
    char text[512];
    if (!runnable_read(number, "stat", text, sizeof text)) return false;
    const char *state = strrchr(text, ')'); /* behind the name: " S ..." */
    return state != NULL && state[1] != '\0' && (state[2] == 'R' || state[2] == 'D');
}

#endif
