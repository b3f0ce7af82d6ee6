/* runnable: tells whether a thread of this process is running, waits for a processor, or waits for
 * a disk. A thread that sleeps waits for some other thread; a runnable one has only not got there
 * yet. The code is in this header because its users (threads/, the device, a lesson's part) are
 * linked into different binaries.
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

/* Reads the file `file` of a thread's folder in /proc as text; `number` as returned by gettid.
 * Returns false if the thread is gone, or /proc is not readable. */
static inline bool runnable_read(pid_t number, const char *file, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/self/task/%d/%s", (int)number, file);
    /* Not by open and read: those are cancellation points, and the caller may hold a lock. */
    const int opened = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (opened < 0) return false;
    const long got = syscall(SYS_read, opened, text, size - 1);
    syscall(SYS_close, opened);
    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

/* Returns true if the thread is runnable or in uninterruptible sleep. False: it sleeps, is stopped
 * or gone, or /proc is not readable. */
static inline bool runnable_thread(pid_t number)
{
    char text[512];
    if (!runnable_read(number, "stat", text, sizeof text)) return false;
    const char *state = strrchr(text, ')'); /* behind the name: " S ..." */
    return state != NULL && state[1] != '\0' && (state[2] == 'R' || state[2] == 'D');
}

#endif
