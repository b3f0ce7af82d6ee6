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

/* `number` as gettid gives it. False: it sleeps, is stopped or gone, or /proc does not say. */
static inline bool runnable_thread(pid_t number)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)number);
    /* Not by open and read: a thread may be cancelled there, and the caller may hold a lock. */
    const int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    const long size = syscall(SYS_read, file, text, sizeof text - 1);
    syscall(SYS_close, file);
    text[size > 0 ? size : 0] = '\0';
    const char *state = strrchr(text, ')'); /* behind the name: " S ..." */
    return state != NULL && state[1] != '\0' && (state[2] == 'R' || state[2] == 'D');
}

#endif
